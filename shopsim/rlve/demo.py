"""The demo runs: a scripted clerk at three stages of skill, the oracle above, chance below.

Nothing here was trained. The manifests say ``provider: scripted``, ``simulated: true``, what each agent may
read, and the clerk's skill parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

from shopsim.formats import RLVE_MANIFEST_SCHEMA
from shopsim.jsonio import FileError, read_json
from shopsim.rlve.errors import DemoError
from shopsim.rlve.runfiles import CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE
from shopsim.rollout.report import RunReport

if TYPE_CHECKING:
    from shopsim.rlve.rollout import RunRequest
    from shopsim.rlve.shop import Shop
    from shopsim.settings import Settings

__all__ = ["DEMO_RUNS", "DEMO_SEED", "demo_is_finished", "run_demo"]

DEMO_SEED: Final = 20260901
DEMO_COLLECTION: Final = "C8"
DEMO_RUNS: Final = {
    "rlve-demo-novice": ("clerk-novice", 240),
    "rlve-demo-trained": ("clerk-trained", 960),
    "rlve-demo-expert": ("clerk-expert", 960),
    "rlve-demo-oracle": ("oracle", 320),
    "rlve-demo-random": ("random", 120),
}
"""Name -> agent and episodes, in the order in which they are listed. 960 episodes take the windows of the
eight environments one or two steps up; more would make the first start of the pages slow."""
_AGAIN: Final = "Run `shopsim rlve demo --force` to make the demo runs again."

Progress = Callable[[Iterable[int], str, int], Iterable[int]]


def demo_is_finished(runs_root: Path) -> bool:
    """Whether every demo run was played to its end, as far as the saved curricula tell."""
    return all(_recorded_episodes(runs_root / name) >= episodes for name, (_, episodes) in DEMO_RUNS.items())


def run_demo(
    settings: Settings, *, force: bool = False, concurrency: int = 1, progress: Progress | None = None
) -> list[RunReport]:
    """Play what is missing of the demo (with ``force`` everything) on the catalogue of the settings.

    Each run is played by one process, at most ``concurrency`` at a time; what is played does not depend on
    it. All folders are checked before any run starts. Raises :class:`DemoError`,
    :class:`~shopsim.rollout.manifest.PlanMismatchError` for runs on another catalogue or of another version,
    and :class:`~shopsim.locking.RunLockedError` when someone else writes them.
    """
    from shopsim.rlve.demo_play import play_here, play_in_processes
    from shopsim.rlve.rollout import summarize_run
    from shopsim.rlve.shop import open_shop

    if force:
        _clear(settings.runs_root)
    rlve = settings.rlve.model_copy(update={"collection": DEMO_COLLECTION})
    shop = open_shop(settings, rlve)
    kept = {request.experiment: _check(shop, settings.runs_root, request) for request in demo_requests()}
    missing = [request for request in demo_requests() if not _is_finished(settings.runs_root, request, kept)]
    missing.sort(key=lambda request: kept[request.experiment] - request.episodes)  # the longest first
    workers = min(concurrency, len(missing))
    if workers > 1:
        playing = play_in_processes(settings.model_copy(update={"rlve": rlve}), missing, workers)
    else:
        playing = play_here(shop, settings.runs_root, missing)
    with closing(playing):
        pending = sum(_left(request, kept) for request in missing)
        for _ in progress(playing, "conversation demo", pending) if progress else playing:
            pass
    reports = []
    for request in demo_requests():
        folder = settings.runs_root / request.experiment
        summary = summarize_run(folder)
        played = _left(request, kept)
        reports.append(RunReport(request.experiment, folder, played, kept[request.experiment], summary))
    return reports


def demo_requests() -> list[RunRequest]:
    """The runs of the demo, each under the adaptive curriculum, episode by episode."""
    from shopsim.rlve.agents import agent_spec
    from shopsim.rlve.rollout import RunRequest

    return [
        RunRequest(name, agent_spec(agent), episodes, DEMO_SEED)
        for name, (agent, episodes) in DEMO_RUNS.items()
    ]


def _check(shop: Shop, runs_root: Path, request: RunRequest) -> int:
    """How many episodes of a run are there already. Raises when its folder holds anything else."""
    from shopsim.rlve.rollout import open_run

    with open_run(shop, runs_root, request, resume=True, mend=_AGAIN) as run:
        return run.kept


def _left(request: RunRequest, kept: Mapping[str, int]) -> int:
    """Episodes to play; none where somebody made the run longer."""
    return max(0, request.episodes - kept[request.experiment])


def _is_finished(runs_root: Path, request: RunRequest, kept: Mapping[str, int]) -> bool:
    """Whether all episodes are there and the curriculum knows them: one may be cut off between."""
    saved = _recorded_episodes(runs_root / request.experiment)
    return not _left(request, kept) and saved >= request.episodes


def _recorded_episodes(folder: Path) -> int:
    try:
        state = read_json(folder / CURRICULUM_FILE)
    except FileError:
        return 0
    episodes = state.get("episodes") if isinstance(state, dict) else None
    return episodes if isinstance(episodes, int) else 0


def _clear(runs_root: Path) -> None:
    from shopsim.rollout.clearing import clear_scripted_runs

    clear_scripted_runs(
        [runs_root / name for name in DEMO_RUNS],
        (CURRICULUM_FILE, EPISODES_FILE, MANIFEST_FILE),
        manifest=MANIFEST_FILE,
        schema=RLVE_MANIFEST_SCHEMA,
        error=DemoError,
    )
