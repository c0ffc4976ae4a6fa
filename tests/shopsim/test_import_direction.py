"""Data walks forward through the rooms; who must not know whom is spec 07's table, read from the source."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]

# Room -> what it must not import (a prefix of the dotted name).
FORBIDDEN = {
    "shopsim": ("dashboard", "streamlit", "duckdb", "plotly"),
    "shopsim/catalog": (
        "shopsim.tasks",
        "shopsim.search",
        "shopsim.env",
        "shopsim.rollout",
        "shopsim.pipeline",
        "shopsim.service",
        "shopsim.engine",
    ),
    "shopsim/tasks": (
        "shopsim.env.session",
        "shopsim.env.observation",
        "shopsim.env.pages",
        "shopsim.env.render",
        "shopsim.env.shop_env",
        "shopsim.rollout",
        "shopsim.pipeline",
        "shopsim.service",
        "shopsim.engine",
    ),
    "shopsim/search": (
        "shopsim.tasks",
        "shopsim.env",
        "shopsim.rollout",
        "shopsim.pipeline",
        "shopsim.service",
        "shopsim.engine",
    ),
    "shopsim/env": (
        "shopsim.rollout",
        "shopsim.pipeline",
        "shopsim.service",
        "shopsim.engine",
        "starlette",
        "uvicorn",
        "sqlite3",
    ),
    "shopsim/rollout": ("shopsim.service", "shopsim.pipeline", "starlette", "uvicorn", "pandas"),
    "shopsim/rlve": (
        "shopsim.tasks",
        "shopsim.env",
        "shopsim.pipeline",
        "shopsim.service",
        "shopsim.engine",
        "shopsim.cli",
        "starlette",
        "uvicorn",
        "pandas",
    ),
    "shopsim/service": ("shopsim.rollout", "shopsim.pipeline"),
    "shopsim/pipeline": ("shopsim.env", "shopsim.rollout", "shopsim.service", "shopsim.engine"),
    "dashboard/lake": ("streamlit", "plotly"),
    "dashboard/analysis": ("streamlit", "plotly", "duckdb", "dashboard.lake", "dashboard.pages"),
    "dashboard/charts": ("streamlit", "duckdb", "dashboard.lake", "dashboard.pages"),
    "dashboard/pages": ("duckdb", "scipy", "sqlite3"),
    "dashboard/review": ("streamlit", "dashboard.pages"),
}

# The agent-facing packages start without what only a few commands need.
HEAVY = {"spacy", "numpy", "scipy", "pandas"}


def imported_names(path: Path) -> Iterator[tuple[str, int]]:
    """Every module that a file imports anywhere, with its line; ``from a import b`` gives a and a.b."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from ((alias.name, node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}:{node.lineno}: relative import"
            base = node.module or ""
            yield base, node.lineno
            yield from ((f"{base}.{alias.name}", node.lineno) for alias in node.names)


def violations(room: str, forbidden: tuple[str, ...], project: Path = PROJECT) -> list[str]:
    found = []
    for path in sorted((project / room).rglob("*.py")):
        for name, line in imported_names(path):
            if any(name == banned or name.startswith(f"{banned}.") for banned in forbidden):
                found.append(f"{path.relative_to(project)}:{line}: imports {name}")
    return sorted(set(found))


@pytest.mark.parametrize("room", FORBIDDEN)
def test_a_room_knows_only_what_it_may(room: str) -> None:
    assert violations(room, FORBIDDEN[room]) == []


def test_the_pages_hold_no_sql() -> None:
    pages = (PROJECT / "dashboard" / "pages").rglob("*.py")
    assert [str(page) for page in pages if "SELECT " in page.read_text(encoding="utf-8")] == []


def test_importing_the_environment_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    script = "import sys, shopsim.env, shopsim.tasks; print(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert HEAVY & set(done.stdout.split()) == set()


def test_a_wrong_import_would_be_seen(tmp_path: Path) -> None:
    folder = tmp_path / "shopsim" / "search"
    folder.mkdir(parents=True)
    (folder / "bad.py").write_text("def f():\n    from shopsim.tasks import goals\n", encoding="utf-8")
    found = violations("shopsim/search", FORBIDDEN["shopsim/search"], tmp_path)
    assert found == [
        "shopsim/search/bad.py:2: imports shopsim.tasks",
        "shopsim/search/bad.py:2: imports shopsim.tasks.goals",
    ]
