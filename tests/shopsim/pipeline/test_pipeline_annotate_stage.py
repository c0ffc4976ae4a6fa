"""The stage as a whole: plan, session, cache and the recorded annotations that the build reads."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from shopsim.catalog.sample import generate, write_sample
from shopsim.chat import Endpoint
from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonio import FileError
from shopsim.locking import RunLockedError
from shopsim.pipeline import PipelineError, layout
from shopsim.pipeline.annotate import AnnotationRequest, AnnotationStoppedError, open_stage
from shopsim.pipeline.annotate.plan import Plan
from shopsim.pipeline.annotate.report import SessionReport
from shopsim.pipeline.prepare import prepare
from shopsim.settings import Settings, SplitSettings
from shopsim.storage import StorageError
from tests.factories.annotators import CountingClock, answering, asked_about, reply
from tests.factories.chat_endpoint import ChatServer, chat_server
from tests.factories.raw_records import annotations_for, raw_records, write_archive, write_raw

KEY = "sk-very-secret-0123456789"
SIMPLE, FULL = "instruction_simple", "instruction"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    monkeypatch.setenv("ANNOTATION_KEY", KEY)
    with chat_server() as running:
        yield running


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    """Ten products, six with a persona; nothing is recorded yet."""
    made = write_raw(tmp_path / "home", raw_records(10, persona=6))
    made.path(made.corpus.annotations).unlink()
    return made


def texts_of(records: list[dict[str, Any]]) -> dict[tuple[int, str], str]:
    texts, task_id = {}, 0
    for record in records:
        for instruction in record.get("instructions") or ():
            texts[task_id, SIMPLE] = instruction.get("instruction_simple")
            texts[task_id, FULL] = instruction["instruction"]
            task_id += 1
    return texts


def good(server: ChatServer) -> None:
    records = raw_records(10, persona=6)
    server.answer = answering(annotations_for(records), texts_of(records))


def request(server: ChatServer, **changes: Any) -> AnnotationRequest:
    endpoint = Endpoint(server.base_url, changes.pop("model", "m"), "ANNOTATION_KEY", 5.0)
    return AnnotationRequest(endpoint, **{"workers": 2, **changes})


def planned(settings: Settings, wanted: AnnotationRequest) -> Plan:
    with open_stage(settings, wanted, locked=False) as stage:
        return stage.plan


def run(settings: Settings, wanted: AnnotationRequest) -> SessionReport:
    with open_stage(settings, wanted, locked=True) as stage:
        return stage.run(clock=CountingClock())


def cache_of(settings: Settings) -> Path:
    return settings.path("data/annotations/cache.jsonl")


def documents(settings: Settings) -> tuple[bytes, list[dict[str, Any]], dict[str, Any]]:
    """Archive, audit entries and manifest of a prepared workspace."""
    folder = settings.prepared_dir
    audit = json.loads((folder / layout.AUDIT).read_text("utf-8"))
    manifest = json.loads((folder / layout.MANIFEST).read_text("utf-8"))
    return (folder / layout.ARCHIVE).read_bytes(), audit["tasks"], manifest


# --- the whole way -----------------------------------------------------------------------------------------


def test_what_a_model_annotates_builds_the_same_as_what_was_recorded(
    tmp_path: Path, server: ChatServer
) -> None:
    corpus = generate(400, 5)
    splits = SplitSettings(seed=1, val=2, test=2)
    built = []
    for name in ("recorded", "asked"):
        settings = Settings(workspace=tmp_path / name, splits=splits)
        raw, recorded = (
            settings.path(path) for path in (settings.corpus.raw_archive, settings.corpus.annotations)
        )
        raw.parent.mkdir(parents=True)
        write_sample(corpus, raw, recorded if name == "recorded" else None)
        if name == "asked":
            server.answer = answering(corpus.annotations, texts_of(corpus.records))
            plan = planned(settings, request(server))
            report = run(settings, request(server, workers=8))
            assert report.sent == report.saved == len(server.requests) == len(corpus.annotations)
            assert plan.least.requests < report.sent < plan.most.requests
            assert report.recorded == recorded
            lines = [json.loads(line) for line in recorded.read_text("utf-8").splitlines()]
            names = tuple(corpus.annotations[0])
            assert [{name: line[name] for name in names} for line in lines] == corpus.annotations
        prepare(settings)
        built.append(documents(settings))
    (archive, audit, manifest), (asked_archive, asked_audit, asked_manifest) = built
    assert asked_archive == archive
    assert asked_audit == audit
    who = asked_manifest.pop("annotations"), manifest.pop("annotations")
    assert asked_manifest == manifest
    assert (who[0]["model"], who[0]["endpoint"], who[1]["model"]) == ("m", server.base_url, None)
    assert who[0]["answers"] == who[1]["answers"]


def test_only_the_instruction_is_sent(settings: Settings, server: ChatServer) -> None:
    good(server)
    run(settings, request(server))
    records = raw_records(10, persona=6)
    for sent in server.requests:
        task_id, text = asked_about(sent)
        assert text == texts_of(records)[task_id, SIMPLE]
        body = json.dumps(sent, ensure_ascii=False)
        assert "private" not in body and "user-" not in body and "用户ID" not in body
        assert sent["temperature"] == 0
        assert sent["response_format"]["type"] == "json_schema"
    assert {asked_about(sent)[0] for sent in server.requests} == set(range(6)), "standard tasks never"


def test_the_key_is_written_nowhere(settings: Settings, server: ChatServer) -> None:
    good(server)
    run(settings, request(server))
    assert set(server.keys) == {f"Bearer {KEY}"}
    prepare(settings)
    for path in settings.workspace.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.mark.parametrize("status", [200, 401, 400, 500])
def test_an_endpoint_that_echoes_the_key_does_not_get_it_into_a_message(
    settings: Settings, server: ChatServer, status: int
) -> None:
    echo = reply(task_id=KEY, kind=KEY, amount=None, evidence="")[1]
    server.answer = lambda _: (status, echo if status == 200 else {"error": f"wrong key {KEY}"})
    with pytest.raises(ShopSimError) as caught:
        run(settings, request(server))
    assert KEY not in str(caught.value)
    assert "[key]" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "match"), [("", "holds no key"), ("密钥", "no key has"), ("a\nb", "no key has")]
)
def test_a_missing_key_is_told_before_anything_is_sent(
    settings: Settings, server: ChatServer, monkeypatch: pytest.MonkeyPatch, key: str, match: str
) -> None:
    monkeypatch.setenv("ANNOTATION_KEY", key)
    with pytest.raises(ShopSimError, match=f"environment variable ANNOTATION_KEY: .*{match}"):
        run(settings, request(server))
    assert server.requests == []


# --- plan and resume ---------------------------------------------------------------------------------------


def test_a_plan_sends_and_writes_nothing(settings: Settings, server: ChatServer) -> None:
    before = sorted(settings.workspace.rglob("*"))
    plan = planned(settings, request(server, requests_per_minute=2))
    assert (plan.persona_tasks, plan.count(SIMPLE), plan.count(FULL)) == (6, 6, 0)
    assert (plan.least.requests, plan.most.requests) == (6, 12)
    assert (plan.least.minutes, plan.most.minutes) == (2.5, 5.5)
    assert plan.most.characters > 2 * plan.least.characters
    assert sorted(settings.workspace.rglob("*")) == before
    assert server.requests == []
    assert KEY not in json.dumps(plan.to_wire())


def test_sessions_go_on_where_the_last_one_stopped(settings: Settings, server: ChatServer) -> None:
    good(server)
    report = run(settings, request(server, max_requests=1))
    assert (report.sent, report.saved, report.open_requests, report.recorded) == (1, 1, 5, None)
    assert not settings.path(settings.corpus.annotations).exists()
    run(settings, request(server, max_requests=2))
    plan = planned(settings, request(server))
    assert (plan.cached[SIMPLE], plan.count(SIMPLE)) == (3, 3)
    report = run(settings, request(server))
    assert (report.sent, report.open_requests) == (3, 0)
    assert len(server.requests) == 6
    recorded = settings.path(settings.corpus.annotations).read_bytes()
    assert sorted(cache_of(settings).read_bytes().splitlines()) == sorted(recorded.splitlines())
    again = run(settings, request(server))
    assert (again.sent, again.recorded) == (0, settings.path(settings.corpus.annotations))
    assert settings.path(settings.corpus.annotations).read_bytes() == recorded


def test_the_recorded_file_does_not_depend_on_who_came_first(tmp_path: Path, server: ChatServer) -> None:
    good(server)
    contents = set()
    for workers in (1, 4):
        settings = write_raw(tmp_path / str(workers), raw_records(10, persona=6))
        run(settings, request(server, workers=workers, force=True))
        contents.add(settings.path(settings.corpus.annotations).read_bytes())
    assert len(contents) == 1


def test_an_answer_lost_to_a_crash_is_asked_for_again(settings: Settings, server: ChatServer) -> None:
    good(server)
    run(settings, request(server, max_requests=3, workers=1))
    cache = cache_of(settings)
    cache.write_bytes(cache.read_bytes()[:-9])
    plan = planned(settings, request(server))
    assert (plan.cached[SIMPLE], plan.left_aside) == (2, {"torn": 1})
    assert run(settings, request(server)).sent == 4
    prepare(settings)


def test_answers_of_another_model_archive_or_sampling_are_left_aside(
    settings: Settings, server: ChatServer
) -> None:
    good(server)
    run(settings, request(server, model="old", max_requests=2))
    assert planned(settings, request(server)).left_aside == {"other_model": 2}
    other = request(server, model="old")
    other = replace(other, endpoint=replace(other.endpoint, sampling={"top_p": 0.5}))
    assert planned(settings, other).left_aside == {"other_prompt_sha256": 2}
    report = run(settings, request(server))
    assert report.sent == 6
    prepare(settings)
    assert documents(settings)[2]["annotations"]["model"] == "m", "the build sees one model alone"
    write_archive(settings.path(settings.corpus.raw_archive), raw_records(9, persona=6))
    assert planned(settings, request(server)).left_aside == {"other_source": 8}


def test_recorded_annotations_are_replaced_only_when_told(settings: Settings, server: ChatServer) -> None:
    good(server)
    path = settings.path(settings.corpus.annotations)
    path.write_text("precious\n")
    with pytest.raises(UsageError, match=r"holds other recorded annotations.*--out.*--force"):
        run(settings, request(server))
    assert server.requests == []
    other = settings.path("data/mine.jsonl")
    assert run(settings, request(server, out=other)).recorded == other
    assert path.read_text() == "precious\n"
    assert run(settings, request(server, force=True)).sent == 0
    assert path.read_bytes() == other.read_bytes()


# --- giving up ---------------------------------------------------------------------------------------------


def test_a_task_without_an_answer_fails_the_build_unless_it_is_given_up(
    settings: Settings, server: ChatServer
) -> None:
    records = raw_records(10, persona=6)
    right = answering(annotations_for(records), texts_of(records))

    def answer(sent: dict[str, Any]) -> tuple[int, Any]:
        task_id, _ = asked_about(sent)
        return reply(task_id=task_id, kind="maybe", amount=None, evidence="") if task_id == 3 else right(sent)

    server.answer = answer
    report = run(settings, request(server))
    ((task_id, source_field, reason),) = report.failed
    assert (task_id, source_field, report.open_requests) == (3, SIMPLE, 1)
    assert reason.startswith("unusable after 3 tries: kind must be one of")
    assert report.recorded is None
    with pytest.raises(FileError, match="price_annotations"):
        prepare(settings)
    sent = len(server.requests)
    report = run(settings, request(server, runtime_regex_task_ids=(3,)))
    assert report.recorded is not None
    assert len(server.requests) == sent
    with pytest.raises(PipelineError, match=r"no usable answer for 1 persona task\(s\): 3"):
        prepare(settings)
    prepare(settings, runtime_regex_task_ids=[3])
    (entry,) = [task for task in documents(settings)[1] if task["task_id"] == 3]
    assert (entry["kind"], entry["price_upper"]) == ("runtime_regex_fallback", None)
    assert entry["missing_stage"] == SIMPLE and entry["reason"]


def test_a_task_that_cannot_be_given_up_is_told(settings: Settings, server: ChatServer) -> None:
    good(server)
    with pytest.raises(UsageError, match="--runtime-regex-task-id 8: no persona task"):
        planned(settings, request(server, runtime_regex_task_ids=(8,)))
    assert planned(settings, request(server, runtime_regex_task_ids=(3,))).count(SIMPLE) == 5
    run(settings, request(server))
    with pytest.raises(UsageError, match="--runtime-regex-task-id 3: has its answers"):
        planned(settings, request(server, runtime_regex_task_ids=(3,)))


# --- files that are not what they should be ----------------------------------------------------------------


def test_only_one_session_writes_a_cache(settings: Settings, server: ChatServer) -> None:
    with (
        open_stage(settings, request(server), locked=True),
        pytest.raises(RunLockedError, match=r"another process is writing annotations.*--cache"),
    ):
        run(settings, request(server))
    planned(settings, request(server))


def test_places_that_cannot_be_written_are_told_before_anything_is_sent(
    settings: Settings, server: ChatServer
) -> None:
    settings.path("data/annotations").write_text("a file in the way")
    with pytest.raises(StorageError, match=r"cache.jsonl: cannot be written"):
        run(settings, request(server))
    settings.path("folder").mkdir()
    with pytest.raises(FileError, match="cannot be read"):
        run(settings, request(server, cache=settings.path("folder")))
    assert server.requests == []


@pytest.mark.parametrize(
    ("files", "match"),
    [
        ({"out": "data/raw/products.raw.json.gz"}, "must be three files"),
        ({"cache": "data/raw/price_annotations.jsonl"}, "must be three files"),
        ({"cache": "a.jsonl", "out": "b/../a.jsonl"}, "must be three files"),
        ({"out": "data/prepared/products.json"}, "prepared file"),
    ],
)
def test_no_source_is_written_over(
    settings: Settings, server: ChatServer, files: dict[str, str], match: str
) -> None:
    paths = {name: settings.path(path) for name, path in files.items()}
    with pytest.raises(UsageError, match=match):
        planned(settings, request(server, force=True, **paths))


def test_a_cleaned_archive_cannot_be_annotated(settings: Settings, server: ChatServer) -> None:
    good(server)
    run(settings, request(server))
    prepare(settings)
    settings.path(settings.corpus.raw_archive).unlink()
    with pytest.raises(FileError, match="Restore the raw archive"):
        planned(settings, request(server))


@pytest.mark.parametrize(
    ("changes", "match"),
    [
        ({"base_url": "http://h/v1?key=abc"}, "base URL: must end with its path"),
        ({"base_url": "http://h/v1#x"}, "base URL: must end with its path"),
        ({"sampling": {"temperature": 1}}, "without temperature"),
        ({"sampling": {"response_format": {}}}, "without response_format"),
    ],
)
def test_an_endpoint_that_would_bend_the_protocol_is_refused(
    settings: Settings, server: ChatServer, changes: dict[str, Any], match: str
) -> None:
    wanted = request(server)
    with pytest.raises(UsageError, match=match) as caught:
        planned(settings, replace(wanted, endpoint=replace(wanted.endpoint, **changes)))
    assert "abc" not in str(caught.value)


def test_broken_text_costs_nothing(settings: Settings, server: ChatServer) -> None:
    records = raw_records(10, persona=6)
    records[2]["instructions"][0]["instruction_simple"] = "买个盒子\ud83d"
    path = settings.path(settings.corpus.raw_archive)
    path.write_bytes(json.dumps(records).encode())
    with pytest.raises(ShopSimError, match=r"task 2: instruction_simple: holds half of a surrogate pair"):
        planned(settings, request(server))


def test_what_stops_a_session_tells_what_is_kept(settings: Settings, server: ChatServer) -> None:
    good(server)
    right = server.answer
    server.answer = lambda sent: right(sent) if asked_about(sent)[0] < 2 else (403, {"error": "no money"})
    with pytest.raises(AnnotationStoppedError) as caught:
        run(settings, request(server, workers=1))
    message = str(caught.value)
    assert "HTTP 403" in message and message.endswith(
        "2 answers of this session are kept; the same command goes on from there."
    )
    server.answer = right
    assert run(settings, request(server)).sent == 4


def test_an_interruption_keeps_what_was_answered(
    settings: Settings, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    good(server)

    def interrupted(self: Any, threads: Any) -> None:
        for thread in threads:
            thread.join()
        raise KeyboardInterrupt

    monkeypatch.setattr("shopsim.pipeline.annotate.session.Session._wait", interrupted)
    with pytest.raises(AnnotationStoppedError, match=r"^interrupted\. 6 answers of this session are kept"):
        run(settings, request(server))
    assert cache_of(settings).read_bytes().count(b"\n") == 6
