"""Run every benchmark, or those whose topics are named: ``python -m benchmarks [search env ...]``."""

from __future__ import annotations

import sys
from importlib import import_module
from pathlib import Path


def main(topics: list[str]) -> int:
    """Run ``bench_<topic>`` for each topic (all when none is named), each under its own heading."""
    known = sorted(path.stem.removeprefix("bench_") for path in Path(__file__).parent.glob("bench_*.py"))
    if unknown := [topic for topic in topics if topic not in known]:
        sys.stderr.write(f"error: no benchmark {', '.join(unknown)}. Known: {', '.join(known)}.\n")
        return 2
    for topic in topics or known:
        module = import_module(f"benchmarks.bench_{topic}")
        heading = (module.__doc__ or "").strip().splitlines()
        print(f"\n== {topic}: {heading[0] if heading else ''}")
        module.main()
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
