"""Runs with traces of the shape of the three published behaviour cases (spec 04 E)."""

from __future__ import annotations

from pathlib import Path

from tests.factories.episodes import Episode
from tests.factories.traces import write_run

__all__ = ["BASE", "ITER80", "write_published_cases"]

BASE, ITER80 = "base", "iter80"


def write_published_cases(root: Path) -> tuple[Path, Path]:
    """Write the runs :data:`BASE` and :data:`ITER80` below ``root`` with an episode of each case.

    Task 1828: 25 steps against 4. Task 3538: 30 steps with 21 invalid actions against 4. Task 4359: 4 steps
    against 30 with 12 repairs.
    """
    base = [_wandering(1828), _refused(3538), _direct(4359, r_option=0.5)]
    iter80 = [_direct(1828), _direct(3538), _repairing(4359)]
    return (
        write_run(root / BASE, [episode.record() for episode in base], checkpoint="base"),
        write_run(root / ITER80, [episode.record() for episode in iter80], checkpoint="iter80"),
    )


def _direct(task_id: int, r_option: float = 1.0) -> Episode:
    """Four steps: search, open, choose, buy."""
    episode = Episode(task_id).search(f"型号{task_id}").open(task_id)
    return episode.select("颜色分类", "月光白").buy(r_option=r_option)


def _wandering(task_id: int) -> Episode:
    """Twenty-five steps: three searches, neighbours opened again, options tried out, then bought."""
    episode = Episode(task_id)
    for number, query in enumerate(("家用 迷你", "家用  迷你", "型号")):
        episode.search(query).open(task_id + 1).back("< prev").open(task_id + 2)
        episode.back("< prev").paginate(2)
        if number < 2:
            episode.back()
    episode.paginate(1).open(task_id)
    episode.select("尺码", "S").select("尺码", "M").buy(r_att=0.5)
    return episode


def _refused(task_id: int) -> Episode:
    """Thirty steps, 21 of them refused, until the limit."""
    episode = Episode(task_id).search("加厚 家用")
    for _ in range(4):
        episode.open(task_id + 3)
        for _ in range(5):
            episode.invalid("click[buy now]", "incomplete_options")
        episode.back("< prev")
    return episode.invalid("search[加厚]", "search_unavailable").end("action_limit")


def _repairing(task_id: int) -> Episode:
    """Thirty steps, 12 of them broken tool calls, until the limit."""
    episode = Episode(task_id).search("轻薄")
    for number in range(6):
        episode.protocol_error("tool_call_count").open(task_id + number).protocol_error().back("< prev")
    for _ in range(5):
        episode.open(task_id)
    return episode.end("action_limit")
