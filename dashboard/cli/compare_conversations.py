"""``shopsim-review compare`` of runs of conversations: as text, as Markdown, as JSON, and with gates."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import typer

from dashboard.analysis.compare import Gate, GateResult, Interval, parse_gate
from dashboard.analysis.conversations.comparison import (
    COMPARED,
    Basis,
    ConversationComparison,
    Difference,
    GroupComparison,
)
from dashboard.analysis.conversations.comparison_tables import BASES, group_label, problem_rows
from dashboard.cli.compare_text import difference_lines, text_table
from dashboard.cli.target import conversation_ids, open_conversations
from dashboard.lake.conversations_pairs import compare_conversations
from shopsim.formats import RLVE_COMPARISON_SCHEMA
from shopsim.wording import plural

__all__ = ["compare_in_terminal"]

_SHOWN_PROBLEMS = 12


def compare_in_terminal(
    runs: Sequence[str],
    roots: Sequence[Path] | None,
    gates: Sequence[str],
    *,
    as_json: bool,
    markdown: bool,
) -> None:
    """Compare runs of conversations with the first one and print it.

    Raises :class:`typer.Exit` with 1 when a gate fails, and what the comparison raises.
    """
    parsed = [parse_gate(text, COMPARED) for text in gates]
    folders, found = conversation_ids(runs, roots)
    ids = [run_id for run_id in found if run_id is not None]
    lake = open_conversations(folders)
    results = [(other, compare_conversations(lake, ids[0], other)) for other in ids[1:]]
    verdicts = [_judged(result, gate) for _, result in results for gate in parsed]
    if as_json:
        documents = [_document(ids[0], other, result, parsed) for other, result in results]
        told: Any = documents[0] if len(documents) == 1 else documents
        typer.echo(json.dumps(told, ensure_ascii=False, indent=2))
    else:
        typer.echo("\n\n".join(_describe(ids[0], other, result, markdown) for other, result in results))
        for verdict in verdicts:
            typer.echo(verdict.message)
    if any(not verdict.passed for verdict in verdicts):
        raise typer.Exit(1)


def _judged(result: ConversationComparison, gate: Gate) -> GateResult:
    """The gate on the main difference; other problems, or no interval, are no evidence and no pass."""
    if result.kin == "different":
        return GateResult(False, f"gate {gate.metric}: fails, the runs drew different problems")
    found = result.whole.difference(gate.metric, result.basis)
    if found is None or found.interval is None:
        return GateResult(False, f"gate {gate.metric}: fails, there is no interval of a difference")
    verdict = gate.judge(found.interval, found.n)
    return GateResult(verdict.passed, f"{verdict.message} ({BASES[result.basis].lower()})")


def _describe(run_a: str, run_b: str, result: ConversationComparison, markdown: bool) -> str:
    whole = result.whole
    title = (
        f"{run_b} against {run_a}: {plural(whole.pairs, 'problem')} played by both, of "
        f"{plural(whole.n_a, 'episode')} and {whole.n_b:,}"
    )
    blocks = [f"## {title}" if markdown else title, _alignment(run_a, run_b, result)]
    heads = ("figure", "A", "95% interval", "n", "B", "95% interval", "n", "B - A", "95% interval", "n")
    for basis in result.bases:
        main = " (the main figure)" if basis == result.basis and len(result.bases) > 1 else ""
        blocks.append(f"differences over: {BASES[basis].lower()}{main}\n{_basis_note(result, basis)}")
        rows = [(name, *_cells(whole, name, basis)) for name in COMPARED]
        blocks.append(text_table(heads, rows, markdown))
    if whole.pairs:
        blocks.append(_transitions(result))
    basis = result.basis
    rows = [(group_label(group), *_cells(group, "passed", basis)) for group in (*result.envs, *result.levels)]
    blocks.append(
        f"passed by environment, and by environment and difficulty; differences over: {BASES[basis].lower()}"
    )
    blocks.append(text_table(heads, rows, markdown))
    blocks.append("Intervals are not corrected for looking at several rows.")
    return "\n\n".join(blocks)


def _alignment(run_a: str, run_b: str, result: ConversationComparison) -> str:
    lines = []
    if result.kin == "different":
        lines.append(
            "the runs drew their problems from different catalogues or by different rules: nothing is paired"
        )
    elif result.kin == "unknown":
        lines.append("it is not recorded that both drew their problems from one catalogue by the same rules")
    if not result.same_mix:
        lines.append(
            "A and B were not asked the same problems, nor equally hard ones: do not subtract A from B"
        )
    for run_id, known, repeated, unnamed in zip(
        (run_a, run_b), result.plans_known, result.repeated, result.unnamed, strict=True
    ):
        if not known:
            lines.append(f"plan of {run_id}: not recorded, so nothing can be said about what else differs")
        if repeated:
            lines.append(f"{run_id}: {plural(repeated, 'episode')} of problems that it played several times")
        if unnamed:
            lines.append(f"{run_id}: {plural(unnamed, 'episode')} without a seed")
    lines += difference_lines(result.differences)
    return "\n".join(f"- {line}" for line in lines) or "- the plans agree"


def _basis_note(result: ConversationComparison, basis: Basis) -> str:
    if basis == "paired":
        return "equal environment, difficulty and seed; shares: Newcombe's paired interval, means: bootstrap"
    found = result.whole.matched["passed"]
    return (
        f"{plural(found.strata, 'combination')} of environment and difficulty that both played, weighted by "
        f"the smaller n: {found.n_a:,} of {result.whole.n_a:,} episodes of A, {found.n_b:,} of "
        f"{result.whole.n_b:,} of B; shares: Wilson's intervals joined by Newcombe's rule, means: Welch's t "
        "with the spread pooled"
    )


def _cells(group: GroupComparison, name: str, basis: Basis) -> tuple[str, ...]:
    cells: list[str] = []
    for estimates in (group.a, group.b):
        estimate = estimates.get(name)
        if estimate is None:
            cells += ["-", "-", "0"]
        else:
            cells += [f"{estimate.value:.4f}", _told(estimate.interval, ""), str(estimate.n)]
    found = group.difference(name, basis)
    if found is None:
        return (*cells, "-", "-", "0")
    return (*cells, f"{found.value:+.4f}", _told(found.interval, "+"), str(found.n))


def _told(interval: Interval | None, sign: str) -> str:
    return "-" if interval is None else f"[{interval.low:{sign}.4f}, {interval.high:{sign}.4f}]"


def _transitions(result: ConversationComparison) -> str:
    counts = result.whole.transitions
    lines = [
        f"problems: {counts['fixed']} fixed, {counts['broken']} broken, {counts['kept']} kept, "
        f"{counts['never']} never; exact McNemar p = {result.whole.mcnemar_p:.3g}"
    ]
    for name in ("fixed", "broken"):
        problems = _problems(result, name)
        if problems:
            told = [
                " / ".join(dict.fromkeys((p["episode_a"], p["episode_b"])))
                for p in problems[:_SHOWN_PROBLEMS]
            ]
            rest = len(problems) - _SHOWN_PROBLEMS
            lines.append(f"{name}: {', '.join(told)}" + (f" and {rest} more" if rest > 0 else ""))
    return "\n".join(lines)


def _problems(result: ConversationComparison, transition: str) -> list[dict[str, Any]]:
    rows = problem_rows(result, transition, "")
    return [
        {
            "env": str(row["env"]),
            "difficulty": int(row["difficulty"]),
            "seed": int(row["seed"]),
            "episode_a": str(row["episode_id_a"]),
            "episode_b": str(row["episode_id_b"]),
        }
        for row in rows.to_dict("records")
    ]


def _document(
    run_a: str, run_b: str, result: ConversationComparison, gates: Sequence[Gate]
) -> dict[str, Any]:
    """The comparison as JSON (``ecomrlve-comparison-v1``); intervals are ``[low, high]`` or null."""
    whole = result.whole
    return {
        "schema_version": RLVE_COMPARISON_SCHEMA,
        "runs": {"a": run_a, "b": run_b},
        "alignment": {
            "same_problems": {"same": True, "different": False, "unknown": None}[result.kin],
            "plans_known": list(result.plans_known),
            "differences": [asdict(difference) for difference in result.differences],
            "pairs": whole.pairs,
            "episodes": [whole.n_a, whole.n_b],
            "repeated": list(result.repeated),
            "without_seed": list(result.unnamed),
        },
        "difference_direction": "b_minus_a",
        "main_difference": result.basis if result.bases else None,
        "overall": _group(whole),
        "by_env": [{"env": group.env, **_group(group)} for group in result.envs],
        "by_difficulty": [
            {"env": group.env, "difficulty": group.difficulty, **_group(group)} for group in result.levels
        ],
        "fixed_problems": _problems(result, "fixed"),
        "broken_problems": _problems(result, "broken"),
        "gates": [
            {"gate": f"{gate.metric}{gate.sense}{gate.bound:g}", **asdict(_judged(result, gate))}
            for gate in gates
        ],
    }


def _group(group: GroupComparison) -> dict[str, Any]:
    figures = {}
    for name in COMPARED:
        sides: Mapping[str, Any] = {"a": group.a.get(name), "b": group.b.get(name)}
        told = {
            side: None if e is None else {"value": e.value, "interval": _pair(e.interval), "n": e.n}
            for side, e in sides.items()
        }
        matched = _difference(group.difference(name, "matched"))
        if matched is not None:
            found = group.matched[name]
            matched |= {"strata": found.strata, "episodes": [found.n_a, found.n_b]}
        figures[name] = {**told, "paired": _difference(group.difference(name, "paired")), "matched": matched}
    return {
        "episodes": [group.n_a, group.n_b],
        "pairs": group.pairs,
        "transitions": dict(group.transitions),
        "mcnemar_exact_p": group.mcnemar_p if group.pairs else None,
        "q": group.q,
        "figures": figures,
    }


def _difference(found: Difference | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {
        "a": found.mean_a,
        "b": found.mean_b,
        "difference": found.value,
        "interval": _pair(found.interval),
        "n": found.n,
    }


def _pair(interval: Interval | None) -> list[float] | None:
    return None if interval is None else [interval.low, interval.high]
