"""``shopsim annotate``: a plan that costs nothing, and a session that carries it out (spec 05 step 3).

Two files: the cache gets every answer at once and may hold those of other models and archives; the recorded
annotations, which the build reads, are written from it when no answer is missing any more.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from shopsim.catalog.corpus import parse_records
from shopsim.chat import ChatClient, Endpoint
from shopsim.errors import ShopSimError, UsageError
from shopsim.jsonio import FileError
from shopsim.jsonl import LineWriter
from shopsim.locking import folder_lock
from shopsim.pipeline.annotate.asking import Asker, Clock, Patience
from shopsim.pipeline.annotate.cache import Cached, Origin, read_cache
from shopsim.pipeline.annotate.errors import AnnotationStoppedError
from shopsim.pipeline.annotate.ledger import Ledger
from shopsim.pipeline.annotate.limiter import Limiter
from shopsim.pipeline.annotate.plan import Plan, make_plan
from shopsim.pipeline.annotate.prompt import PROTOCOL_VERSION, REQUEST_FIELDS, prompt_sha256
from shopsim.pipeline.annotate.recorded import is_recorded, write_recorded
from shopsim.pipeline.annotate.report import SessionReport
from shopsim.pipeline.annotate.session import Session
from shopsim.pipeline.annotate.watch import Watch
from shopsim.pipeline.answers import Answer, Provenance
from shopsim.pipeline.exclusions import exclude_products
from shopsim.pipeline.identity import RawTask, broken_text, identify
from shopsim.pipeline.source import RESTORE, find_source, read_raw, refuse_to_overwrite
from shopsim.settings import Settings
from shopsim.storage import storing
from shopsim.wording import plural

__all__ = ["DEFAULT_CACHE", "AnnotationRequest", "Stage", "open_stage"]

DEFAULT_CACHE: Final = "data/annotations/cache.jsonl"


@dataclass(frozen=True, slots=True)
class AnnotationRequest:
    """What to ask whom, and how much of it. None stands for the default place of a file."""

    endpoint: Endpoint
    cache: Path | None = None
    out: Path | None = None
    runtime_regex_task_ids: tuple[int, ...] = ()
    max_requests: int | None = None
    workers: int = 32
    requests_per_minute: float = 32.0
    patience: Patience = field(default_factory=Patience)
    force: bool = False
    """Replace recorded annotations that are there and differ."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A plan, and what is needed to carry it out."""

    request: AnnotationRequest
    tasks: Mapping[int, RawTask]
    cached: Cached
    plan: Plan
    cache: Path
    out: Path

    @property
    def may_record(self) -> bool:
        """Whether ``out`` may be written: it is not there, may be replaced, or holds the same already."""
        if self.request.force or not self.out.exists():
            return True
        return not self.plan.asks and is_recorded(self.out, self._recorded())

    def run(
        self,
        watch: Watch | None = None,
        *,
        clock: Clock | None = None,
    ) -> SessionReport:
        """Ask what the plan holds, save every answer, and record them all once none is missing.

        Raises :class:`ShopSimError` for what stops the session before its end; what was answered is saved.
        """
        if not self.may_record:
            raise UsageError(f"{self.out}: holds other recorded annotations", hint=_REPLACE)
        client = ChatClient(self.request.endpoint)
        if self.plan.asks:
            client.check_key()
        limiter, ledger = Limiter(self.request.requests_per_minute), Ledger(self.request.max_requests)
        stop = threading.Event()
        asker = Asker(client, limiter, ledger, self.request.patience, stop, clock, watch)
        with storing(self.cache):
            writer = LineWriter(self.cache)
        with writer:
            session = Session(
                asker,
                self.plan.asks,
                self.cached.answers,
                lambda answer: self._save(writer, answer),
                stop,
                workers=self.request.workers,
                watch=watch,
            )
            with _saying_what_is_kept(session):
                session.run()
        return self._finish(session, ledger, limiter)

    def _save(self, writer: LineWriter, answer: Answer) -> None:
        with storing(self.cache):
            writer.append(self.plan.origin.record(answer))

    def _finish(self, session: Session, ledger: Ledger, limiter: Limiter) -> SessionReport:
        after = self._planned(session.answers)
        if not after.asks:
            write_recorded(self.out, self._recorded(session.answers))
        return SessionReport(
            sent=ledger.sent,
            saved=session.saved,
            failed=tuple((ask.task.task_id, ask.source_field, reason) for ask, reason in session.failed),
            open_requests=len(after.asks),
            pauses=limiter.waves,
            requests_per_minute=limiter.per_minute,
            prompt_tokens=ledger.prompt_tokens,
            completion_tokens=ledger.completion_tokens,
            recorded=None if after.asks else self.out,
        )

    def _recorded(self, answers: Mapping[tuple[int, str], Answer] | None = None) -> list[dict[str, object]]:
        known = self.cached.answers if answers is None else answers
        return [self.plan.origin.record(known[key]) for key in sorted(known, key=_order)]

    def _planned(self, answers: Mapping[tuple[int, str], Answer]) -> Plan:
        return _plan(self.request, self.tasks, Cached(dict(answers), {}), self.plan.origin)


@contextmanager
def open_stage(settings: Settings, request: AnnotationRequest, *, locked: bool) -> Iterator[Stage]:
    """Read archive and cache and make the plan; ``locked`` keeps other sessions out of the cache meanwhile.

    Raises :class:`ShopSimError` with one line for a wrong source, wrong files or options, and for a cache
    that another session writes.
    """
    _check(request)
    cache = request.cache or settings.path(DEFAULT_CACHE)
    out = request.out or settings.path(settings.corpus.annotations)
    raw = settings.path(settings.corpus.raw_archive)
    refuse_to_overwrite(settings.prepared_dir, cache, out)
    if len({path.resolve() for path in (cache, out, raw)}) < 3:
        raise UsageError("cache, recorded annotations and raw archive: must be three files")
    with ExitStack() as stack:
        if locked:
            with storing(cache):
                stack.enter_context(folder_lock(cache.parent, what="annotations", mend=_WAIT))
        yield _open(settings, request, cache, out)


def _check(request: AnnotationRequest) -> None:
    parts = urlsplit(request.endpoint.base_url)
    if parts.query or parts.fragment:
        raise UsageError(
            "base URL: must end with its path, because it is written into every record",
            hint="Give a key with --key-variable.",
        )
    ours = REQUEST_FIELDS.keys() & request.endpoint.sampling.keys()
    if ours:
        raise UsageError(f"sampling: must be without {', '.join(sorted(ours))}, which the protocol sets")


def _open(settings: Settings, request: AnnotationRequest, cache: Path, out: Path) -> Stage:
    source = find_source(settings)
    if source.cleaned:
        raise FileError(f"{settings.path(settings.corpus.raw_archive)}: no such file", hint=RESTORE)
    records = parse_records(read_raw(source), source.archive, hint=RESTORE)
    tasks = identify(records, str(source.archive))
    excluded = {exclusion.product_index for exclusion in exclude_products(records, tasks)}
    asked = {task.task_id: task for task in tasks if task.is_persona and task.product_index not in excluded}
    for task in asked.values():
        _check_text(task, str(source.archive))
    endpoint = request.endpoint
    provenance = Provenance(
        endpoint.base_url.rstrip("/"), endpoint.model, PROTOCOL_VERSION, prompt_sha256(endpoint.sampling)
    )
    origin = Origin(source.archive_sha256, provenance)
    cached = read_cache(cache, origin, asked)
    return Stage(request, asked, cached, _plan(request, asked, cached, origin), cache, out)


def _plan(request: AnnotationRequest, tasks: Mapping[int, RawTask], cached: Cached, origin: Origin) -> Plan:
    return make_plan(
        tasks,
        cached,
        origin,
        give_up=request.runtime_regex_task_ids,
        requests_per_minute=request.requests_per_minute,
        max_requests=request.max_requests,
    )


def _check_text(task: RawTask, source: str) -> None:
    """Refuse what the build would refuse later, before it costs anything."""
    try:
        task.text("instruction_simple").encode("utf-8")
    except UnicodeEncodeError:
        raise broken_text(source, f"task {task.task_id}: instruction_simple") from None


@contextmanager
def _saying_what_is_kept(session: Session) -> Iterator[None]:
    """Let whatever stops the session tell how much of it stays."""
    try:
        yield
    except KeyboardInterrupt:
        raise AnnotationStoppedError("interrupted", hint=_kept(session)) from None
    except ShopSimError as error:
        raise AnnotationStoppedError(str(error), hint=_kept(session)) from None


def _kept(session: Session) -> str:
    if not session.saved:
        return "No answer was saved this time."
    saved = f"{plural(session.saved, 'answer')} of this session {'is' if session.saved == 1 else 'are'} kept"
    return f"{saved}; the same command goes on from there."


_REPLACE: Final = "Write to another file with --out, or replace it with --force."
_WAIT: Final = "Wait for it to end, or choose another folder with --cache."


def _order(key: tuple[int, str]) -> tuple[int, bool]:
    """By task, the simple instruction before the full one."""
    return key[0], key[1] == "instruction"
