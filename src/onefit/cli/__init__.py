"""The command ``onefit``: parse, call, print. One thin file per command."""


def main() -> None:
    """Entry point of the command ``onefit``."""
    try:
        from .app import app
    except ModuleNotFoundError as missing:
        raise SystemExit(f"the command line needs {missing.name}: pip install 'onefit[cli]'") from None
    app()
