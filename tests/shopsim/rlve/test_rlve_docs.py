"""``docs/ecomrlve.md`` holds: its tables are what the code has, its examples are played."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, get_args

import pytest
import typer

from shopsim.cli import rlve as commands
from shopsim.rlve import ACTION_SCHEMA, COLLECTIONS, Curriculum, Difficulty, RlveEnv
from shopsim.rlve.agents import agent_names
from shopsim.rlve.catalogue import load_catalogue
from shopsim.rlve.catalogue.rows import FIELDS, ColumnMapping
from shopsim.rlve.collections import ENVIRONMENTS
from shopsim.rlve.episode import Termination
from shopsim.rlve.reward import Violation
from shopsim.rlve.shop import Shop
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.tools import tool_specs
from shopsim.rlve.user import UserAct
from shopsim.settings import RlveSettings
from tests.factories.rlve_runs import content, request, run

TEXT = (Path(__file__).parents[3] / "docs" / "ecomrlve.md").read_text(encoding="utf-8")
DIFFICULTIES = range(13)


def section(title: str) -> str:
    """The text under a heading, down to the next one of its level or above."""
    level = len(re.search(rf"^(#+) {re.escape(title)}$", TEXT, re.M)[1])  # type: ignore[index]
    start = re.search(rf"^#+ {re.escape(title)}$", TEXT, re.M).end()  # type: ignore[union-attr]
    following = re.search(rf"^#{{1,{level}}} ", re.sub(r"```.*?```", blank, TEXT[start:], flags=re.S), re.M)
    return TEXT[start : start + following.start()] if following else TEXT[start:]


def blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def blocks(text: str, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.M | re.S)


def quotes(text: str) -> list[str]:
    found = re.findall(r"(?:^> .*\n)+", text, re.M)
    return [" ".join(line.removeprefix("> ") for line in quote.splitlines()) for quote in found]


def rows(text: str, heading: str) -> list[list[str]]:
    """Cells of the table whose first column has that heading."""
    table = re.search(rf"^\| {re.escape(heading)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.M)
    assert table, f"no table {heading!r}"
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table[1].splitlines()]


def names(cells: Sequence[Sequence[str]], column: int = 0) -> list[str]:
    """What stands in code marks in a column, in order."""
    return [name for row in cells for name in re.findall(r"`([^`]+)`", row[column])]


def after(marker: str) -> str:
    return TEXT.split(f"<!-- {marker} -->\n\n")[1].split("\n\n")[0]


def difficulty_table() -> str:
    axes = [field.name for field in fields(Difficulty) if field.name != "d"]
    lines = [f"| d | {' | '.join(axes)} |", "|---:" * (len(axes) + 1) + "|"]
    for d in DIFFICULTIES:
        values = [getattr(Difficulty.of(d), axis) for axis in axes]
        cells = [f"{value:.3f}" if isinstance(value, float) else str(value) for value in values]
        lines.append(f"| {d} | {' | '.join(cells)} |")
    return "\n".join(lines)


def tools_table() -> str:
    lines = ["| tool | arguments | does |", "|---|---|---|"]
    for spec in tool_specs():
        function = spec["function"]
        required = function["parameters"].get("required", [])
        given = function["parameters"].get("properties", {})
        arguments = ", ".join(f"`{name}{'' if name in required else '?'}`" for name in given)
        lines.append(f"| `{function['name']}` | {arguments} | {function['description']} |")
    return "\n".join(lines)


def test_the_difficulty_table_is_what_the_code_computes() -> None:
    assert after("difficulty") == difficulty_table()
    axes = names(rows(section("Difficulty"), "axis"))
    assert axes == [field.name for field in fields(Difficulty) if field.name != "d"]


def test_the_tools_are_those_of_the_schemas() -> None:
    assert after("tools") == tools_table()


@pytest.mark.parametrize(
    ("title", "heading", "known"),
    [
        ("Episode", "termination", get_args(Termination)),
        ("Reward", "violation", get_args(Violation)),
        ("The simulated user", "act", [str(act.value) for act in UserAct]),
        ("Action", "field", ACTION_SCHEMA["properties"]),
        ("Action", "field of `answer`", ACTION_SCHEMA["$defs"]["Answer"]["properties"]),
        ("Catalogue", "field", FIELDS),
        ("Settings", "setting", RlveSettings.model_fields),
        ("Agents and models", "agent", [*agent_names(), "openai"]),
    ],
)
def test_every_name_is_listed(title: str, heading: str, known: Sequence[str]) -> None:
    assert sorted(names(rows(section(title), heading))) == sorted(known)


def test_every_command_is_listed() -> None:
    app = typer.Typer()
    commands.register(app)
    group = app.registered_groups[0].typer_instance
    assert group is not None
    known = [command.name for command in group.registered_commands]
    assert sorted(names(rows(section("Start"), "command"))) == sorted(filter(None, known))
    shown = re.findall(r"shopsim rlve ([a-z]+)", TEXT)
    assert set(shown) <= set(known)


def test_defaults_and_collections_are_those_of_the_code() -> None:
    settings = RlveSettings().model_dump(mode="json")
    for setting, default, _ in rows(section("Settings"), "setting"):
        assert json.loads(default.strip("`")) == settings[setting.strip("`")]
    listed = {name: tuple(envs.split(", ")) for name, envs in rows(section("Curriculum"), "collection")}
    assert listed == dict(COLLECTIONS)


def test_fields_of_a_catalogue_are_needed_or_not_as_listed() -> None:
    listed = {row[0].strip("`"): row[2] == "error" for row in rows(section("Catalogue"), "field")}
    assert listed == {name: ColumnMapping().default(name) is None for name in FIELDS}


def test_every_environment_has_a_section_and_its_figures(rlve_shop: Shop) -> None:
    env = rlve_shop.new_env()
    for cells in rows(section("The eight environments"), "id"):
        name = cells[0]
        env.reset(4, name, 6)
        for action in env.solution():
            result = env.step(action.model_dump())
        parts = list(result.info["verdict"]["parts"])
        if name != "JOURNEY":
            assert names([cells], 1) == parts
        else:
            assert all(part.split(".")[0] in ENVIRONMENTS for part in parts)
        assert re.search(rf"^### {name}\b.*\n\n- \*\*Asked\*\*", TEXT, re.M)
    assert [cells[0] for cells in rows(section("The eight environments"), "id")] == list(ENVIRONMENTS)


def test_the_worked_example_is_what_the_engine_says(rlve_shop: Shop) -> None:
    text = section("A worked example")
    opening, clarified = quotes(text)
    actions = [json.loads(block) for block in blocks(text, "json")]
    env = rlve_shop.new_env()
    observation = env.reset(9, "CART", 2)
    assert f"{observation['max_turns']} {observation['tool_calls_per_turn']}" == "5 2"
    assert observation["conversation"][-1]["content"] == opening
    first, second, last = [env.step(json.dumps(action)) for action in actions]
    assert (first.observation["conversation"][-1]["content"], first.info["user_act"]) == (
        clarified,
        "clarify",
    )
    assert second.info["user_act"] == "continue"
    assert second.observation["conversation"][-1]["role"] == "tool"
    silicone = second.observation["tool_results"][0]["content"]["variants"][-1]
    assert (silicone["variant_id"], silicone["value"]) == ("P0002624-V3", "Silicone")
    assert last.info == json.loads(blocks(text, "text")[0])
    listed = names(rows(section("Observation"), "field"))
    assert sorted(listed) == sorted(observation)


def test_the_python_examples_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs" / "shopsim.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHOPSIM_HOME", raising=False)
    scope: dict[str, Any] = {}
    text = section("Python")
    programs, printed = blocks(text, "python"), blocks(text, "text")
    assert len(programs) == len(printed) == 2
    for program, expected in zip(programs, printed, strict=True):
        exec(compile(program, "docs/ecomrlve.md", "exec"), scope)
        assert capsys.readouterr().out == expected
    assert isinstance(scope["env"], RlveEnv)
    assert isinstance(scope["curriculum"], Curriculum)


def test_a_task_of_somebody_joins_as_written(rlve_shop: Shop) -> None:
    class MyTask(type(TASKS["CART"])):  # type: ignore[misc]
        id = "MINE"

        def generate(self, *arguments: Any) -> Any:
            return replace(super().generate(*arguments), env="MINE")

    written = re.search(r"by `(RlveEnv\(.*?\))`, `TASKS`", TEXT.replace("\n", " "))
    assert written
    names_in_it = {"shop": rlve_shop, "MyTask": MyTask, "TASKS": TASKS}
    env = eval(written[1], {**globals(), **names_in_it})
    env.reset(1)
    for action in env.solution():
        result = env.step(action.model_dump())
    assert (result.info["env"], result.info["correct"]) == ("MINE", True)
    assert env.curriculum.window("MINE").passes == 1


def test_the_mapping_example_loads(tmp_path: Path) -> None:
    text = section("Catalogue")
    row = json.loads(blocks(text, "json")[0])
    (tmp_path / "products.jsonl").write_text(json.dumps(row) + "\n", encoding="utf-8")
    (tmp_path / "mapping.toml").write_text(blocks(text, "toml")[0], encoding="utf-8")
    (product,) = load_catalogue(tmp_path / "products.jsonl", tmp_path / "mapping.toml")
    assert (product.id, product.category) == ("B01", ("Home", "Lighting", "Table Lamps"))
    assert (product.price, product.rating, product.stock) == (24.9, 3.0, 10)
    assert dict(product.attributes) == {"color": "white", "height_cm": 38}


def leaves(value: Any, path: str = "") -> Iterator[str]:
    """Paths of all values: ``turns[].tool_results[].ok``."""
    if isinstance(value, Mapping) and value:
        for key, inner in value.items():
            yield from leaves(inner, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list) and value:
        for inner in value:
            yield from leaves(inner, f"{path}[]")
    else:
        yield path


def covers(listed: str, leaf: str) -> bool:
    return leaf == listed or leaf.startswith((f"{listed}.", f"{listed}["))


def test_every_field_of_a_run_folder_is_listed(rlve_shop: Shop, tmp_path: Path) -> None:
    folder = run(rlve_shop, tmp_path, request("clerk-novice", episodes=30))
    lines = (folder / "rlve_episodes.jsonl").read_text(encoding="utf-8").splitlines()
    read: Callable[[str], Any] = lambda name: json.loads((folder / name).read_text(encoding="utf-8"))  # noqa: E731
    written = {
        "rlve_manifest.json": [read("rlve_manifest.json")],
        "rlve_episodes.jsonl": [json.loads(line) for line in lines],
        "rlve_curriculum.json": [read("rlve_curriculum.json")],
    }
    for file, records in written.items():
        listed = names(rows(section(file), "field"))
        found = {leaf for record in records for leaf in leaves(record)}
        empty = {f"{name}[]" for name in listed} | {"turns[].tool_results"}
        unlisted = {
            leaf for leaf in found if leaf not in empty and not any(covers(name, leaf) for name in listed)
        }
        assert unlisted == set()
        assert [name for name in listed if not any(covers(name, leaf) for leaf in found)] == []
    assert len(content(folder)) == 30
