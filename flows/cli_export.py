"""The commands that hand something on."""

import typer

from flows import cli_history

exports = typer.Typer(help="Hand on what is recorded.", no_args_is_help=True)


@exports.callback()
def start() -> None:
    """One command alone would take the place of the group."""


exports.command()(cli_history.history)
