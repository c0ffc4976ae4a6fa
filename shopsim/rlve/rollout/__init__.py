"""Rollouts of the conversation environments: plans, records, the runner, replays, summaries."""

from shopsim.rlve.rollout.plan import RunRequest, read_plan
from shopsim.rlve.rollout.records import Draw, play, read_episodes, replay
from shopsim.rlve.rollout.runner import OpenRun, UserVoice, open_run
from shopsim.rlve.rollout.summary import summarize, summarize_run
from shopsim.rlve.rollout.verify import RunCheck, recorded_settings, verify_run

__all__ = [
    "Draw",
    "OpenRun",
    "RunCheck",
    "RunRequest",
    "UserVoice",
    "open_run",
    "play",
    "read_episodes",
    "read_plan",
    "recorded_settings",
    "replay",
    "summarize",
    "summarize_run",
    "verify_run",
]
