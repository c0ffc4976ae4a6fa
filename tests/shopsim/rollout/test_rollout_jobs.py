"""Episode ids and seeds are wire values: the vectors below were computed with ``sha256sum``."""

from __future__ import annotations

import pytest

from shopsim.errors import UsageError
from shopsim.rollout.jobs import Job, episode_id, episode_seed, make_jobs


@pytest.mark.parametrize(
    ("seed", "task_id", "sample_id", "expected"),
    [
        (0, 0, 0, 3905563605),
        (7, 1828, 0, 3814250018),
        (20260901, 3538, 3, 2688007794),
    ],
)
def test_episode_seed_vectors(seed: int, task_id: int, sample_id: int, expected: int) -> None:
    assert episode_seed(seed, task_id, sample_id) == expected


def test_episode_ids_are_padded_and_never_cut() -> None:
    assert episode_id(12, 3) == "task-000012__sample-003"
    assert episode_id(1234567, 1000) == "task-1234567__sample-1000"


def test_jobs_keep_the_order_and_repeat_samples() -> None:
    jobs = make_jobs([9, 2, 9], split="test", seed=7, samples=2)
    assert [(job.task_id, job.sample_id) for job in jobs] == [(9, 0), (9, 1), (2, 0), (2, 1)]
    assert {job.seed for job in jobs} == {episode_seed(7, t, s) for t in (9, 2) for s in (0, 1)}


def test_a_job_survives_its_wire_form() -> None:
    (job,) = make_jobs([5], split="val", seed=1)
    assert Job.from_wire(job.to_wire()) == job
    assert list(job.to_wire()) == ["task_id", "sample_id", "seed", "split"]


def test_nothing_to_run_is_a_usage_error() -> None:
    with pytest.raises(UsageError, match="no tasks"):
        make_jobs([], split="test", seed=1)
    with pytest.raises(UsageError, match="samples"):
        make_jobs([1], split="test", seed=1, samples=0)
