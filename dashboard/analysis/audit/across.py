"""Rules about all runs of the roots together."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from dashboard.analysis.audit.facts import MANIFEST, RootFacts
from dashboard.analysis.audit.finding import Observation, Place, Registry

__all__ = ["ROOT_RULES"]

ROOT_RULES: Final[Registry[RootFacts]] = Registry()


@ROOT_RULES.rule("Mixed title-term extractors", "warning")
def term_extractors_mixed(roots: RootFacts) -> Iterator[Observation]:
    """Runs of one root whose title terms come from different extractors: r_type may differ between them."""
    for root, extractors in roots.term_extractors.items():
        names = sorted(set(extractors.values()))
        if len(names) > 1:
            yield Observation(
                f"Title terms were extracted in different ways: {', '.join(names)}. "
                "Rewards of these runs are not quite comparable.",
                f"{root}: {MANIFEST}",
                "Run both sides of a comparison with one extractor (zh_core_web_sm, or the fallback).",
                tuple(Place(f"{run}: {name}") for run, name in sorted(extractors.items())),
                field="plan.environment.term_extractor",
            )


@ROOT_RULES.rule("Place not looked into", "error")
def place_unreadable(roots: RootFacts) -> Iterator[Observation]:
    """Roots that do not exist, folders below them that cannot be read, bundles with broken files."""
    if roots.problems:
        yield Observation(
            "Not every place could be looked into: runs may be missing.",
            "roots",
            "Name existing folders and give read permission.",
            tuple(Place(problem) for problem in roots.problems),
        )


@ROOT_RULES.rule("Folder without a run", "info")
def folder_without_run(roots: RootFacts) -> Iterator[Observation]:
    """Folders directly below a root that hold files but no run, training round or bundle."""
    if roots.idle_folders:
        yield Observation(
            "Folders among the runs in which none was found: abandoned, named otherwise, or too deep.",
            "roots",
            "Look into them. A run has a manifest.json, traces.jsonl or summary.json (of conversations: an "
            "rlve_manifest.json or rlve_episodes.jsonl), at most five folders below its root; "
            "what was given up may be deleted.",
            tuple(Place(str(folder)) for folder in roots.idle_folders),
        )
