"""The prompt of `checkup sql`: history in a file, completion of what there is, statements over several lines up to `;`."""

import re
import sys
from collections.abc import Callable, Iterable

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import WordCompleter
from prompt_toolkit.filters import Condition
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import Input
from prompt_toolkit.output import Output

from flows.options import FileFormat
from flows.printing import show
from stages import stopping
from stages.errors import CheckupError, UsageError
from stages.report import Session

HISTORY = ".cache/sql_history"
_WORD = re.compile(r"\w+(?:\.$)?")
"""What is completed, read from the cursor back: a word, with a dot before it where that begins the line."""
HELP = """Write a query and end it with ; or one of
  .tables        what can be asked, and what a row of it is
  .schema VIEW   its columns, their types and what they mean
  .help          this
Tab completes, the arrow keys bring back what was asked before, Ctrl-D ends."""


class Prompt:
    """Asks a person for statements until Ctrl-D, and shows what comes of each."""

    def __init__(
        self, session: Session, format: FileFormat, input: Input | None = None, output: Output | None = None
    ) -> None:
        if format is FileFormat.PARQUET:
            raise UsageError("Parquet cannot be shown in a terminal; give the query and --output FILE.")
        self._session, self._format = session, format
        path = session.root / HISTORY
        path.parent.mkdir(exist_ok=True)
        self._commands: dict[str, Callable[[str], None]] = {
            ".help": lambda _: print(HELP),
            ".tables": lambda _: show(session.listed(), FileFormat.TABLE),
            ".schema": lambda name: show(session.described(name), FileFormat.TABLE),
        }
        self._prompt: PromptSession[str] = PromptSession(
            "sql> ",
            multiline=Condition(lambda: not self._is_whole(self._prompt.default_buffer.text)),
            prompt_continuation="...> ",
            history=FileHistory(str(path)),
            completer=completer(session, self._commands),
            complete_while_typing=False,
            input=input,
            output=output,
        )

    def run(self) -> None:
        print("The history in SQL. .help says what can be done, Ctrl-D ends.")
        while not stopping.requested.is_set():
            try:
                text = self._prompt.prompt().strip()
            except KeyboardInterrupt:  # what was begun is dropped, as in a shell
                continue
            except EOFError:
                return
            try:
                self._do(text)
            except CheckupError as error:
                print(f"Error: {error}", file=sys.stderr)

    def _do(self, text: str) -> None:
        if text.startswith("."):
            name, _, argument = text.rstrip(";").partition(" ")
            if name not in self._commands:
                raise UsageError(f"There is no {name}; .help lists what there is.")
            self._commands[name](argument.strip())
            return
        for frame in self._session.each(text):
            show(frame, self._format)

    def _is_whole(self, text: str) -> bool:
        """Whether Enter asks what was written; else it begins a new line."""
        text = text.strip()
        return not text or text.startswith(".") or self._session.is_whole(text)


def completer(session: Session, commands: Iterable[str] = ()) -> WordCompleter:
    """Completes ``commands``, views, columns and SQL's words, with what they mean beside them."""
    docs = session.words()
    return WordCompleter([*commands, *docs], ignore_case=True, meta_dict=docs, pattern=_WORD)
