"""Exports for the next training round: task lists, episodes, SFT conversations, labels."""

from __future__ import annotations

from dashboard.review.export.episodes import MEDIA_TYPE, episode_lines
from dashboard.review.export.labels import label_rows, labels_csv, labels_jsonl
from dashboard.review.export.selection import chosen_episodes
from dashboard.review.export.sft import sft_lines
from dashboard.review.export.tasks import task_list

__all__ = [
    "MEDIA_TYPE",
    "chosen_episodes",
    "episode_lines",
    "label_rows",
    "labels_csv",
    "labels_jsonl",
    "sft_lines",
    "task_list",
]
