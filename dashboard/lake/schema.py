"""Arrow schemas of the tables that are not made from traces: runs, summaries, published outcomes."""

from __future__ import annotations

from typing import Final

import pyarrow as pa

from shopsim.rollout.summary import REWARD_COMPONENTS

__all__ = ["OUTCOMES_SCHEMA", "RUNS_SCHEMA", "SUMMARIES_SCHEMA"]

_TEXT, _INT, _FLOAT, _BOOL = pa.string(), pa.int64(), pa.float64(), pa.bool_()
_COUNTER: Final = pa.list_(pa.struct([("name", _TEXT), ("n", _INT)]))

RUNS_SCHEMA: Final = pa.schema(
    [
        *((name, _TEXT) for name in ("run_id", "root", "path", "kind", "experiment", "label", "created_at")),
        *((name, _TEXT) for name in ("pipeline_version", "provider", "model", "model_id", "checkpoint_id")),
        ("simulated", _BOOL),
        ("task_split", _TEXT),
        ("persona", _BOOL),
        *((name, _TEXT) for name in ("interaction_mode", "environment_version", "observation_version")),
        *((name, _TEXT) for name in ("prompt_version", "skills_provider")),
        ("max_steps", _INT),
        *((name, _TEXT) for name in ("action_protocol", "plan_fingerprint", "product_data_sha256")),
        ("term_extractor", _TEXT),
        ("catalogue_family", _TEXT),
        *((name, _INT) for name in ("requested", "records", "unique_episodes", "duplicate_records")),
        *((name, _INT) for name in ("invalid_lines", "completed", "failed", "scored", "pending")),
        ("coverage", _FLOAT),
        ("has_traces", _BOOL),
        ("problems", pa.list_(_TEXT)),
    ]
)

SUMMARIES_SCHEMA: Final = pa.schema(
    [
        *((name, _TEXT) for name in ("run_id", "summary_path", "created_at")),
        *((name, _INT) for name in ("requested", "trace_files", "completed", "failed", "scored")),
        *((name, _FLOAT) for name in ("coverage", "reward_mean", "reward_sem", "success_rate")),
        *((name, _FLOAT) for name in REWARD_COMPONENTS),
        *((name, _FLOAT) for name in ("steps_mean", "model_steps", "protocol_errors")),
        *((name, _FLOAT) for name in ("protocol_error_rate", "policy_failures", "policy_failure_rate")),
        *((name, _FLOAT) for name in ("invalid_action_rate", "invalid_actions", "total_actions")),
        ("termination_reasons", _COUNTER),
        *((name, _FLOAT) for name in ("duration_ms_mean", "prompt_tokens", "completion_tokens")),
        ("total_tokens", _FLOAT),
        ("errors", _COUNTER),
    ]
)

OUTCOMES_SCHEMA: Final = pa.schema(
    [
        ("run_id", _TEXT),
        ("condition", _TEXT),
        ("task_id", _INT),
        ("split", _TEXT),
        ("sample_id", _INT),
        ("reward", _FLOAT),
        ("success", _BOOL),
    ]
)
