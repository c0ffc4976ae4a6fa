"""The process boundary of both programs: errors become one line, exceptions become exit codes."""

from __future__ import annotations

import os
import sys

import typer

from shopsim.errors import ShopSimError
from shopsim.storage import FREE_SPACE, is_out_of_space

__all__ = ["run_app"]


def run_app(app: typer.Typer, arguments: list[str] | None = None) -> int:
    """Run a Typer application and return its exit code (see spec 07: 0, 1 or 2).

    A :class:`~shopsim.errors.ShopSimError` is printed as one line on standard error, and so is a full disk,
    wherever it is met. A reader that closes the pipe early (``| head``) is no error.
    """
    try:
        result = typer.main.get_command(app).main(args=arguments, standalone_mode=False)
        return result if isinstance(result, int) else 0
    except ShopSimError as error:
        _complain(str(error))
        return error.exit_code
    except typer.TyperException as error:
        _explain_usage(error)
        return 2
    except (typer.Abort, KeyboardInterrupt):
        _complain("interrupted")
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        if not is_out_of_space(error):
            raise
        _complain(f"{error.filename or 'a file'}: cannot be written ({error.strerror}). {FREE_SPACE}")
        return 1


def _complain(message: str) -> None:
    sys.stderr.write(f"error: {' '.join(message.split())}\n")


def _explain_usage(error: typer.TyperException) -> None:
    """Print a usage error on one line; a program called with no arguments at all gets its help."""
    message = str(getattr(error, "format_message", lambda: error)())
    if message.lstrip().startswith("Usage:"):
        sys.stderr.write(message + "\n")
    else:
        _complain(f"{message} (see --help)")
