"""Whom to ask what a run was recorded on."""

from __future__ import annotations

from typing import Any

import pytest

from shopsim.rollout.recorded_on import recorded_on


@pytest.mark.parametrize(
    ("planned", "recorded", "told"),
    [
        ({"x": "a"}, [{"x": "b"}], "a"),
        ({}, [{"x": "b"}, {}, {"x": "b"}], "b"),
        (None, [{"x": "b"}, {"x": "c"}], None),
        ({"x": 1}, [{"x": True}, {"x": "b"}], "b"),
        (None, [], None),
    ],
)
def test_the_manifest_first_then_what_the_records_agree_on(
    planned: dict[str, Any] | None, recorded: list[dict[str, Any]], told: str | None
) -> None:
    assert recorded_on("x", planned, recorded) == told
