"""Rules: what was asked for is recorded, once and readable (spec 04 A, reading rules)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from dashboard.analysis.audit.episode_rules import EPISODE_RULES, RecordedEpisodes
from dashboard.analysis.audit.facts import MANIFEST, TRACES, RunFacts, places_of
from dashboard.analysis.audit.finding import Observation, Place
from dashboard.analysis.audit.run_rules import RUN_RULES
from shopsim.formats import EPISODE_SCHEMA
from shopsim.rollout.jobs import episode_id

__all__: list[str] = []


@RUN_RULES.rule("Coverage incomplete", "warning")
def coverage_incomplete(run: RunFacts) -> Iterator[Observation]:
    """Fewer scored episodes than the manifest asks for: every mean is over a part of the tasks."""
    if run.coverage is None or run.coverage >= 1 or not run.has_traces or run.jobs is None:
        return
    asked = len(run.jobs)
    scored = int(run.episodes["scored"].sum())
    yield Observation(
        f"{scored:,} of {asked:,} requested episodes are scored ({run.coverage:.1%}); "
        "means are over these only.",
        TRACES,
        f"{run.redo} Until then compare paired tasks, not means.",
        count=max(asked - scored, 1),
    )


@RUN_RULES.rule("Jobs without a record", "warning")
def jobs_pending(run: RunFacts) -> Iterator[Observation]:
    """Jobs of the manifest that no record of the trace belongs to."""
    recorded = set(run.episodes["episode_id"])
    missing = [job for job in _jobs(run) if job[0] not in recorded]
    if missing and run.index is not None:
        places = tuple(Place(f"task {task}, sample {sample}", key) for key, task, sample, _ in missing)
        yield Observation("Requested episodes have no record.", TRACES, run.redo, places)


@RUN_RULES.rule("Records that nobody asked for", "error")
def records_unasked(run: RunFacts) -> Iterator[Observation]:
    """Records whose episode is none of the manifest's jobs: two experiments share the folder."""
    jobs = _jobs(run)
    if run.jobs is None or len(jobs) < len(run.jobs):  # a job that cannot be read may ask for any of them
        return
    asked = {job[0] for job in jobs}
    extra = run.episodes[~run.episodes["episode_id"].isin(asked)]
    if len(extra):
        yield Observation(
            "Episodes are recorded that the manifest does not ask for; they count in every mean.",
            TRACES,
            "Move these lines to a folder with the manifest that they were made under.",
            places_of(extra, lambda row: f"task {_whole(row['task_id'])}"),
        )


@RUN_RULES.rule("Records that differ from their job", "error")
def records_differ_from_job(run: RunFacts) -> Iterator[Observation]:
    """Records whose task, sample, seed or split is not that of the manifest's job of the same episode id."""
    jobs = {key: job for key, _, _, job in _jobs(run)}
    places: list[Place] = []
    for field in ("task_id", "sample_id", "seed", "split") if jobs else ():
        columns = (run.episodes[name].tolist() for name in ("episode_id", field, "line_offset"))
        for key, value, offset in zip(*columns, strict=True):
            recorded, asked = _plain(value), jobs.get(key, {}).get(field)
            if recorded is not None and asked is not None and recorded != asked:
                detail = f"recorded {recorded}, asked for {asked}"
                places.append(Place(detail, key, int(offset), f"job.{field}"))
    if places:
        yield Observation(
            "Records name another job than the manifest does for their episode.",
            TRACES,
            "Find out which plan they were made under; do not mix plans in one folder.",
            tuple(places),
        )


@RUN_RULES.rule("Jobs listed twice", "warning")
def jobs_repeated(run: RunFacts) -> Iterator[Observation]:
    """Jobs that the manifest lists more than once: they can be recorded only once, so coverage stays low."""
    times = Counter(job[0] for job in _jobs(run))
    places = tuple(Place(f"listed {n} times", key, field="plan.jobs") for key, n in times.items() if n > 1)
    if places:
        yield Observation(
            "The manifest lists jobs more than once.", MANIFEST, "List every task and sample once.", places
        )


@EPISODE_RULES.rule("Failed episodes", "warning")
def episodes_failed(run: RecordedEpisodes) -> Iterator[Observation]:
    """Records of a known schema that are not complete: a technical failure, left out of every mean."""
    known = run.episodes[run.episodes["schema_version"] == EPISODE_SCHEMA]
    failed = known[~known["complete"].astype(bool)]
    if len(failed):
        kinds = Counter(_text(kind) or "no error type" for kind in failed["error_type"])
        named = ", ".join(f"{kind} ({n:,})" for kind, n in kinds.most_common(5))
        yield Observation(
            f"Episodes did not complete: {named}.",
            run.records_file,
            run.redo,
            places_of(failed, lambda row: _text(row["error_type"]) or f"status {_text(row['status'])}"),
        )


@EPISODE_RULES.rule("Unknown schema version", "error")
def schema_unknown(run: RecordedEpisodes) -> Iterator[Observation]:
    """Records of another schema than the one that is read here: they count as failed."""
    strange = run.episodes[run.episodes["schema_version"] != EPISODE_SCHEMA]
    if len(strange):
        versions = Counter(_text(version) or "none" for version in strange["schema_version"])
        named = ", ".join(f"{version} ({n:,})" for version, n in versions.most_common(5))
        yield Observation(
            f"Records are of another schema than {EPISODE_SCHEMA} and count as failed: {named}.",
            run.records_file,
            "Convert them with the program that wrote them, or write them again with a current one.",
            places_of(strange, lambda row: _text(row["schema_version"]) or "none", field="schema_version"),
        )


@EPISODE_RULES.rule("Unscored episodes", "error")
def episodes_unscored(run: RecordedEpisodes) -> Iterator[Observation]:
    """Complete episodes whose reward is no finite number: they are in no mean, and never count as 0."""
    unscored = run.complete[~run.complete["scored"].astype(bool)]
    if len(unscored):
        yield Observation(
            "Complete episodes have no valid reward: they are left out of every mean.",
            run.records_file,
            "Look at the raw record; score the purchase again (shopsim-review verify recomputes rewards).",
            places_of(unscored, lambda row: "missing, or no finite number", field="final.reward"),
        )


@RUN_RULES.rule("Superseded records", "info")
def records_superseded(run: RunFacts) -> Iterator[Observation]:
    """Episodes recorded more than once, as resuming does: only the last valid record counts."""
    count = (run.index or {}).get("duplicate_records", 0)
    if count:
        places = tuple(
            Place("complete" if record.complete else "not complete", record.episode_id, record.offset)
            for record in run.superseded
        )
        yield Observation(
            "Earlier records of episodes were superseded by later ones; only the last of each counts.",
            TRACES,
            "Nothing to do after a resume. Otherwise find out who else wrote into the folder.",
            places,
            count=count,
        )


@RUN_RULES.rule("Results superseded by others", "warning")
def results_superseded(run: RunFacts) -> Iterator[Observation]:
    """Complete records replaced by one that failed or that has another reward: results were redone."""
    now = {
        row["episode_id"]: row
        for row in run.episodes[["episode_id", "complete", "reward"]].to_dict("records")
    }
    places = []
    for record in run.superseded:
        later = now.get(record.episode_id)
        if later is None or not record.complete:
            continue
        if not later["complete"]:
            places.append(Place("complete, then failed", record.episode_id, record.offset))
        elif record.reward != _plain(later["reward"]):
            detail = f"reward {record.reward}, then {_plain(later['reward'])}"
            places.append(Place(detail, record.episode_id, record.offset, "final.reward"))
    if places:
        yield Observation(
            "Complete results were replaced by later records of their episodes that came out otherwise.",
            TRACES,
            "Report the first results, or say that these are repeats: a resume keeps complete episodes.",
            tuple(places),
        )


@RUN_RULES.rule("Invalid lines", "warning")
def lines_invalid(run: RunFacts) -> Iterator[Observation]:
    """Lines of the trace that are no record: torn, no JSON object, no UTF-8, or without a text episode_id."""
    count = (run.index or {}).get("invalid_lines", 0)
    if count:
        places = tuple(Place(str(line["reason"]), offset=int(line["offset"])) for line in run.invalid_lines)
        torn = all("torn last line" in place.detail for place in places)
        yield Observation(
            "The last line is torn: it is being written, or its writer was stopped."
            if torn
            else "Lines are no episode records and are passed over.",
            TRACES,
            "Resume the run: a torn episode is played again. Other lines: restore them from a copy.",
            places,
            count=count,
            severity="info" if torn else None,
        )


def _jobs(run: RunFacts) -> list[tuple[str, int, int, Mapping[str, Any]]]:
    """Episode id, task, sample and the job itself of every well-formed job."""
    jobs = []
    for job in run.jobs or ():
        if isinstance(job, Mapping):
            task, sample = job.get("task_id"), job.get("sample_id")
            if type(task) is int and type(sample) is int and task >= 0 and sample >= 0:
                jobs.append((episode_id(task, sample), task, sample, job))
    return jobs


def _plain(value: Any) -> Any:
    """A cell as a plain value, None when missing; whole floats (a column with gaps) as integers."""
    if value is None or value != value or str(value) == "<NA>":
        return None
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _whole(value: Any) -> str:
    plain = _plain(value)
    return "unknown" if plain is None else str(plain)
