"""Entry point of `checkup`: signals are heeded before anything heavy is imported."""

from stages import stopping


def main() -> None:
    with stopping.on_signals():
        from flows.cli import app
        from stages.command import run

        run(app)
