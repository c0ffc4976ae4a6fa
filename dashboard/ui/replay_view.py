"""Parts of the page Replay: the verdict, the task, what was wanted and bought."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dashboard.analysis.recorded import as_list, as_mapping, as_text, judged
from dashboard.analysis.replay_products import wanted_only
from dashboard.analysis.tasks_beside import OUTCOMES
from dashboard.analysis.tasks_table import outcome_of
from dashboard.ui import components as ui
from dashboard.ui.data import Runs, frame
from dashboard.ui.episodes import explained, goal_of
from dashboard.ui.explanation import draw_explanation
from dashboard.ui.grid import draw_grid
from dashboard.ui.long_text import long_text
from dashboard.ui.text import count, duration, number, plural, safe_text, shorten, tokens
from shopsim.rollout.summary import finite_number
from shopsim.rollout.trace import is_complete

__all__ = ["draw_task", "draw_verdict", "draw_wanted"]

_MOST_PLACES = 3


def draw_verdict(record: Mapping[str, Any]) -> None:
    """How the episode ended, and the figures of the whole episode."""
    final = as_mapping(record.get("final"))
    complete = is_complete(record)
    reward, success = judged(record)
    outcome = outcome_of(complete, success)
    told = "" if reward is None else f": strict reward {number(reward)}"
    st.subheader(f"{OUTCOMES[outcome]}{told}", anchor=False)
    if not complete:
        _draw_error(record)
    st.caption(safe_text(" · ".join(_facts(record, final))))


def _draw_error(record: Mapping[str, Any]) -> None:
    error = as_mapping(record.get("error"))
    if not error:
        st.warning(
            safe_text(
                f"The record is not complete: status {record.get('status')!r}, schema "
                f"{record.get('schema_version')!r}, and no final answer that says done."
            ),
            icon=":material/warning:",
        )
        return
    stage, kind = as_text(error.get("stage")) or "unknown", as_text(error.get("type")) or "error"
    message = shorten(as_text(error.get("message")), 600)
    st.error(safe_text(f"{kind} at stage {stage}: {message}"), icon=":material/error:")
    if as_text(error.get("traceback")):
        with st.expander("Traceback"):
            long_text(as_text(error["traceback"]), key="whole-traceback", mono=True)


def _facts(record: Mapping[str, Any], final: Mapping[str, Any]) -> list[str]:
    job, steps = as_mapping(record.get("job")), as_list(record.get("steps"))
    provenance = as_mapping(record.get("provenance"))
    model, usage = as_mapping(provenance.get("model")), _total_tokens(steps)
    facts = (
        [f"ended by {as_text(final.get('termination_reason'))}"] if final.get("termination_reason") else []
    )
    facts.append(plural(len(steps), "step"))
    if finite_number(record.get("duration_ms")) is not None:
        facts.append(duration(record["duration_ms"]))
    if usage:
        facts.append(f"{tokens(usage)} tokens")
    facts += [f"{name} {job[key]}" for key, name in _JOB.items() if job.get(key) is not None]
    if model.get("provider") == "human":
        facts.append("played by a person")
    elif model.get("model") is not None:
        scripted = " (scripted, no language model)" if model.get("simulated") is True else ""
        facts.append(f"{model['model']} {as_text(model.get('checkpoint_id'))}".strip() + scripted)
    if as_text(record.get("started_at")):
        facts.append(f"started {as_text(record['started_at'])[:19].replace('T', ' ')}")
    return facts


_JOB = {"split": "split", "sample_id": "sample", "seed": "seed"}


def _total_tokens(steps: list[Any]) -> float:
    usages = (as_mapping(as_mapping(as_mapping(step).get("model")).get("usage")) for step in steps)
    return sum(finite_number(usage.get("total_tokens")) or 0 for usage in usages)


def draw_task(runs: Runs, run_id: str, record: Mapping[str, Any]) -> None:
    """What the agent was given, and in folds: profile, full instruction, skills."""
    reset = as_mapping(record.get("reset"))
    goal = goal_of(runs, run_id, record)
    given = as_text(reset.get("task_instruction"))
    st.caption("Task instruction, as the agent got it")
    long_text(given or "No instruction was recorded.", key="whole-instruction")
    if persona := as_mapping(reset.get("user_persona")):
        with st.expander("Shopper's profile (part of what the agent got)"):
            ui.data_text(json.dumps(persona, ensure_ascii=False, indent=2), mono=True, limit=20_000)
    full = as_text(goal.get("instruction_text"))
    if full and full != given:
        with st.expander("Full instruction (hidden from the agent)"):
            ui.data_text(full, limit=20_000)
    skills = [as_mapping(skill) for skill in as_list(record.get("selected_skills"))]
    if skills:
        with st.expander(f"Skills given to the agent ({len(skills)})"):
            for place, skill in enumerate(skills):
                st.caption(safe_text(f"{skill.get('skill_id')} {skill.get('version') or ''}"))
                long_text(as_text(skill.get("content")), key=f"whole-skill-{place}", mono=True)


def draw_wanted(runs: Runs, run_id: str, episode_id: str, record: Mapping[str, Any]) -> None:
    """Wanted and bought product side by side, the components of the reward, where the wanted one stood."""
    final = as_mapping(record.get("final"))
    goal = goal_of(runs, run_id, record)
    st.subheader("Wanted and bought", anchor=False)
    if not is_complete(record):
        if not goal:
            st.caption("The record does not tell what the task wanted: the environment says so at the end.")
            return
        draw_grid(wanted_only(goal), ["Wanted"], caption="Wanted product")
    else:
        draw_explanation(final, explained(runs, run_id, final))
    st.caption(safe_text(_where_shown(run_id, episode_id, bool(goal))))


def _where_shown(run_id: str, episode_id: str, known: bool) -> str:
    rows = frame("replay_wanted", run_id=run_id, episode_id=episode_id)
    if rows.empty:
        return "The wanted product was on no result page that the agent saw." if known else ""
    places = [
        f"at rank {int(row['rank'])} for “{shorten(row['query'], 60)}” (step {int(row['step_index'])})"
        + (", opened" if row["opened"] else ", not opened")
        for row in rows.head(_MOST_PLACES).to_dict("records")
    ]
    more = f"; and {count(len(rows) - _MOST_PLACES)} more times" if len(rows) > _MOST_PLACES else ""
    return f"The wanted product was shown {'; '.join(places)}{more}."
