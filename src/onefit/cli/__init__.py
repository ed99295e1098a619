"""The command ``onefit``: parse, call, print. One thin file per command."""


def main() -> None:
    """Entry point of the command ``onefit``."""
    import sys

    from .screen import end_like_ctrl_c, exit_code

    try:
        end_like_ctrl_c()
        from .app import app

        app(prog_name="onefit")
    except ModuleNotFoundError as missing:
        raise SystemExit(f"the command line needs {missing.name}: pip install 'onefit[cli]'") from None
    except KeyboardInterrupt:  # commands explain their own; this one came while they were still being imported
        print("onefit: interrupted", file=sys.stderr)
        raise SystemExit(exit_code()) from None
