"""The error tree. Every message is one sentence: what, where, how to mend it.

CheckupError                 exit code 1
├── UsageError               exit code 2: a name, option or setting that does not exist
├── DataError                a file, row or table that breaks its schema
│   └── ContractBroken       a Great Expectations contract that failed
├── LedgerError              runs.yaml and the recorded answers disagree
├── Incomplete               some questions have no answer yet; nothing is lost
├── BudgetStopped            the budget leaves no room for another call; nothing is lost
├── Stopped                  asked to stop (Ctrl-C, SIGTERM); nothing is lost    exit code 130
└── CallFailed               one call to a model did not give a reply
    ├── Transient            worth asking again (timeouts, 429, 5xx, broken connections)
    └── Terminal             asking again cannot help this question
        └── ModelUnavailable asking again cannot help any question of this model (key, route, server)
"""


class CheckupError(Exception):
    """Base of all errors that are shown to the user as one sentence."""

    exit_code = 1


class UsageError(CheckupError):
    exit_code = 2


class DataError(CheckupError):
    pass


class ContractBroken(DataError):
    pass


class LedgerError(CheckupError):
    pass


class Incomplete(CheckupError):
    pass


class BudgetStopped(CheckupError):
    pass


class Stopped(CheckupError):
    exit_code = 130


class CallFailed(CheckupError):
    """``kind`` is a short stable word such as ``timeout``; it becomes the answer's ``failure``."""

    def __init__(self, kind: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.kind = kind
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[type["CallFailed"], tuple[str, str, float | None]]:
        return type(self), (self.kind, str(self), self.retry_after)

    def bare(self) -> "CallFailed":
        """The same without what caused it, which may hold a key: where Dask is, causes and tracebacks are pickled along."""
        return type(self)(self.kind, str(self), self.retry_after)


class Transient(CallFailed):
    pass


class Terminal(CallFailed):
    pass


class ModelUnavailable(Terminal):
    pass
