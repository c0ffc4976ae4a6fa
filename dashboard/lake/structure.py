"""The declared structure of an episode record: what the lake reads of it (spec 04 A), and nothing else.

A leaf is a DuckDB type name. Where the recorded type matters it is ``JSON``, because DuckDB would turn
``true`` into 1.0 and ``"0.5"`` into 0.5; the macros of ``queries/ingest_macros.sql`` read that strictly.
Texts that nothing is computed from are ``VARCHAR``: there a number in place of a text does no harm.
"""

from __future__ import annotations

import json
from typing import Any, Final

__all__ = ["STRUCTURE", "key_paths", "prune", "structure_columns", "structure_json"]

_STATE: Final = {
    "page_type": "VARCHAR",
    "search_text": "VARCHAR",
    "normalized_search_text": "VARCHAR",
    "page": "JSON",
    "total_results": "JSON",
    "products": [{"asin": "VARCHAR", "rank": "BIGINT"}],
    "product": {"asin": "VARCHAR"},
    "available_options": "JSON",
}
_ANSWER: Final = {
    "done": "JSON",
    "action_feedback": {"valid": "JSON", "reason": "VARCHAR"},
    "observation_state": _STATE,
}
_USAGE: Final = {
    "prompt_tokens": "JSON",
    "completion_tokens": "JSON",
    "total_tokens": "JSON",
    "completion_tokens_details": {"reasoning_tokens": "JSON"},
}
_MODEL: Final = {
    "finish_reason": "VARCHAR",
    "latency_ms": "JSON",
    "usage": _USAGE,
    "reasoning": "VARCHAR",
    "protocol_error": "JSON",
    "policy_failure": "JSON",
}
_STEP: Final = {
    "step_index": "JSON",
    "action": "VARCHAR",
    "model": _MODEL,
    "protocol_error": "JSON",
    "policy_failure": "JSON",
    "environment": _ANSWER,
}
_REWARD_DETAIL: Final = {
    "r_type": "JSON",
    "r_att": "JSON",
    "r_option": "JSON",
    "r_price": "JSON",
    "r_loose": "JSON",
    "r_strict": "JSON",
    "r_success": "JSON",
    "target_asin_match": "JSON",
    "price_verifiable": "JSON",
    "price_upper": "JSON",
    "price_resolution": {"method": "VARCHAR"},
    "num_attr_matches": "JSON",
    "num_option_matches": "JSON",
}
_GOAL: Final = {
    "asin": "VARCHAR",
    "name": "VARCHAR",
    "category": "VARCHAR",
    "attributes": ["VARCHAR"],
    "goal_options": ["VARCHAR"],
    "price_upper": "JSON",
    "instruction_text": "VARCHAR",
    "instruction_simple": "VARCHAR",
}
_PURCHASE: Final = {
    "asin": "VARCHAR",
    "name": "VARCHAR",
    "price": "JSON",
    "attributes": ["VARCHAR"],
    "options": "JSON",
}
_FINAL: Final = {
    "done": "JSON",
    "reward": "JSON",
    "termination_reason": "JSON",
    "reward_detail": _REWARD_DETAIL,
    "purchase": _PURCHASE,
    "goal": _GOAL,
    "observation_state": {"page_type": "VARCHAR"},
}

STRUCTURE: Final[dict[str, Any]] = {
    "schema_version": "JSON",
    "episode_id": "JSON",
    "status": "JSON",
    "job": {"task_id": "JSON", "sample_id": "JSON", "seed": "JSON", "split": "JSON"},
    "provenance": "JSON",
    "started_at": "VARCHAR",
    "ended_at": "VARCHAR",
    "duration_ms": "JSON",
    "reset": {"task_instruction": "VARCHAR", "observation_state": {"page_type": "VARCHAR"}},
    "steps": [_STEP],
    "final": _FINAL,
    "error": {"stage": "VARCHAR", "type": "JSON", "message": "VARCHAR"},
}

_MAX_LEAF_DEPTH: Final = 32
_OBJECTS: Final = (
    "$",
    "$.job",
    "$.reset",
    "$.error",
    "$.final",
    "$.final.reward_detail",
    "$.final.reward_detail.price_resolution",
    "$.final.goal",
    "$.final.purchase",
    "$.final.purchase.options",
)


def structure_json() -> str:
    """The structure as DuckDB's ``from_json`` takes it."""
    return json.dumps(STRUCTURE)


def structure_columns() -> str:
    """The structure as the ``columns`` argument of DuckDB's ``read_json``."""
    return "{" + ", ".join(f"'{name}': '{_type(inner)}'" for name, inner in STRUCTURE.items()) + "}"


def _type(structure: Any) -> str:
    if isinstance(structure, dict):
        return "STRUCT(" + ", ".join(f'"{name}" {_type(inner)}' for name, inner in structure.items()) + ")"
    return f"{_type(structure[0])}[]" if isinstance(structure, list) else str(structure)


def key_paths(most_steps: int) -> list[str]:
    """JSON paths of the objects in which a key given twice would change what is read."""
    step = ("", ".model", ".model.usage", ".environment", ".environment.action_feedback")
    return [*_OBJECTS, *(f"$.steps[{place}]{inner}" for place in range(most_steps) for inner in step)]


def prune(value: Any, structure: Any = None) -> Any:
    """Keep of a parsed record only what :data:`STRUCTURE` declares, in JSON that any reader takes alike.

    Where an object or a list is declared and something else is recorded there is None. Numbers that are
    not finite become None (they score nothing, spec 04 A), a lone surrogate the six characters of its escape.
    """
    structure = STRUCTURE if structure is None else structure
    if isinstance(structure, dict):
        if not isinstance(value, dict):
            return None
        return {key: prune(value[key], inner) for key, inner in structure.items() if key in value}
    if isinstance(structure, list):
        return [prune(item, structure[0]) for item in value] if isinstance(value, list) else None
    return _plain(value, _MAX_LEAF_DEPTH)


def _plain(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "backslashreplace").decode("utf-8")
    if isinstance(value, float):
        return value if value - value == 0.0 else None
    if depth == 0 or not isinstance(value, dict | list):
        return value if not isinstance(value, dict | list) else None
    if isinstance(value, list):
        return [_plain(item, depth - 1) for item in value]
    return {_plain(key, 0): _plain(item, depth - 1) for key, item in value.items()}
