"""How providers say that a filter withheld the reply. That is an answer, not a failure, and is never asked again."""

from typing import Any

STOP_REASONS = (
    "content_filter",
    "content_filtered",
    "safety",
    "blocklist",
    "prohibited_content",
    "spii",
    "recitation",
    "risk",
    "sensitive",
)
"""Native reasons for the end of a reply, in lower case."""
CODES = ("content_filter", "data_inspection_failed", "content_policy_violation", "1301", "ContentPolicyViolationError")
"""Error codes and types: OpenAI and Azure, DashScope, OpenAI's images, Zhipu, litellm's own."""
PHRASES = ("content exists risk", "requires moderation", "flagged by content moderation")
"""Said by those who have no code for it: DeepSeek, OpenRouter."""


def filter_word(error: Exception) -> str | None:
    """The provider's word for its filter, if ``error`` is one."""
    body = getattr(error, "body", None)
    fields: dict[str, Any] = body if isinstance(body, dict) else {}
    said = [str(value) for value in (fields.get("code"), fields.get("type"), getattr(error, "code", None)) if value]
    for word in (*said, type(error).__name__):
        if any(code in word for code in CODES):
            return word
    message = str(error).lower()
    return next((phrase for phrase in PHRASES if phrase in message), None)
