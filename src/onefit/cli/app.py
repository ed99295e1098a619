"""The commands of ``onefit``, joined; each command imports what it needs when it runs."""

import typer

from .. import __version__

app = typer.Typer(no_args_is_help=True, add_completion=False, pretty_exceptions_enable=False)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"onefit {__version__}")
        raise typer.Exit


@app.callback()
def onefit(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """Choose the kernel and the regularisation of a kernel machine for about the price of training it once."""


from . import select, compare, predict, evaluate, inspect, datasets, bench, reproduce, benchmark  # noqa: E402, F401, I001  (in this order in --help)
