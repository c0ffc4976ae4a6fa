"""Episodes of the conversation environments a second: played, recorded and replayed.

The baseline, in the same run, is what an episode would cost if nothing were shared: the bundled catalogue
indexed anew for each. Run ``python -m benchmarks.bench_rlve_episodes`` (about a minute).
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path

from benchmarks._timing import best_seconds, line, timed
from shopsim.rlve.agents import OracleAgent, agent_spec
from shopsim.rlve.catalogue import CatalogueSearch
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.rollout import Draw, RunRequest, open_run, play, verify_run
from shopsim.rlve.shop import Shop, open_shop
from shopsim.settings import load_settings

EPISODES = 39
"""Of each environment: three at each difficulty from 0 to 12."""
RUN_EPISODES = 100
MIN_RATIO = 5.0


def main() -> None:
    """Measure and print."""
    settings = load_settings()
    shop, opening = timed(lambda: open_shop(settings))
    line("open the shop", f"{opening:.2f} s")
    total = 0.0
    for name in ENVIRONMENTS:
        _, seconds = timed(partial(_play, shop, name))
        total += seconds
        line(f"{name}: reset to reward, oracle", f"{EPISODES / seconds:.0f} a second")
    mean = total / (EPISODES * len(ENVIRONMENTS))
    line("all eight", f"{1 / mean:.0f} a second")
    index = best_seconds(lambda: CatalogueSearch(shop.catalogue), 3)
    ratio = (index + mean) / mean
    line("unshared / shared episode", f"{ratio:.1f} times", f">= {MIN_RATIO:g}", ratio >= MIN_RATIO)
    with tempfile.TemporaryDirectory() as root:
        _runs(shop, Path(root))


def _play(shop: Shop, name: str) -> None:
    env, agent = shop.new_env(), OracleAgent()
    for number in range(EPISODES):
        record = play(env, agent, Draw(number, name, number % 13, number, None))
        assert record["end"]["correct"], record["end"]


def _runs(shop: Shop, root: Path) -> None:
    request = RunRequest("bench", agent_spec("clerk-trained"), RUN_EPISODES)
    shop = replace(shop, settings=shop.settings.model_copy(update={"collection": "C8"}))
    with open_run(shop, root, request) as run:
        _, seconds = timed(lambda: list(run.play()))
        line("run under the curriculum, on disk", f"{RUN_EPISODES / seconds:.0f} a second")
        size = sum(path.stat().st_size for path in run.folder.iterdir()) / RUN_EPISODES
        line("a record", f"{size / 1024:.1f} KiB")
        checks, again = timed(lambda: list(verify_run(shop, run.folder)))
    assert all(check.identical for check in checks)
    line("replay and compare / play", f"{again / seconds:.2f} times")


if __name__ == "__main__":
    main()
