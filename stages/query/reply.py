"""What came back from one call, in the project's own terms."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Reply:
    """A model's reply, or its refusal to give one. Any reply is final; only a failed call may be asked again."""

    text: str | None
    reasoning: str | None = None
    candidates: dict[str, float | None] = field(default_factory=dict)
    """Unconstrained natural log-probability by option key: of its word, or as ``structs.CANDIDATE`` says."""
    n_tokens: dict[str, int] = field(default_factory=dict)
    """How many tokens an option's log-probability is the mean of, where it is one."""
    stop_reason: str | None = None
    native_stop_reason: str | None = None
    served_model: str | None = None
    fingerprint: str | None = None
    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None
    cost: float | None = None
    """US dollars; null when unknown."""
    seconds: float | None = None
    """That the call took, where it was made elsewhere; else whoever awaited it has counted them."""


def clean(text: str | None) -> str | None:
    """``text`` with lone surrogates, which are no characters, replaced by U+FFFD; it can then be written as UTF-8."""
    if text is None:
        return None
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
