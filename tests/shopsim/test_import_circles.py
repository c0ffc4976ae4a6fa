"""No module imports, however indirectly, a module that imports it: read from the source of both packages.

Every import counts, also one inside a function or for types alone. A name that a package only passes on is
followed to the module that defines it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from functools import cached_property
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import NamedTuple

PROJECT = Path(__file__).resolve().parents[2]


class Imported(NamedTuple):
    """``import module`` (name None) or ``from module import name``; ``known_as`` is its name here."""

    module: str
    name: str | None
    known_as: str


class Module:
    """A file and what it imports."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.is_package = path.name == "__init__.py"

    @cached_property
    def imports(self) -> tuple[Imported, ...]:
        tree = ast.parse(self.path.read_text(encoding="utf-8"), filename=str(self.path))
        return tuple(found for node in ast.walk(tree) for found in _imports(node))


def _imports(node: ast.AST) -> Iterator[Imported]:
    if isinstance(node, ast.Import):
        yield from (Imported(alias.name, None, alias.asname or alias.name) for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        assert node.module and not node.level, f"line {node.lineno}: relative import"
        yield from (Imported(node.module, alias.name, alias.asname or alias.name) for alias in node.names)


def read_modules(project: Path, packages: tuple[str, ...]) -> dict[str, Module]:
    """Every module of the packages by its dotted name."""
    modules = {}
    for path in (path for package in packages for path in sorted((project / package).rglob("*.py"))):
        parts = path.relative_to(project).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = Module(path)
    return modules


def definer(modules: Mapping[str, Module], module: str, name: str | None) -> str | None:
    """The module that an import is about; None when it is none of ours."""
    if module not in modules or name is None:
        return module if module in modules else None
    if f"{module}.{name}" in modules:
        return f"{module}.{name}"
    if modules[module].is_package:
        for passed_on in modules[module].imports:
            if passed_on.known_as == name and passed_on.module != module:
                return definer(modules, passed_on.module, passed_on.name) or module
    return module


def circles(modules: Mapping[str, Module]) -> list[str]:
    """Circles that together hold every one: without one import of each, no other is left."""
    graph = {
        name: {of for one in module.imports if (of := definer(modules, one.module, one.name))} - {name}
        for name, module in modules.items()
    }
    found: list[str] = []
    while True:
        try:
            TopologicalSorter(graph).prepare()
        except CycleError as error:
            circle = error.args[1][::-1]  # graphlib tells it from the imported to the importing module
            found.append(" -> ".join(circle))
            graph[circle[0]].discard(circle[1])
        else:
            return found


def test_no_module_imports_one_that_imports_it() -> None:
    modules = read_modules(PROJECT, ("shopsim", "dashboard"))
    assert len(modules) > 500
    assert circles(modules) == []


def write(project: Path, sources: Mapping[str, str]) -> dict[str, Module]:
    """A package ``p`` with the given files."""
    for name, source in {"__init__.py": "", **sources}.items():
        path = project / "p" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")
    return read_modules(project, ("p",))


def test_imports_in_functions_and_for_types_count(tmp_path: Path) -> None:
    late = "def f():\n    from p.c import g\n"
    typed = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import p.a\n"
    sources = {"a.py": "import json\nimport p.b\n", "b.py": late, "c.py": typed, "d.py": "import p.a\n"}
    (circle,) = circles(write(tmp_path, sources))
    assert circle in ("p.a -> p.b -> p.c -> p.a", "p.b -> p.c -> p.a -> p.b", "p.c -> p.a -> p.b -> p.c")


def test_each_of_two_circles_is_named(tmp_path: Path) -> None:
    one = {"a.py": "import p.b\n", "b.py": "import p.a\n"}
    other = {"c.py": "from p import d\n", "d.py": "from p.c import x\n"}
    found = circles(write(tmp_path, {**one, **other}))
    assert sorted(sorted(set(circle.split(" -> "))) for circle in found) == [["p.a", "p.b"], ["p.c", "p.d"]]


def test_a_name_that_a_package_passes_on_is_its_definers(tmp_path: Path) -> None:
    passing = "from p.sub.low import one as two\nfrom p.sub.high import three\n"
    sources = {
        "sub/__init__.py": passing,
        "sub/low.py": "one = 1\n",
        "sub/high.py": "from p.sub import two\nthree = 3\n",
    }
    modules = write(tmp_path, sources)
    assert definer(modules, "p.sub", "two") == "p.sub.low"
    assert circles(modules) == []
    defining = {
        "sub/__init__.py": f"{passing}four = 4\n",
        "sub/high.py": "from p.sub import four\nthree = 3\n",
    }
    assert len(circles(write(tmp_path, {**sources, **defining}))) == 1
