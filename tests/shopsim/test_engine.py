from __future__ import annotations

import dataclasses
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from shopsim.cli import app
from shopsim.cli.process import run_app
from shopsim.engine import open_engine
from shopsim.errors import ShopSimError
from shopsim.pipeline import layout
from shopsim.pipeline.prepare import prepare
from shopsim.search import PRESETS
from shopsim.settings import Settings
from tests.factories.raw_records import raw_records, write_raw


@pytest.fixture
def prepared(tmp_path: Path) -> Settings:
    settings = write_raw(tmp_path, raw_records(30, persona=12))
    prepare(settings)
    return settings


def complaint(settings: Settings) -> str:
    with pytest.raises(ShopSimError) as caught:
        open_engine(settings)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_an_engine_plays_an_episode_of_the_prepared_data(prepared: Settings) -> None:
    with open_engine(prepared) as engine:
        task_id = engine.splits.ids("test")[0]
        goal = engine.goals.get(task_id)
        env = engine.new_env()
        env.reset(task_id)
        state = env.step(f"search[{goal.name}]")["observation_state"]
        assert goal.asin in state["actions"]
        state = env.step(f"click[{goal.asin}]")["observation_state"]
        env.step(f"click[颜色={goal.goal_options[0]}]")
        answer = env.step("click[buy now]")
        assert answer["reward"] == 1.0, answer["reward_detail"]


def test_environments_share_what_the_engine_opened(prepared: Settings) -> None:
    with open_engine(prepared) as engine:
        engine.new_env()
        start = time.perf_counter()
        for _ in range(1000):
            engine.new_env()
        assert time.perf_counter() - start < 0.2


def test_provenance_names_every_rule_that_results_depend_on(prepared: Settings) -> None:
    with open_engine(prepared) as engine:
        provenance = engine.provenance()
        manifest = json.loads((prepared.prepared_dir / layout.MANIFEST).read_text("utf-8"))
        assert provenance["product_data_sha256"] == manifest["content"]["sha256"] == engine.corpus.sha256
        assert provenance["term_extractor"] == engine.terms.name
        assert provenance["search_weights"] == "v3"
        assert {key for key in provenance if key.endswith("_version")} == {
            "environment_version",
            "observation_version",
            "search_version",
            "reward_version",
            "budget_parser_version",
        }
        json.dumps(provenance)


def test_an_unprepared_workspace_says_what_to_run(tmp_path: Path) -> None:
    message = complaint(Settings(workspace=tmp_path))
    assert "products.json" in message and message.endswith("Run `shopsim prepare`.")


@pytest.mark.parametrize("name", [layout.PRODUCTS, layout.MANIFEST, layout.SPLITS, layout.INDEX])
def test_a_missing_file_is_named(prepared: Settings, name: str) -> None:
    (prepared.prepared_dir / name).unlink()
    assert f"{name} not found" in complaint(prepared)


def _touch_products(folder: Path) -> None:
    path = folder / layout.PRODUCTS
    path.write_bytes(path.read_bytes().replace("云桥".encode(), "雨桥".encode(), 1))


def _other_index(folder: Path) -> None:
    from shopsim.catalog.tiny import tiny_corpus
    from shopsim.search import build_search_index

    corpus = tiny_corpus()
    build_search_index(corpus.products, folder / layout.INDEX, product_data_sha256=corpus.sha256)


def _other_weights(folder: Path) -> None:
    from shopsim.catalog import load_corpus
    from shopsim.search import build_search_index

    corpus = load_corpus(folder / layout.PRODUCTS)
    path = folder / layout.INDEX
    build_search_index(
        corpus.products, path, product_data_sha256=corpus.sha256, weights=PRESETS["v2-misaligned"]
    )


def _write(name: str, text: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(text, encoding="utf-8") and None


@pytest.mark.parametrize(
    ("damage", "parts"),
    [
        (_touch_products, ("products.json", "SHA-256", "shopsim prepare --force")),
        (_other_index, ("search.sqlite", "shopsim prepare")),
        (_other_weights, ("search.sqlite", "other weights", "shopsim prepare --force")),
        (_write(layout.MANIFEST, "{"), ("dataset_manifest.json", "line 1")),
        (_write(layout.MANIFEST, "[]"), ("dataset_manifest.json", "shopsim prepare --force")),
        (_write(layout.MANIFEST, '{"content": {}}'), ("dataset_manifest.json", "content.sha256")),
        (_write(layout.SPLITS, "{}"), ("persona_splits.v1.json", "schema_version", "shopsim prepare")),
        (_write(layout.INDEX, "not a database"), ("search.sqlite", "shopsim prepare")),
    ],
)
def test_damaged_data_give_one_line_that_names_file_and_mend(
    prepared: Settings, damage: Callable[[Path], None], parts: tuple[str, ...]
) -> None:
    damage(prepared.prepared_dir)
    message = complaint(prepared)
    assert all(part in message for part in parts), message


def test_check_env_passes_on_the_prepared_data(
    prepared: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(prepared, monkeypatch)
    assert run_app(app, ["check-env", "--tasks", "1", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["ok"] is True and len(report["tasks"]) == 1
    assert run_app(app, ["check-env", "--tasks", "1"]) == 0
    assert "keeps the contract" in capsys.readouterr().out


def test_check_env_exits_1_when_a_rule_is_broken(
    prepared: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from shopsim.env import transitions

    _configure(prepared, monkeypatch)
    rows = dict(transitions.TRANSITIONS)
    buy = next(row for row in rows if row[1] == "buy")
    rows[buy] = lambda session, move, shop: (dataclasses.replace(session, selected={}), "没有买到。")
    monkeypatch.setattr(transitions, "TRANSITIONS", rows)
    assert run_app(app, ["check-env", "--tasks", "1"]) == 1
    output = capsys.readouterr().out
    assert "FAILED purchase" in output and "breaks the contract" in output


def test_check_env_is_called_wrongly(
    prepared: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    _configure(prepared, monkeypatch)
    assert run_app(app, ["check-env", "--split", "nowhere"]) == 2
    assert run_app(app, ["check-env", "--tasks", "0"]) == 2
    assert "nowhere" in capsys.readouterr().err


def _configure(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = settings.workspace / "configs"
    folder.mkdir(exist_ok=True)
    text = "[splits]\nseed = 1\nval = 2\ntest = 2\n"
    (folder / "shopsim.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SHOPSIM_HOME", str(settings.workspace))
