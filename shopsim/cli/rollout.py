"""``shopsim run`` and ``shopsim demo``: play experiments and write their run folders."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from shopsim.cli.endpoint import KEY_HELP, endpoint_of, json_object
from shopsim.cli.playing import CONCURRENCY, SCRIPTED, interruptible, processes, progress, skill_values
from shopsim.wording import percent

if TYPE_CHECKING:
    from shopsim.chat import Endpoint
    from shopsim.rollout.agents import AgentSpec
    from shopsim.rollout.report import RunReport
    from shopsim.rollout.skill_bank import SkillBank

__all__ = ["register"]

_ENDPOINT_EPISODES: Final = 16
_AT_A_TIME = typer.Option(
    min=1,
    help="Episodes at a time; results of scripts do not depend on it. "
    f"Default: all processors; openai: {_ENDPOINT_EPISODES}.",
)
_JSON = typer.Option("--json", help="Print the summaries as JSON.")


def register(app: typer.Typer) -> None:
    """Add the commands to ``app``."""
    app.command("run", help=_RUN_HELP)(_run)
    app.command("demo", help=_DEMO_HELP)(_demo)


def _run(
    agent: Annotated[str, typer.Option(help="random, oracle, shopper-iter00 ... shopper-iter80, or openai.")],
    name: Annotated[str, typer.Option(help="Name of the experiment: its folder under the runs root.")],
    split: Annotated[str, typer.Option(help="train, val, test, all (persona tasks) or every.")] = "test",
    tasks: Annotated[
        str | None, typer.Option(help="Task ids (3,17,42) or a JSON file with a list, instead of a split.")
    ] = None,
    limit: Annotated[int | None, typer.Option(help="Only the first tasks.")] = None,
    persona: Annotated[
        bool, typer.Option("--persona/--standard", help="Short wish with persona, or the full instruction.")
    ] = True,
    seed: Annotated[int, typer.Option(help="Seed of the experiment.")] = 0,
    samples: Annotated[int, typer.Option(min=1, help="Episodes a task.")] = 1,
    skill: Annotated[
        Path | None, typer.Option(help="JSON object of skill parameters that replace the shopper's.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="openai: such as http://localhost:8000/v1.")] = None,
    model: Annotated[str | None, typer.Option(help="openai: the model's name there.")] = None,
    checkpoint: Annotated[
        str | None, typer.Option(help="openai: which checkpoint that is, for manifest and pages.")
    ] = None,
    key_variable: Annotated[str | None, typer.Option(help=f"openai: {KEY_HELP}")] = None,
    sampling: Annotated[
        str | None,
        typer.Option(help='openai: JSON object such as {"temperature": 0.6, "max_tokens": 4096}.'),
    ] = None,
    skill_bank: Annotated[
        Path | None,
        typer.Option(help="openai: skills for the system prompt, a JSON list of them or one .md file."),
    ] = None,
    timeout: Annotated[float, typer.Option(help="openai: seconds until a request is given up.")] = 180.0,
    retries: Annotated[int, typer.Option(help="openai: tries after the first one.")] = 4,
    concurrency: Annotated[int | None, _AT_A_TIME] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Run only what is missing or failed.")] = False,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    from shopsim.engine import open_engine
    from shopsim.rollout.jobs import make_jobs
    from shopsim.rollout.runner import RunRequest, open_runs
    from shopsim.rollout.selection import select_tasks

    endpoint = endpoint_of(base_url, model, key_variable, timeout, retries)
    spec = _agent(agent, skill, endpoint, sampling, checkpoint)
    bank = _bank(skill_bank, spec)
    at_a_time = concurrency or _ENDPOINT_EPISODES if spec.chat else processes(concurrency)
    with open_engine() as engine:
        task_ids, owner = select_tasks(engine, split=split, tasks=tasks, limit=limit)
        jobs = make_jobs(task_ids, split=owner, seed=seed, samples=samples)
        request = RunRequest(name, spec, jobs, owner, persona, bank=bank)
        with open_runs(engine, [request], concurrency=at_a_time, resume=resume) as runs:
            with interruptible("Go on with --resume."):
                for _ in progress(runs.play(), name, runs.pending):
                    pass
            reports = runs.reports()
    _report(reports, as_json, scripted=spec.chat is None)


def _demo(
    force: Annotated[bool, typer.Option("--force", help="Make the demo runs again.")] = False,
    concurrency: Annotated[int | None, CONCURRENCY] = None,
    as_json: Annotated[bool, _JSON] = False,
) -> None:
    from shopsim.engine import open_engine
    from shopsim.rollout.demo import run_demo

    with open_engine() as engine, interruptible("Run it again for the rest."):
        reports = run_demo(engine, force=force, concurrency=processes(concurrency), progress=progress)
    _report(reports, as_json)


def _agent(
    name: str, skill: Path | None, endpoint: Endpoint | None, sampling: str | None, checkpoint: str | None
) -> AgentSpec:
    from dataclasses import replace

    from shopsim.errors import UsageError
    from shopsim.rollout.agents import OPENAI, AgentSpec, ChatModel, Sampling, agent_spec, skill_from_mapping

    if name == OPENAI:
        if endpoint is None:
            raise UsageError(f"agent {OPENAI}: needs --base-url and --model")
        if skill is not None:
            raise UsageError("--skill: is for a shopper only")
        values = Sampling.from_mapping(json_object(sampling, "--sampling"))
        return AgentSpec(OPENAI, chat=ChatModel(endpoint, values, checkpoint))
    if endpoint is not None or sampling is not None or checkpoint is not None:
        raise UsageError(f"agent {name}: takes no endpoint", hint=f"Use --agent {OPENAI}.")
    spec = agent_spec(name)
    if skill is None:
        return spec
    if spec.skill is None:
        raise UsageError("--skill: is for a shopper only")
    return replace(spec, skill=skill_from_mapping(skill_values(skill), spec.skill))


def _bank(path: Path | None, spec: AgentSpec) -> SkillBank:
    from shopsim.errors import UsageError
    from shopsim.rollout.skill_bank import NO_SKILLS, load_skill_bank

    if path is None:
        return NO_SKILLS
    if spec.chat is None:
        raise UsageError("--skill-bank: is for a model only; scripts read no prompt")
    return load_skill_bank(path)


def _report(reports: Sequence[RunReport], as_json: bool, *, scripted: bool = True) -> None:
    """Print what was run; exit with 1 when episodes failed."""
    if as_json:
        typer.echo(json.dumps([report.to_wire() for report in reports], ensure_ascii=False))
    else:
        typer.echo(
            _ROW.format("experiment", "played", "kept", "success", "reward", "steps", "invalid", "slips")
        )
        for report in reports:
            typer.echo(_row(report))
        for report in reports:
            if errors := report.summary["errors"]:
                told = ", ".join(f"{count:,} {name}" for name, count in errors.items())
                typer.echo(f"{report.experiment}: episodes failed ({told}); --resume plays them again")
        if scripted:
            typer.echo(SCRIPTED)
    if any(report.summary["counts"]["failed"] for report in reports):
        raise typer.Exit(1)


_ROW = "{:<20} {:>6} {:>6} {:>8} {:>8} {:>6} {:>8} {:>7}"


def _row(report: RunReport) -> str:
    primary, behavior = report.summary["primary"], report.summary["behavior"]
    return _ROW.format(
        report.experiment,
        report.played,
        report.kept,
        percent(primary["success_rate"]),
        _number(primary["reward_mean"], 4),
        _number(behavior["steps_mean"], 2),
        percent(behavior["invalid_action_rate"]),
        percent(behavior["protocol_error_rate"]),
    )


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


_RUN_HELP = """Play an experiment with one of the bundled agents, or with a model behind a chat endpoint.

Its run folder is written under the runs root.

Each finished episode is on disk at once; an interrupted run goes on with --resume. A folder that holds
another experiment is refused.

A model (--agent openai) is asked by function tools over any OpenAI-compatible endpoint, several episodes
at a time; what it answers is recorded as it came. The key comes from an environment variable and is kept
nowhere. When as many episodes in a row as are played at a time fail at the model, the run stops.

Example: shopsim run --agent shopper-iter40 --name probe --split test --limit 20

Example: shopsim run --agent openai --base-url http://localhost:8000/v1 --model qwen3.5-4b --name base-test
"""

_DEMO_HELP = """Make the demo runs of the scripted agents.

A shopper at five stages of skill, oracle and random.

They are labelled as scripted everywhere. What is there already is kept.

Example: shopsim demo
"""
