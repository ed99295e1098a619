"""The command ``onefit``: parse, call, print. One thin file per command."""

INTERRUPTED = 130
"""The exit code after Ctrl-C: 128 and the number of the signal."""


def main() -> None:
    """Entry point of the command ``onefit``."""
    import sys

    try:
        from .app import app

        app(prog_name="onefit")
    except ModuleNotFoundError as missing:
        raise SystemExit(f"the command line needs {missing.name}: pip install 'onefit[cli]'") from None
    except KeyboardInterrupt:  # commands explain their own; this one came while they were still being imported
        print("onefit: interrupted", file=sys.stderr)
        raise SystemExit(INTERRUPTED) from None
