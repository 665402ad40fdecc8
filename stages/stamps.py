"""What was made of which files by which code, so that only what changed is made again.

A unit is what is made at once, e.g. a partition of a table, from files and perhaps some text. It is as it was made while the
contents of its inputs and outputs, the text and the code are those of then; anything unknown is made anew. What is remembered
lies in .cache/, which may be deleted at any time: the files alone say the same.
"""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Any

from stages.files import write_whole
from stages.lexicon import FILE, NAMES, SURNAMES

FOLDER = Path(".cache") / "made"
CODE = Path(__file__).parent
BESIDE = (FILE, NAMES, SURNAMES)
"""Files outside of ``CODE`` that code reads as if they were part of it."""
LIBRARIES = ("great-expectations", "numpy", "polars", "rjieba", "scipy", "statsmodels")
"""Libraries that what is made may depend on."""

Stat = tuple[int, int, int]
"""Size, time of the last change in ns, inode: while they stay, the content is taken to stay."""


@dataclass(frozen=True)
class Unit:
    """What one unit was made of, and what it became."""

    inputs: dict[str, str]
    """Path from the project's root -> hash of the content."""
    outputs: dict[str, str]
    text: str
    note: Any
    """Whatever whoever made it wants to know again, as JSON has it."""


@dataclass
class Stamps:
    """The units of one stage."""

    root: Path
    name: str
    code: str
    units: dict[str, Unit] = field(default_factory=dict)
    files: dict[str, tuple[Stat, str]] = field(default_factory=dict)
    """Path -> its stat, and the hash of its content when it had that."""
    seen: dict[str, Unit] = field(default_factory=dict)
    """The units of today: what is saved."""

    @classmethod
    def read(cls, root: Path, stage: str, name: str = "") -> "Stamps":
        """What is remembered of ``stage`` (a package or module of ``stages/``); nothing, where its code changed since.

        ``name`` tells apart what one stage does at different times; without one it is the stage's.
        """
        code, name = code_hash(stage), name or stage
        try:
            found = json.loads((root / FOLDER / f"{name}.json").read_text(encoding="utf-8"))
            if found["code"] != code:
                return cls(root, name, code)
            files = {
                path: ((size, time, inode), digest) for path, (size, time, inode, digest) in found["files"].items()
            }
            return cls(root, name, code, {name: Unit(**unit) for name, unit in found["units"].items()}, files)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return cls(root, name, code)

    def kept(self, name: str, inputs: Iterable[Path], text: str = "") -> Unit | None:
        """The unit ``name``, if it would be made the same again and what was made is still there; else null."""
        unit = self.units.get(name)
        if unit is None or unit.text != text or self._hashes(inputs) != unit.inputs:
            return None
        if self._hashes(self.root / path for path in unit.outputs) != unit.outputs:
            return None
        self.seen[name] = unit
        return unit

    def put(self, name: str, inputs: Iterable[Path], outputs: Iterable[Path], text: str = "", note: Any = None) -> None:
        """Remember that ``name`` was made now, of ``inputs`` and ``text``, into ``outputs``."""
        self.seen[name] = Unit(self._hashes(inputs), self._hashes(outputs), text, note)

    def outputs(self) -> set[Path]:
        """Every file that the units of today were made into."""
        return {self.root / path for unit in self.seen.values() for path in unit.outputs}

    def save(self) -> None:
        """Remember the units of today, and no other.

        :raises DataError: it cannot be written.
        """
        named = {path for unit in self.seen.values() for path in (*unit.inputs, *unit.outputs)}
        content = {
            "code": self.code,
            "units": {name: vars(unit) for name, unit in sorted(self.seen.items())},
            "files": {path: (*self.files[path][0], self.files[path][1]) for path in sorted(named & set(self.files))},
        }
        write_whole(self.root / FOLDER / f"{self.name}.json", json.dumps(content, ensure_ascii=False))

    def _hashes(self, paths: Iterable[Path]) -> dict[str, str]:
        return {path.relative_to(self.root).as_posix(): self._hash(path) for path in paths}

    def _hash(self, path: Path) -> str:
        """The hash of the content; empty where there is no such file."""
        name = path.relative_to(self.root).as_posix()
        try:
            stat = path.stat()
            now = (stat.st_size, stat.st_mtime_ns, stat.st_ino)
            known = self.files.get(name)
            if known is None or known[0] != now:
                with path.open("rb") as file:
                    known = self.files[name] = (now, hashlib.file_digest(file, "sha256").hexdigest())
            return known[1]
        except OSError:
            return ""


def code_hash(stage: str) -> str:
    """The hash of the stage's own files, of all that lies beside the stages, of the lexicon, and of the libraries' versions."""
    own = CODE / stage
    files = {*CODE.glob("*.*"), *(CODE / "schema").rglob("*.*"), *own.rglob("*.*")}
    digest = hashlib.sha256()
    for path in sorted(path for path in files if path.is_file() and path.suffix != ".pyc"):
        digest.update(path.relative_to(CODE).as_posix().encode() + b"\0" + path.read_bytes())
    for path in (path for path in BESIDE if path.exists()):
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    digest.update(" ".join(f"{name} {version(name)}" for name in LIBRARIES).encode())
    return digest.hexdigest()
