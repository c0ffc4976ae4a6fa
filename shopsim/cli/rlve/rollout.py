"""``shopsim rlve rollout``: let an agent play, under the adaptive curriculum or at one difficulty."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.endpoint import KEY_HELP, endpoint_of
from shopsim.cli.playing import interruptible, progress, skill_values
from shopsim.wording import plural

if TYPE_CHECKING:
    from shopsim.rlve.agents import AgentSpec, Endpoint
    from shopsim.rlve.rollout import OpenRun, UserVoice
    from shopsim.rlve.user.model import ModelVerbaliser

__all__ = ["register"]

_CLERK_ONLY = "--skill: is for a clerk only"


def register(app: typer.Typer) -> None:
    """Add the command to ``app``."""
    app.command("rollout", help=_HELP)(_rollout)


def _rollout(
    agent: Annotated[
        str, typer.Option(help="random, oracle, clerk-novice, clerk-trained, clerk-expert, or openai.")
    ],
    name: Annotated[str, typer.Option(help="Name of the run: its folder under the runs root.")],
    episodes: Annotated[int, typer.Option(help="How many; more than before makes a run longer.")] = 100,
    collection: Annotated[
        str | None, typer.Option(help="C1, C2, C4, C8 or a list such as PD,CART; default: the settings'.")
    ] = None,
    difficulty: Annotated[
        int | None, typer.Option(help="Always this one; default: the adaptive curriculum.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of the run.")] = 0,
    batch: Annotated[
        int, typer.Option(help="Episodes that are drawn, and for endpoints played, together.")
    ] = 1,
    skill: Annotated[
        Path | None, typer.Option(help="JSON object of skill parameters that replace the clerk's.")
    ] = None,
    base_url: Annotated[str | None, typer.Option(help="openai: such as http://localhost:8000/v1.")] = None,
    model: Annotated[str | None, typer.Option(help="openai: the model's name there.")] = None,
    key_variable: Annotated[str | None, typer.Option(help=f"openai: {KEY_HELP}")] = None,
    sampling: Annotated[
        str | None, typer.Option(help='openai: JSON object for every request, such as {"temperature": 0.7}.')
    ] = None,
    timeout: Annotated[float, typer.Option(help="Endpoints: seconds until a request is given up.")] = 120.0,
    retries: Annotated[int, typer.Option(help="Endpoints: tries after the first one.")] = 4,
    user_base_url: Annotated[
        str | None, typer.Option(help="Let a model there word the user's texts; default: templates.")
    ] = None,
    user_model: Annotated[str | None, typer.Option(help="The model that words the user's texts.")] = None,
    user_key_variable: Annotated[str | None, typer.Option(help=f"The user's model: {KEY_HELP}")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Play only what is missing.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the summary as JSON.")] = False,
) -> None:
    from shopsim.cli.rlve.workspace import changed, shop_of
    from shopsim.rlve.rollout import RunRequest, open_run, summarize_run
    from shopsim.settings import load_settings

    settings = load_settings()
    endpoint = endpoint_of(base_url, model, key_variable, timeout, retries, sampling)
    spec = _agent(agent, skill, endpoint)
    request = RunRequest(name, spec, episodes, seed, difficulty, batch)
    user = endpoint_of(user_base_url, user_model, user_key_variable, timeout, retries, prefix="user-")
    models: list[ModelVerbaliser] = []
    voice = _voice(user, models)
    shop = shop_of(settings, changed(settings.rlve, collection=collection))
    with open_run(shop, settings.runs_root, request, voice=voice, resume=resume) as run:
        kept = run.kept
        _play(run)
        summary = summarize_run(run.folder)
    summary = {"played": run.played, "kept": kept, **summary}
    if user:
        summary["user_texts"] = _wording(models)
    typer.echo(json.dumps(summary, ensure_ascii=False) if as_json else _describe(summary, run.folder))


def _describe(summary: dict[str, Any], folder: Path) -> str:
    from shopsim.cli.rlve.summary import describe_summary

    lines = [describe_summary(summary)]
    if texts := summary.get("user_texts"):
        lines.append(f"user texts now: {', '.join(f'{count:,} {name}' for name, count in texts.items())}")
    lines.append(f"{plural(summary['played'], 'episode')} played now, {summary['kept']:,} kept: {folder}")
    return "\n".join(lines)


def _play(run: OpenRun) -> None:
    with interruptible("Go on with --resume."), closing(run.play()) as records:
        for _ in progress(records, str(run.plan["experiment"]), run.pending):
            pass


def _agent(name: str, skill: Path | None, endpoint: Endpoint | None) -> AgentSpec:
    from dataclasses import replace

    from shopsim.errors import UsageError
    from shopsim.rlve.agents import AgentSpec, agent_spec, skill_from_mapping

    if name == "openai":
        if endpoint is None:
            raise UsageError("agent openai: needs --base-url and --model")
        if skill is not None:
            raise UsageError(_CLERK_ONLY)
        return AgentSpec(name, endpoint=endpoint)
    if endpoint is not None:
        raise UsageError(f"agent {name}: takes no endpoint", hint="Use --agent openai.")
    spec = agent_spec(name)
    if skill is None:
        return spec
    if spec.skill is None:
        raise UsageError(_CLERK_ONLY)
    return replace(spec, skill=skill_from_mapping(skill_values(skill), spec.skill))


def _voice(endpoint: Endpoint | None, models: list[ModelVerbaliser]) -> UserVoice:
    """Who words the user's texts; the verbalisers that are made (one a thread) are put into ``models``."""
    from shopsim.rlve.rollout.runner import TEMPLATES_VOICE, UserVoice

    if endpoint is None:
        return TEMPLATES_VOICE
    from shopsim.chat import ChatClient
    from shopsim.rlve.user.model import ModelVerbaliser

    def build() -> ModelVerbaliser:
        models.append(ModelVerbaliser(ChatClient(endpoint)))
        return models[-1]

    return UserVoice(endpoint.to_model(), build)


def _wording(models: list[ModelVerbaliser]) -> dict[str, int]:
    """How many texts of the user the model reworded, and how many stayed as they were, by reason."""
    counts = {"reworded": sum(model.rewritten for model in models)}
    for model in models:
        for reason, count in sorted(model.fallbacks.items()):
            name = f"kept ({reason})"
            counts[name] = counts.get(name, 0) + count
    return counts


_HELP = """Let an agent play conversation episodes.

Into a run folder under the runs root: manifest, one record an episode, and the curriculum's state.

Each finished episode is on disk at once; an interrupted run goes on with --resume, and --episodes with a
larger number makes a run longer. The curriculum draws one episode at a time; with --batch it draws several at
once, which an endpoint then answers at the same time.

Example: shopsim rlve rollout --agent clerk-trained --name rlve-clerk --episodes 500 --collection C4
"""
