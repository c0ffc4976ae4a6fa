"""Conversation episodes written by hand, for the review: as a rollout records them, quickly made."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest

from shopsim.formats import (
    RLVE_CURRICULUM_SCHEMA,
    RLVE_ENVIRONMENT_VERSION,
    RLVE_EPISODE_SCHEMA,
    RLVE_MANIFEST_SCHEMA,
)
from shopsim.jsonl import encode_record
from shopsim.rlve.curriculum import AdaptiveWindow

__all__ = ["conversation", "sample_conversations", "table_with", "write_conversations"]

_PARTS = {
    "PD": ({"ndcg": 1.0, "best_share": 1.0, "out_of_stock_share": 0.0, "constraints": 2.0}, 0.9),
    "CART": ({"f1": 1.0, "matched_units": 2.0, "wanted_units": 2.0, "cart_units": 2.0}, 1.0),
    "STATUS": ({"order": 1.0, "status": 1.0}, 1.0),
}
_WRONG = {
    "PD": ({"ndcg": 0.4, "best_share": 0.5, "out_of_stock_share": 0.25, "constraints": 2.0}, -0.4),
    "CART": ({"f1": 0.4, "matched_units": 1.0, "wanted_units": 2.0, "cart_units": 3.0}, -0.2),
    "STATUS": ({"order": 1.0, "status": 0.0}, 0.0),
}


def conversation(
    number: int = 0,
    env: str = "PD",
    difficulty: int = 0,
    *,
    correct: bool = True,
    violation: str | None = None,
    termination: str = "answer",
    window: AdaptiveWindow | None = None,
    text: str = "I look for a kettle.",
    seed: int | None = None,
) -> dict[str, Any]:
    """The record of one episode of two turns; ``seed`` is its own where none is given."""
    parts, task = (_PARTS if correct else _WRONG)[env]
    total = -1.0 if violation else 0.75 * task + 0.15 / 3
    search = {"name": "catalog.search", "args": {"query": "kettle"}}
    shown = {"results": [{"product_id": "P1", "title": text, "price": 9.5}]}
    answer = {"env": env, "recommended_product_ids": ["P1", "P9"], "done": True}
    fact = {"name": "wish:price", "text": f"At most $20. {text}", "keywords": [], "essential": True}
    return {
        "schema_version": RLVE_EPISODE_SCHEMA,
        "episode_id": f"episode-{number:06d}",
        "episode": number,
        "env": env,
        "difficulty": difficulty,
        "seed": 1000 + number if seed is None else seed,
        "window": None if window is None else {k: getattr(window, k) for k in AdaptiveWindow.__slots__},
        "max_turns": 4,
        "tool_calls_per_turn": 1,
        "conversation": [
            {"role": "user", "content": text},
            {"role": "assistant", "content": "Which colour?"},
            {"role": "user", "content": "Red, please."},
        ],
        "opening": {"text": text, "act": "elaborate", "told": ["wish:price"]},
        "turns": [
            {
                "turn": 1,
                "response": "{}",
                "action": {"assistant_message": "Which colour?", "tool_calls": [search], "answer": None},
                "parse_error": None,
                "tool_results": [
                    {"name": "catalog.search", "ok": True, "content": shown, "error": None, "invalid": False}
                ],
                "user": {"text": "Red, please.", "act": "clarify", "told": ["wish:color"]},
            },
            {
                "turn": 2,
                "response": "{}",
                "action": {"assistant_message": "", "tool_calls": [search], "answer": answer},
                "parse_error": None,
                "tool_results": [
                    {"name": "catalog.search", "ok": False, "content": {}, "error": text, "invalid": False}
                ],
                "user": {"text": "Thanks!", "act": "done", "told": []},
            },
        ],
        "rewordings": None,
        "end": {
            "termination": termination,
            "correct": correct and violation is None,
            "verdict": {"reward": task, "correct": correct, "parts": parts},
            "reward": {
                "total": total,
                "task": task,
                "efficiency": 1 / 3,
                "hallucination": 0.0,
                "violation": violation,
                "turns": 2,
                "effective_turns": 1,
            },
            "told": ["wish:color", "wish:price"],
        },
        "private": {
            "env": env,
            "request": text,
            "facts": [
                fact,
                {"name": "wish:color", "text": "In red.", "keywords": [], "essential": False},
                {"name": "wish:secret", "text": "Sotto voce untold.", "keywords": [], "essential": False},
            ],
            "persona": {"weights": [0.2] * 5},
            "target": {"product_id": "P-TARGET"},
            "parts": [],
            "world": {"cart": []},
        },
        "started_at": "2026-01-01T00:00:00+00:00",
        "duration_ms": 12.5,
        "agent": {"latency_ms": [3.0, 4.0], "usage": [{}, {}]},
    }


def sample_conversations(
    count: int, *, envs: Sequence[str] = ("PD", "CART", "STATUS"), fails: int = 5
) -> list[Any]:
    """Episodes of an adaptive run in which every ``fails``-th is wrong, some of them by a violation."""
    windows = dict.fromkeys(envs, AdaptiveWindow())
    records = []
    for number in range(count):
        env = envs[number % len(envs)]
        window = windows[env]
        difficulty = window.low + number // len(envs) % (window.high - window.low + 1)
        correct = (number + 1) % fails != 0
        violation = "invalid_tool_call" if number % (3 * fails) == 3 * fails - 1 else None
        limit = not correct and number % (2 * fails) == fails - 1
        records.append(
            conversation(
                number,
                env,
                difficulty,
                correct=correct,
                violation=violation,
                termination="turn_limit" if limit else "answer",
                window=window,
            )
        )
        windows[env] = window.record(difficulty, records[-1]["end"]["correct"])
    return records


def write_conversations(
    folder: Path,
    records: Sequence[dict[str, Any]],
    *,
    requested: int | None = None,
    difficulty: int | None = None,
    agent: str = "scripted-clerk",
    windows: dict[str, AdaptiveWindow] | None = None,
    environment: Mapping[str, Any] | None = None,
    user: Mapping[str, Any] | None = None,
    created_at: str = "2026-01-01T00:00:00+00:00",
) -> Path:
    """A run folder as a rollout leaves it; ``environment`` and ``user`` are fields of its plan to set."""
    folder.mkdir(parents=True, exist_ok=True)
    plan = {
        "experiment": folder.name,
        "model": {"provider": "scripted", "simulated": True, "model": agent},
        "episodes": len(records) if requested is None else requested,
        "seed": 7,
        "difficulty": difficulty,
        "batch": 1,
        "environment": {
            "collection": "PD,CART,STATUS",
            "environments": ["PD", "CART", "STATUS"],
            "products": 3,
            "environment_version": RLVE_ENVIRONMENT_VERSION,
            "catalogue_sha256": "c" * 64,
            "denied_categories": [],
            **(environment or {}),
        },
        "user": {"provider": "templates", **(user or {})},
    }
    manifest = {
        "schema_version": RLVE_MANIFEST_SCHEMA,
        "created_at": created_at,
        "plan": plan,
    }
    (folder / "rlve_manifest.json").write_text(json.dumps(manifest), encoding="utf-8")
    (folder / "rlve_episodes.jsonl").write_bytes(b"".join(map(encode_record, records)))
    if windows is not None:
        told = {env: {k: getattr(w, k) for k in AdaptiveWindow.__slots__} for env, w in windows.items()}
        state = {"schema_version": RLVE_CURRICULUM_SCHEMA, "episodes": len(records), "windows": told}
        (folder / "rlve_curriculum.json").write_text(json.dumps(state), encoding="utf-8")
    return folder


def table_with(app: AppTest, *columns: str) -> pd.DataFrame:
    """The first table of a page that has these columns."""
    for element in app.dataframe:
        if set(columns) <= set(element.value.columns):
            frame: pd.DataFrame = element.value
            return frame
    raise AssertionError(f"no table with {columns}")
