"""``shopsim annotate``: let a language model annotate the budgets of persona tasks, for money."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from shopsim.cli.endpoint import KEY_HELP, endpoint_of
from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.pipeline.annotate import AnnotationRequest, Stage
    from shopsim.pipeline.annotate.plan import Estimate
    from shopsim.pipeline.annotate.report import SessionReport

__all__ = ["register"]

_SHOWN_FAILURES = 5
_TEXTS = {"instruction_simple": "simple", "instruction": "full"}


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("annotate", help=_HELP)(_annotate)


def _annotate(
    base_url: Annotated[str, typer.Option(help="OpenAI-compatible, such as https://api.example.com/v1.")],
    model: Annotated[str, typer.Option(help="The model's name there.")],
    confirm_paid_api: Annotated[
        bool, typer.Option("--confirm-paid-api", help="Really send requests; without it the plan is shown.")
    ] = False,
    key_variable: Annotated[str | None, typer.Option(help=KEY_HELP)] = None,
    max_requests: Annotated[
        int | None, typer.Option(min=1, help="Send at most so many this time, retries included.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Requests under way at once.")] = 32,
    requests_per_minute: Annotated[float, typer.Option(min=1, help="Of all workers together.")] = 32.0,
    rate_retries: Annotated[int, typer.Option(min=0, help="Tries after an HTTP 429 about minutes.")] = 20,
    retries: Annotated[int, typer.Option(min=0, help="Tries after a network error, timeout or 5xx.")] = 4,
    answer_retries: Annotated[int, typer.Option(min=0, help="Tries after an answer that breaks a rule.")] = 2,
    timeout: Annotated[float, typer.Option(help="Seconds until a request is given up.")] = 120.0,
    sampling: Annotated[
        str | None, typer.Option(help='JSON object for every request, such as {"enable_thinking": false}.')
    ] = None,
    cache: Annotated[
        Path | None,
        typer.Option(help="Where every answer goes at once; default: data/annotations/cache.jsonl."),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Written once nothing is missing; default: corpus.annotations.")
    ] = None,
    runtime_regex_task_id: Annotated[
        list[int] | None,
        typer.Option(metavar="ID", help="Give up on this task and never ask about it; repeatable."),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace recorded annotations that differ.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print plan and session as JSON.")] = False,
) -> None:
    from shopsim.pipeline.annotate import AnnotationRequest
    from shopsim.pipeline.annotate.asking import Patience

    key = key_variable if confirm_paid_api else None  # a plan needs none
    endpoint = endpoint_of(base_url, model, key, timeout, retries, sampling)
    assert endpoint is not None, "address and model are given"
    request = AnnotationRequest(
        endpoint,
        cache,
        out,
        tuple(runtime_regex_task_id or ()),
        max_requests,
        workers,
        requests_per_minute,
        Patience(rate_retries, retries, answer_retries),
        force,
    )
    _ask(request, confirmed=confirm_paid_api, as_json=as_json)


def _ask(request: AnnotationRequest, *, confirmed: bool, as_json: bool) -> None:
    """Show the plan and, when it is confirmed, ask; exit with 1 when a text got no usable answer."""
    from shopsim.pipeline.annotate import open_stage
    from shopsim.pipeline.annotate.watch import Watch
    from shopsim.progress import counting
    from shopsim.settings import load_settings

    settings = load_settings()
    with open_stage(settings, request, locked=confirmed) as stage:
        if not as_json:
            typer.echo(_describe_plan(stage))
        if not confirmed:
            typer.echo(json.dumps({"plan": stage.plan.to_wire(), "session": None}) if as_json else _UNSENT)
            return
        with counting("annotate") as show:
            report = stage.run(Watch(show, _pausing, _stopping))
    if as_json:
        wire = {"plan": stage.plan.to_wire(), "session": report.to_wire()}
        typer.echo(json.dumps(wire, ensure_ascii=False))
    else:
        read = settings.path(settings.corpus.annotations)
        typer.echo(_describe_session(report, stage, stage.out.resolve() == read.resolve()))
    if report.failed:
        raise typer.Exit(1)


def _pausing(seconds: float, per_minute: float) -> None:
    _tell(f"the endpoint's rate is reached: {seconds:g} s pause, then {per_minute:g} requests a minute")


def _stopping(under_way: int, seconds: float) -> None:
    _tell(
        f"stopping: up to {seconds:g} s for the answers of {plural(under_way, 'request')} under way, "
        "which are paid for (Ctrl-C: at once)"
    )


def _tell(why: str) -> None:
    """Tell somebody at a terminal why it takes a moment; elsewhere errors stay one line."""
    if sys.stderr.isatty():
        sys.stderr.write(f"{why}\n")  # which the progress bar keeps clear of, unlike typer.echo


def _describe_plan(stage: Stage) -> str:
    plan = stage.plan
    wire = plan.origin.provenance
    lines = [
        f"budgets of {plural(plan.persona_tasks, 'persona task')}, "
        f"archive SHA-256 {plan.origin.source_sha256[:12]}",
        f"endpoint  {wire.endpoint}, model {wire.model}",
        f"cached    {_texts(plan.cached)} in {stage.cache}{_left_aside(plan.left_aside)}",
        f"to ask    {_texts({name: plan.count(name) for name in _TEXTS})}"
        "; a full one follows where the simple one states no limit",
        f"estimate  {_estimate(plan.least, plan.most, plan.requests_per_minute)}",
        f"recorded  in {stage.out}, once nothing is missing{'' if stage.may_record else _BLOCKED}",
    ]
    if plan.given_up:
        lines.append(f"given up  {', '.join(str(task_id) for task_id in plan.given_up)}")
    if plan.max_requests is not None:
        lines.append(f"bound     at most {plural(plan.max_requests, 'request')} this time, retries included")
    return "\n".join(lines)


def _texts(counts: Mapping[str, int]) -> str:
    simple, full = (counts[name] for name in _TEXTS)
    return f"{plural(simple, 'simple instruction')}, {full:,} full"


def _left_aside(counts: Mapping[str, int]) -> str:
    from shopsim.pipeline.annotate.cache import LEFT_ASIDE

    told = ", ".join(f"{number:,} {LEFT_ASIDE[name]}" for name, number in counts.items())
    return f"; left aside {told}" if told else ""


def _estimate(least: Estimate, most: Estimate, per_minute: float) -> str:
    if not most.requests:
        return "nothing to send"
    requests = _range(least.requests, most.requests, "request")
    minutes = _range(_minutes(least), _minutes(most), "minute")
    characters = _range(least.characters, most.characters, "character")
    return f"{requests}, {minutes} at {per_minute:g} a minute, {characters} sent"


def _minutes(estimate: Estimate) -> int:
    return max(1, math.ceil(estimate.minutes))


def _range(least: int, most: int, noun: str) -> str:
    return plural(most, noun) if least == most else f"{least:,} to {plural(most, noun)}"


def _describe_session(report: SessionReport, stage: Stage, recorded_where_read: bool) -> str:
    lines = [
        f"sent {plural(report.sent, 'request')}, saved {plural(report.saved, 'answer')}{_tokens(report)}"
    ]
    if report.pauses:
        lines.append(
            f"paused {plural(report.pauses, 'time')} for the endpoint's rate; "
            f"{report.requests_per_minute:g} a minute in the end"
        )
    for task_id, source_field, reason in report.failed[:_SHOWN_FAILURES]:
        lines.append(f"task {task_id} ({source_field}) {reason}")
    if len(report.failed) > _SHOWN_FAILURES:
        lines.append(f"and {len(report.failed) - _SHOWN_FAILURES:,} more without a usable answer")
    if report.recorded is None:
        lines.append(f"{plural(report.open_requests, 'request')} or more to go: run the same command again")
        if report.failed:
            lines[-1] += ", or give up on a task with --runtime-regex-task-id ID"
    else:
        lines.append(f"recorded in {report.recorded}. Next: {_next(stage, recorded_where_read)}")
    return "\n".join(lines)


def _tokens(report: SessionReport) -> str:
    if not report.prompt_tokens:
        return ""
    return f", {report.prompt_tokens:,} tokens in, {report.completion_tokens:,} out"


def _next(stage: Stage, recorded_where_read: bool) -> str:
    given_up = "".join(f" --runtime-regex-task-id {task_id}" for task_id in stage.plan.given_up)
    build = f"shopsim prepare --force{given_up}"
    if recorded_where_read:
        return build
    return f"set corpus.annotations to it in configs/shopsim.toml, then {build}"


_BLOCKED = "; it holds other annotations, so add --out or --force"
_UNSENT = (
    "Nothing was sent. Add --confirm-paid-api to call the endpoint (--max-requests 1 tries one request)."
)

_HELP = """Let a language model annotate persona budgets.

This calls a paid API, one request an instruction, so without --confirm-paid-api only the plan is shown.
Answers are saved one by one; the same command goes on where it stopped. `shopsim prepare` builds from what is
recorded in the end.

Example: shopsim annotate --base-url https://api.example.com/v1 --model qwen --key-variable API_KEY
"""
