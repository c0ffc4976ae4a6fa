"""A comparison as text for a terminal, or as Markdown for a report."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from dashboard.analysis.compare.catalogues import family_warning
from dashboard.analysis.compare.slices import SLICES

if TYPE_CHECKING:
    from dashboard.analysis.compare import MetricComparison, PlanDifference
    from dashboard.lake.pairs import RunComparison

__all__ = ["describe", "difference_lines", "text_table"]

_COUNTS: Final = frozenset(
    {"steps", "prompt_tokens", "completion_tokens", "total_tokens", "reasoning_tokens", "duration_ms"}
)
_SHOWN_TASKS: Final = 12


def describe(result: RunComparison, *, markdown: bool = False) -> str:
    """The whole comparison, B minus A, differences of the plans first."""
    comparison, pairing = result.comparison, result.pairing
    name_a, name_b = result.names
    title = f"{name_b} against {name_a}: {comparison.pairs} paired tasks"
    blocks = [f"## {title}" if markdown else title, _alignment(result)]
    rows = [_metric_row(metric) for metric in comparison.metrics]
    heads = ("metric", "n", "A", "B", "B - A", "95% interval", "more tasks needed")
    blocks.append(text_table(heads, rows, markdown))
    counts = comparison.transitions
    blocks.append(
        f"success: {counts['fixed']} fixed, {counts['broken']} broken, {counts['kept']} kept, "
        f"{counts['never']} never; exact McNemar p = {comparison.mcnemar_p:.3g}"
    )
    for name in ("fixed", "broken"):
        tasks = pairing.pairs.loc[pairing.pairs["transition"] == name, "task_id"].tolist()
        if tasks:
            more = f" and {len(tasks) - _SHOWN_TASKS} more" if len(tasks) > _SHOWN_TASKS else ""
            blocks[-1] += f"\n{name}: {', '.join(map(str, tasks[:_SHOWN_TASKS]))}{more}"
    if comparison.slices:
        slices = [
            (
                SLICES.get(s.dimension, s.dimension),
                s.value,
                str(s.n),
                f"{s.success_a:.1%}",
                f"{s.success_b:.1%}",
                f"{100 * s.difference:+.1f} points",
                f"{s.q:.3g}",
            )
            for s in comparison.slices
        ]
        blocks.append(text_table(("slice", "value", "n", "A", "B", "success B - A", "q"), slices, markdown))
        blocks.append(
            "q: exact sign-flip (McNemar) p-values after Benjamini-Hochberg over all slices; "
            "difficulty is told by other policies on the same catalogue."
        )
    return "\n\n".join(block for block in blocks if block)


def _alignment(result: RunComparison) -> str:
    pairing = result.pairing
    lines = [told] if (told := family_warning(result.kin, result.run_a, result.run_b)) else []
    for known, run_id in zip(result.plans_known, (result.run_a, result.run_b), strict=True):
        if not known:
            lines.append(f"plan of {run_id}: not recorded, so nothing can be said about what else differs")
    lines += difference_lines(result.differences)
    for frame, text in (
        (pairing.only_a, f"only in {result.run_a}"),
        (pairing.only_b, f"only in {result.run_b}"),
        (pairing.unscored, "not scored on one side"),
    ):
        if len(frame):
            lines.append(f"{len(frame)} tasks {text}: left out")
    return "\n".join(f"- {line}" for line in lines) or "- the plans agree, every task is paired"


def difference_lines(differences: Sequence[PlanDifference]) -> list[str]:
    """One line a setting in which two plans differ."""
    labels = {
        "confounder": "differs besides what is compared",
        "subject": "compared",
        "irrelevant": "harmless",
    }
    return [f"{d.field}: {d.a!r} -> {d.b!r} ({labels[d.role]})" for d in differences]


def _metric_row(metric: MetricComparison) -> tuple[str, ...]:
    decimals = 1 if metric.metric in _COUNTS else 4
    interval = metric.interval
    return (
        metric.metric,
        str(metric.n),
        f"{metric.mean_a:,.{decimals}f}",
        f"{metric.mean_b:,.{decimals}f}",
        f"{metric.difference:+,.{decimals}f}",
        f"[{interval.low:+,.{decimals}f}, {interval.high:+,.{decimals}f}]" if interval else "-",
        f"{metric.more_tasks:,}" if metric.more_tasks else "",
    )


def text_table(heads: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> str:
    """Rows of texts under their heads, in columns or as a Markdown table."""
    if markdown:
        lines = ["| " + " | ".join(heads) + " |", "|" + "---|" * len(heads)]
        return "\n".join([*lines, *("| " + " | ".join(_cell(text) for text in row) + " |" for row in rows)])
    widths = [max(len(line[column]) for line in [heads, *rows]) for column in range(len(heads))]
    return "\n".join(
        "  ".join(text.ljust(width) for text, width in zip(line, widths, strict=True)).rstrip()
        for line in [heads, *rows]
    )


def _cell(text: str) -> str:
    """Data inside a Markdown table: nothing may start markup or end the cell."""
    return "".join(f"\\{character}" if character in "\\|*_`[]<>" else character for character in text)
