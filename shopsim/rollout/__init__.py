"""Rollouts: jobs, agents, the runner, traces and summaries (spec 04 A)."""

from shopsim.jsonl import LineWriter
from shopsim.rollout.jobs import Job, episode_id, episode_seed, make_jobs
from shopsim.rollout.summary import summarize
from shopsim.rollout.trace import TraceError, TraceIndex, read_records

__all__ = [
    "Job",
    "LineWriter",
    "TraceError",
    "TraceIndex",
    "episode_id",
    "episode_seed",
    "make_jobs",
    "read_records",
    "summarize",
]
