"""``shopsim-review dashboard``: prepare what is missing, then serve the review pages."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Annotated, TypeVar

import typer

from dashboard.cli.target import checked_roots
from shopsim.errors import ShopSimError, UsageError
from shopsim.settings import WORKSPACE_VARIABLE, Settings, load_settings, workspace_hint

__all__ = ["register"]

ADDRESS = "127.0.0.1"

T = TypeVar("T")


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("dashboard", help=_HELP)(_dashboard)


def _dashboard(
    root: Annotated[
        list[Path] | None,
        typer.Option(metavar="DIR", help="A folder with runs; repeatable. Adds to the workspace's own runs."),
    ] = None,
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port on this machine.")] = 8501,
    no_prepare: Annotated[
        bool, typer.Option("--no-prepare", help="Start at once: prepare no data, record no demo runs.")
    ] = False,
) -> None:
    settings = load_settings()
    roots = [path.resolve() for path in checked_roots(root)]
    if not workspace_hint(settings) or not roots or settings.runs_root.is_dir():
        roots.append(settings.runs_root)
    _check_port(port)
    if not no_prepare:
        _prepare(settings, demo=not root)
    typer.echo(f"Review pages: http://localhost:{port} (stop with Ctrl-C)")
    raise typer.Exit(_serve(settings, roots, port))


def _check_port(port: int) -> None:
    with socket.socket() as probe:
        if os.name != "nt":  # elsewhere this option would hide that the port is taken
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((ADDRESS, port))
        except OSError as error:
            other = port % 65535 + 1
            raise UsageError(
                f"--port {port}: cannot be used ({error.strerror})",
                hint=f"Stop the program that holds it, or choose another: --port {other} "
                f"(make dashboard PORT={other}).",
            ) from None


def _prepare(settings: Settings, *, demo: bool) -> None:
    """Prepare the catalogue, solve its tasks and record the demo runs of both families: what is missing.

    A problem with the catalogue is told and no reason to stay closed: recorded runs can be reviewed
    without it, and pages that need it repeat the problem.
    """
    from shopsim.pipeline.prepare import prepare
    from shopsim.progress import track
    from shopsim.solved_tasks import solve_persona_tasks

    try:
        report = prepare(settings, progress=track)
        if report.written:
            typer.echo(f"Prepared the catalogue in {settings.prepared_dir}.")
        solve_persona_tasks(settings, report.product_data_sha256, track)
        if demo:
            _record_demos(settings)
    except ShopSimError as error:
        typer.echo(f"warning: {error}", err=True)


def _record_demos(settings: Settings) -> None:
    processes = os.cpu_count() or 1
    shopping, conversations = _wanted_demos(settings.runs_root)
    if shopping:
        from shopsim.engine import open_engine
        from shopsim.rollout.demo import run_demo

        typer.echo("Recording the demo runs (scripted agents, about a minute).")
        with open_engine(settings) as engine:
            run_demo(engine, concurrency=processes, progress=_show)
    if conversations:
        from shopsim.rlve.demo import run_demo as run_conversations

        typer.echo(
            "Recording the demo runs of the conversations (scripted agents, about a quarter of a minute)."
        )
        run_conversations(settings, concurrency=processes, progress=_show)


def _show(items: Iterable[T], label: str, total: int) -> Iterator[T]:
    from shopsim.progress import track

    return track(items, label=label, total=total)


def _wanted_demos(folder: Path) -> tuple[bool, bool]:
    """Which demos to record: that of the shopping runs, that of the conversations.

    Each where there is no run but demos, and where it was cut off (a run gets its summary at its end). That
    of the conversations also beside the other one, which may be older than it.
    """
    from shopsim.rlve.demo import DEMO_RUNS, demo_is_finished
    from shopsim.rollout.demo import DEMO_AGENTS
    from shopsim.rollout.folder import SUMMARY_FILE

    runs = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
    demos = DEMO_AGENTS.keys() | DEMO_RUNS.keys()
    shopping_finished = all((folder / name / SUMMARY_FILE).is_file() for name in DEMO_AGENTS)
    shopping = runs <= DEMO_RUNS.keys() or not runs.isdisjoint(DEMO_AGENTS)
    conversations = not runs or not runs.isdisjoint(demos)
    return shopping and not shopping_finished, conversations and not demo_is_finished(folder)


def _serve(settings: Settings, roots: list[Path], port: int) -> int:
    """Run Streamlit until it is stopped; return its exit code where it ran as a child."""
    from dashboard.ui.workspace import LAKE_VARIABLE, ROOTS_VARIABLE

    if settings.runs_root in roots:
        with suppress(OSError):  # the pages tell when it cannot be read
            settings.runs_root.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {ROOTS_VARIABLE: os.pathsep.join(map(str, roots))}
    if not workspace_hint(settings):  # else the working folder is it, and stays so
        environment[WORKSPACE_VARIABLE] = str(settings.workspace)
    if cache := os.environ.get(LAKE_VARIABLE):
        environment[LAKE_VARIABLE] = str(Path(cache).resolve())
    options = {
        "server.address": ADDRESS,
        "server.port": str(port),
        "server.headless": "true",
        "browser.serverAddress": "localhost",
        "browser.gatherUsageStats": "false",
        "server.fileWatcherType": "none",
    }
    # Beside the app lies .streamlit/config.toml with the look of the pages; Streamlit reads it from there.
    app = Path(__file__).resolve().parent.parent / "app.py"
    command = [sys.executable, "-m", "streamlit", "run", str(app)]
    command += [f"--{name}={value}" for name, value in options.items()]
    sys.stdout.flush()
    if os.name != "nt":  # becoming the server leaves nobody behind who would have to pass on signals
        os.execve(sys.executable, command, environment)
    return subprocess.run(command, env=environment, check=False).returncode


_HELP = """Open the review pages in the browser.

What is missing is prepared first.

The catalogue is prepared and, when there are no runs yet, the demo runs are recorded; nothing is done twice.

Example: shopsim-review dashboard --root ~/training/runs --port 8600
"""
