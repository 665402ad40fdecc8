import io

from rich.console import Console

from stages.query.progress import Bars


def shown(terminal: bool) -> str:
    out = io.StringIO()
    with Bars(Console(file=out, force_terminal=terminal, width=120)) as bars:
        tracker = bars.add("gemma@2026-11-30", 3)
        for failed, cost in ((False, 0.25), (True, None), (False, 0.25)):
            tracker.advance(failed, cost)
        tracker.spend(0.25)  # for a call that answers no question yet
        tracker.spend(None)
    return out.getvalue()


def test_a_bar_shows_count_failures_and_money() -> None:
    text = shown(terminal=True)
    assert "gemma@2026-11-30" in text
    assert "3/3" in text
    assert "1 failed" in text
    assert "$0.75" in text


def test_a_log_gets_one_line() -> None:
    assert shown(terminal=False) == "Asking gemma@2026-11-30: 3 questions.\n"
