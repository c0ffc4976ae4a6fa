"""Step 5, part 3: train, val and test of whole groups in exact sizes (``shopsimrl-persona-splits-v1``)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from shopsim.formats import SPLITS_SCHEMA
from shopsim.jsonio import sha256_text
from shopsim.pipeline.errors import PipelineError
from shopsim.pipeline.groups import TaskGroup, connect_tasks
from shopsim.pipeline.identity import RawTask
from shopsim.pipeline.links import LINK_KINDS, task_links
from shopsim.settings import SplitSettings

__all__ = ["ProjectSplits", "build_project_splits", "ids_sha256", "split_groups"]

_FILL_ORDER: Final = ("test", "val")
_NAMES: Final = ("train", "val", "test")


@dataclass(frozen=True, slots=True)
class ProjectSplits:
    """The groups of each split. ``task_ids(name)`` is ascending."""

    groups: Mapping[str, tuple[TaskGroup, ...]]

    def task_ids(self, name: str) -> list[int]:
        """The ids of one split, ascending."""
        return sorted(task_id for group in self.groups[name] for task_id in group.task_ids)

    @property
    def sizes(self) -> dict[str, int]:
        """Tasks a split."""
        return {name: sum(map(len, self.groups[name])) for name in _NAMES}


def ids_sha256(task_ids: Iterable[int]) -> str:
    """The hex SHA-256 of comma-joined ids."""
    return sha256_text(",".join(map(str, task_ids)))


def split_groups(groups: Sequence[TaskGroup], settings: SplitSettings) -> ProjectSplits:
    """Assign whole ``groups``: test first, then val, the rest is train.

    Groups compete in the order of SHA-256(``"{seed}:{split}:{group_id}"``); those above
    ``max_group_size`` stay in train. Raises :class:`PipelineError` when a size cannot be met exactly.
    """
    left = list(groups)
    chosen: dict[str, tuple[TaskGroup, ...]] = {}
    for name in _FILL_ORDER:
        candidates = [group for group in left if len(group) <= settings.max_group_size]
        candidates.sort(
            key=lambda group: (sha256_text(f"{settings.seed}:{name}:{group.group_id}"), group.task_ids)
        )
        chosen[name] = _fill(candidates, getattr(settings, name), name)
        taken = {group.task_ids for group in chosen[name]}
        left = [group for group in left if group.task_ids not in taken]
    return ProjectSplits({"train": tuple(left), "val": chosen["val"], "test": chosen["test"]})


def _fill(candidates: Sequence[TaskGroup], target: int, name: str) -> tuple[TaskGroup, ...]:
    """Take groups in order until exactly ``target`` tasks are reached.

    A group is passed over when it does not fit, or when the later ones could no longer fill what it leaves;
    where taking every group that fits works out, that is what this does. ``reachable[i]`` has bit ``n`` set
    when some of the groups from ``i`` on hold exactly ``n`` tasks.
    """
    within = (1 << (target + 1)) - 1
    reachable = [1]
    for group in reversed(candidates):
        reachable.append((reachable[-1] | reachable[-1] << len(group)) & within)
    reachable.reverse()
    if not reachable[0] >> target & 1:
        raise PipelineError(
            f"splits.{name}: {target} tasks wanted, but whole groups of related tasks fill at most "
            f"{reachable[0].bit_length() - 1} of them",
            hint=f"Change splits.{name} or splits.max_group_size in configs/shopsim.toml.",
        )
    taken = []
    missing = target
    for position, group in enumerate(candidates):
        rest = missing - len(group)
        if rest >= 0 and reachable[position + 1] >> rest & 1:
            taken.append(group)
            missing = rest
    return tuple(taken)


def build_project_splits(
    tasks: Sequence[RawTask], settings: SplitSettings, product_data_sha256: str
) -> tuple[ProjectSplits, dict[str, Any]]:
    """Split the persona tasks among ``tasks``; the second value is ``persona_splits.v1.json``."""
    persona = [task for task in tasks if task.is_persona]
    groups = connect_tasks(persona)
    splits = split_groups(groups, settings)
    checks = _checks(persona, splits, settings)
    if failed := [name for name, passed in checks.items() if not passed]:
        raise PipelineError(f"project splits: check failed: {', '.join(failed)}")
    entries = {}
    for name in _NAMES:
        ids = splits.task_ids(name)
        entries[name] = {"task_ids": ids, "count": len(ids), "sha256": ids_sha256(ids)}
    document = {
        "schema_version": SPLITS_SCHEMA,
        "product_data_sha256": product_data_sha256,
        "policy": _policy(settings),
        "seed": settings.seed,
        "statistics": _statistics(groups, splits, settings),
        "splits": entries,
        "checks": checks,
    }
    return splits, document


def _policy(settings: SplitSettings) -> dict[str, Any]:
    return {
        "population": "every persona task of the cleaned catalogue",
        "connected_by": list(LINK_KINDS),
        "text_keys": "NFKC, casefold, white space folded",
        "user_id": "as a text key, trailing commas dropped",
        "persona": "SHA-256 of the canonical JSON without __reasoning__",
        "group_id": "group- and 16 hex digits of SHA-256(comma-joined ids)",
        "fill": "whole groups; test, then val, the rest is train",
        "order": "SHA-256(seed:split:group_id)",
        "ids_sha256": "SHA-256(comma-joined ids)",
        "max_group_size": settings.max_group_size,
        "targets": {"test": settings.test, "val": settings.val},
    }


def _statistics(
    groups: Sequence[TaskGroup], splits: ProjectSplits, settings: SplitSettings
) -> dict[str, Any]:
    sizes = Counter(map(len, groups))
    oversize = {size: count for size, count in sizes.items() if size > settings.max_group_size}
    return {
        "tasks": sum(map(len, groups)),
        "groups": len(groups),
        "largest_group": max(sizes, default=0),
        "oversize_groups": sum(oversize.values()),
        "oversize_tasks": sum(size * count for size, count in oversize.items()),
        "groups_by_size": {str(size): sizes[size] for size in sorted(sizes)},
        "groups_by_split": {name: len(splits.groups[name]) for name in _NAMES},
    }


def _checks(tasks: Sequence[RawTask], splits: ProjectSplits, settings: SplitSettings) -> dict[str, bool]:
    """Check the result against the tasks themselves, not against the groups that produced it."""
    owner: dict[int, str] = {}
    listed = 0
    for name in _NAMES:
        for task_id in splits.task_ids(name):
            owner[task_id] = name
            listed += 1
    homes: dict[tuple[str, str], set[str]] = {}
    for task in tasks:
        for link in task_links(task):
            homes.setdefault(link, set()).add(owner.get(task.task_id, ""))
    separated = {kind for (kind, _), names in homes.items() if len(names) > 1}
    return {
        "every_task_once": owner.keys() == {task.task_id for task in tasks} and listed == len(owner),
        "exact_sizes": splits.sizes["test"] == settings.test and splits.sizes["val"] == settings.val,
        **{f"no_{kind}_in_two_splits": kind not in separated for kind in LINK_KINDS},
    }
