"""``shopsim-review export``: task lists, recorded episodes, training conversations, verdicts."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from dashboard.cli.target import RootOption, resolve_runs

if TYPE_CHECKING:
    import pandas as pd

    from dashboard.lake import Lake
    from dashboard.review.queue import Filters

__all__ = ["register"]

RunsArgument = Annotated[list[str], typer.Argument(metavar="RUN...", help="Run ids or run folders.")]
OutOption = Annotated[
    Path | None, typer.Option("--out", metavar="FILE", help="Write this file instead of standard output.")
]
LabelOption = Annotated[str, typer.Option(metavar="KEY", help="Only episodes with this reviewers' label.")]
ReasonOption = Annotated[str, typer.Option(metavar="REASON", help="Only episodes that ended by it.")]
DomainOption = Annotated[str, typer.Option(metavar="NAME", help="Only tasks of this domain.")]
ComponentOption = Annotated[
    Literal["", "r_type", "r_att", "r_option", "r_price"],
    typer.Option(metavar="COMPONENT", help="Only episodes below 1 in r_type, r_att, r_option or r_price."),
]
StageOption = Annotated[
    str,
    typer.Option(
        metavar="STAGE",
        help="Only episodes that the diagnosis says broke there: technical, unsatisfiable, no_purchase, "
        "not_retrieved, not_chosen, left, wrong_type, missing_attribute, wrong_option, over_budget, "
        "price_unverifiable or unexplained.",
    ),
]
TaskOption = Annotated[
    str | None, typer.Option("--tasks", metavar="IDS", help="Only these tasks: 3,17,42 or a JSON file.")
]


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    group = typer.Typer(no_args_is_help=True, help=_HELP, rich_markup_mode=None)
    group.command("tasks", help=_TASKS_HELP)(_tasks)
    group.command("episodes", help=_EPISODES_HELP)(_episodes)
    group.command("sft", help=_SFT_HELP)(_sft)
    group.command("labels", help=_LABELS_HELP)(_labels)
    app.add_typer(group, name="export")


def _tasks(
    runs: RunsArgument,
    root: RootOption = None,
    outcome: Annotated[
        Literal["failure", "success", "all"], typer.Option(help="Of the episodes.")
    ] = "failure",
    label: LabelOption = "",
    reason: ReasonOption = "",
    component: ComponentOption = "",
    domain: DomainOption = "",
    stage: StageOption = "",
    out: OutOption = None,
) -> None:
    from dashboard.review.export import task_list

    _, chosen = _choose(runs, root, (outcome, reason, component, domain, label, stage), None)
    text = json.dumps(task_list(chosen), ensure_ascii=False, indent=2) + "\n"
    _write([text.encode()], out)


def _episodes(
    runs: RunsArgument,
    root: RootOption = None,
    outcome: Annotated[Literal["failure", "success", "all"], typer.Option(help="Of the episodes.")] = "all",
    label: LabelOption = "",
    reason: ReasonOption = "",
    component: ComponentOption = "",
    domain: DomainOption = "",
    stage: StageOption = "",
    tasks: TaskOption = None,
    out: OutOption = None,
) -> None:
    from dashboard.review.export import episode_lines

    lake, chosen = _choose(runs, root, (outcome, reason, component, domain, label, stage), tasks)
    _write(_tracked(episode_lines(lake, chosen), len(chosen)), out)
    typer.echo(f"{len(chosen)} episodes", err=True)


def _sft(
    runs: RunsArgument,
    root: RootOption = None,
    reasoning: Annotated[
        bool, typer.Option("--reasoning", help="Add each answer's reasoning as reasoning_content.")
    ] = False,
    clean: Annotated[
        bool, typer.Option("--clean", help="Leave out episodes with a protocol error or a refused action.")
    ] = False,
    label: LabelOption = "",
    domain: DomainOption = "",
    tasks: TaskOption = None,
    out: OutOption = None,
) -> None:
    from dashboard.review.export import sft_lines

    lake, chosen = _choose(runs, root, ("success", "", "", domain, label, ""), tasks)
    skipped = Counter[str]()
    lines = sft_lines(lake, chosen, reasoning=reasoning, clean=clean, skipped=skipped)
    written = _write(_tracked(lines, len(chosen)), out)
    typer.echo(f"{written} conversations", err=True)
    for why, number in sorted(skipped.items()):
        if number:
            typer.echo(f"left out: {number} {why}", err=True)
    if not written:
        raise typer.Exit(1)


def _labels(
    form: Annotated[
        Literal["csv", "jsonl"], typer.Option("--format", help="csv for spreadsheets, jsonl for scripts.")
    ] = "jsonl",
    history: Annotated[
        bool, typer.Option("--history", help="Every event, also what was changed or taken back.")
    ] = False,
    out: OutOption = None,
) -> None:
    import pandas as pd

    from dashboard.review import ReviewStore
    from dashboard.review.export import label_rows, labels_csv, labels_jsonl
    from shopsim.settings import load_settings

    store = ReviewStore(load_settings().review_database)
    current = pd.concat([store.current("episode"), store.current("task")]).sort_values("event_id")
    rows = label_rows(store.all_events() if history else current, current)
    _write([labels_csv(rows)] if form == "csv" else labels_jsonl(rows), out)


def _choose(
    runs: list[str], root: list[Path] | None, chosen: tuple[str, str, str, str, str, str], tasks: str | None
) -> tuple[Lake, pd.DataFrame]:
    """The lake, and the episodes that the options leave; exits with 1 when there is none."""
    from dashboard.review import ReviewStore
    from dashboard.review.export import chosen_episodes
    from dashboard.review.queue import Filters
    from shopsim.rollout.selection import read_task_ids
    from shopsim.settings import load_settings

    lake, ids = resolve_runs(runs, root)
    for run_id in ids:
        for problem in lake.file_problems(run_id):
            typer.echo(f"warning: {problem}", err=True)
        if lake.run(run_id).traces is None:
            typer.echo(f"warning: {run_id}: has no traces, so no episodes to choose from", err=True)
    store = ReviewStore(load_settings().review_database)
    wanted = read_task_ids(tasks) if tasks is not None else ()
    filters = Filters(*chosen)
    stages = _stages(lake, ids, filters.stage) if filters.stage else None
    episodes = chosen_episodes(lake, store, ids, filters, tasks=wanted, stages=stages)
    if episodes.empty:
        typer.echo(f"No episode passes the options.{_known_values(lake, ids, filters)}", err=True)
        raise typer.Exit(1)
    return lake, episodes


def _known_values(lake: Lake, run_ids: list[str], filters: Filters) -> str:
    """What there is of the first filter whose value no episode and no taxonomy has; nothing otherwise."""
    from dashboard.review import workspace_taxonomy
    from shopsim.settings import load_settings

    rows = lake.query("export_known_values", run_ids=run_ids)
    known = {name: sorted(rows.loc[rows["field"] == name, "value"]) for name in ("domain", "reason")}
    known["label"] = sorted(label.key for label in workspace_taxonomy(load_settings()).labels)
    for name, values in known.items():
        asked = getattr(filters, name)
        if asked and asked not in values:
            return f" --{name} {asked}: no such {name}. Known: {', '.join(values) or 'none'}."
    return ""


def _stages(lake: Lake, run_ids: list[str], stage: str) -> pd.DataFrame:
    """The diagnosis of every episode. Raises :class:`~shopsim.errors.UsageError` for an unknown stage."""
    from functools import partial

    from dashboard.analysis.catalogues import not_prepared
    from dashboard.analysis.diagnosis import STAGES
    from dashboard.lake.diagnosis import diagnose_runs, judged_by_catalogue
    from shopsim.engine import open_engine
    from shopsim.errors import ShopSimError, UsageError
    from shopsim.progress import track
    from shopsim.solved_tasks import open_solutions

    if stage not in STAGES:
        raise UsageError(f"--stage {stage}: no such stage", hint=f"Known: {', '.join(STAGES)}.")
    try:
        engine = open_engine()
    except ShopSimError as error:
        typer.echo(f"warning: stages are judged by the traces alone: {error}", err=True)
        return diagnose_runs(lake, run_ids, None)
    with engine:
        solutions = open_solutions(engine)
        by_trace = sorted(set(run_ids) - set(judged_by_catalogue(lake, run_ids, solutions)))
        if by_trace:
            recorded = dict(lake.query("runs").set_index("run_id")["product_data_sha256"])
            told = not_prepared(by_trace, recorded, solutions.product_data_sha256)
            typer.echo(f"warning: {told}; judged by the traces alone", err=True)
        return diagnose_runs(lake, run_ids, solutions, partial(track, label="solving tasks"))


def _tracked(lines: Iterator[bytes], total: int) -> Iterator[bytes]:
    from shopsim.progress import track

    return track(lines, label="reading episodes", total=total)


def _write(lines: Iterable[bytes], out: Path | None) -> int:
    """Write the lines whole or not at all (a file), or as they come (standard output); return how many."""
    from dashboard.cli.target import output_error
    from shopsim.jsonio import atomic_path

    written = 0
    if out is None:
        for line in lines:
            sys.stdout.buffer.write(line)
            written += 1
        sys.stdout.buffer.flush()
        return written
    try:
        with atomic_path(out) as temporary, temporary.open("wb") as file:
            for line in lines:
                file.write(line)
                written += 1
    except OSError as error:
        raise output_error(out, error) from None
    return written


_HELP = """Take task lists, episodes, conversations, verdicts away."""

_TASKS_HELP = """Write the tasks of the chosen episodes, worst first.

As JSON that `shopsim run --tasks` takes.

With --stage only those that the diagnosis says broke there, as on the page Triage.

Example: shopsim-review export tasks demo-iter80 --stage not_retrieved --out retry.json
"""

_EPISODES_HELP = """Write the lines of the chosen episodes, byte for byte.

Example: shopsim-review export episodes demo-iter80 --outcome failure --out failures.jsonl
"""

_SFT_HELP = """Write successful episodes as OpenAI messages.

One conversation a line, with the tools offered.

Goals, rewards and whatever else the environment kept private stay out. With --reasoning an episode whose
reasoning holds what only its goal tells is left out. Exits with 1 when nothing was written.

Example: shopsim-review export sft demo-iter80 demo-oracle --clean --out sft.jsonl
"""

_LABELS_HELP = """Write what reviewers say now.

With --history everything they ever said.

Example: shopsim-review export labels --format csv --out verdicts.csv
"""
