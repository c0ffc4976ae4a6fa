"""``shopsim search evaluate``: Recall@k and MRR of the oracle queries, agents' queries or a file."""

from __future__ import annotations

import json
from collections.abc import Hashable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_or_configured

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.search.evaluation import Outcomes, QuerySet
    from shopsim.search.rankings import Rankings
    from shopsim.search.weights import FieldWeights
    from shopsim.search_queries import Wanted

__all__ = ["register"]


class _EngineName(StrEnum):
    EXACT = "exact"
    FTS5 = "fts5"


class _Relevance(StrEnum):
    GOLD = "gold"
    SATISFYING = "satisfying"


class _Grouping(StrEnum):
    DOMAIN = "domain"
    LENGTH = "length"


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("evaluate", help=_HELP)(_evaluate)


def _evaluate(
    split: Annotated[
        str, typer.Option(help="Tasks of the oracle queries: train, val, test or all.")
    ] = "test",
    engine: Annotated[
        _EngineName, typer.Option(help="Who ranks: the same lists, one faster.")
    ] = _EngineName.EXACT,
    weights: Annotated[str | None, typer.Option(help="A weight set; the index's own when left out.")] = None,
    run: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Judge what the agents of this run searched for.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Judge the queries of a file (JSON lines or TSV).")
    ] = None,
    relevance: Annotated[
        _Relevance, typer.Option(help="What counts as found: the gold ASIN or any satisfying product.")
    ] = _Relevance.GOLD,
    by: Annotated[_Grouping | None, typer.Option(help="Add a breakdown.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.errors import UsageError
    from shopsim.search.evaluation import GOLD_SCOPE, SATISFYING_SCOPE, judge, summarize
    from shopsim.search.index import MAX_RESULTS
    from shopsim.search_queries import gold, satisfying

    if run is not None and file is not None:
        raise UsageError("--run and --file exclude each other")
    for option, path in (("--run", run), ("--file", file)):
        if path is not None and not path.exists():
            raise UsageError(f"{option} {path}: no such file or folder")
    if file is not None and relevance is _Relevance.SATISFYING:
        raise UsageError("--relevance satisfying needs tasks; a file names the wanted ASINs itself")
    any_satisfying = relevance is _Relevance.SATISFYING
    with open_search_engine(with_terms=any_satisfying) as opened:
        wanted = satisfying(opened) if any_satisfying else gold
        sets = _query_sets(opened, split, run, file, wanted)
        chosen = weights_or_configured(opened, weights)
        ranked = _rank(opened, sets, chosen, engine)
        outcomes = {name: judge(ranked[name], queries) for name, queries in sets.items()}
        report: dict[str, Any] = {
            "search_version": opened.search.manifest["search_version"],
            "product_data_sha256": opened.corpus.sha256,
            "split": split if run is None and file is None else None,
            "top_k": MAX_RESULTS,
            "metrics": {name: summarize(outcome) for name, outcome in outcomes.items()},
            "metric_scope": SATISFYING_SCOPE if any_satisfying else GOLD_SCOPE,
        }
        if by is not None:
            report["groups"] = {
                name: _grouped(opened, sets[name], outcome, by) for name, outcome in outcomes.items()
            }
    typer.echo(json.dumps(report, ensure_ascii=False) if as_json else _describe(report, sets, outcomes))


def _query_sets(
    engine: Engine, split: str, run: Path | None, file: Path | None, wanted: Wanted
) -> dict[str, QuerySet]:
    from shopsim.search_queries import ORACLE_KINDS, file_queries, oracle_queries, run_queries

    if run is not None:
        return {"agent": run_queries(engine, run / "traces.jsonl" if run.is_dir() else run, wanted)}
    if file is not None:
        return {"file": file_queries(file)}
    return {kind: oracle_queries(engine, split, kind, wanted) for kind in ORACLE_KINDS}


def _rank(
    engine: Engine, sets: dict[str, QuerySet], weights: FieldWeights, ranker: _EngineName
) -> dict[str, Rankings]:
    from shopsim.progress import track
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.evaluation import fts5_rankings

    if ranker is _EngineName.EXACT:
        scorer = ExactScorer.from_index(engine.search)
        return {name: scorer.rank(scorer.prepare(q.texts), [weights])[0] for name, q in sets.items()}
    return {
        name: fts5_rankings(engine.search, track(queries.texts, label=name, total=len(queries)), weights)
        for name, queries in sets.items()
    }


def _grouped(engine: Engine, queries: QuerySet, outcomes: Outcomes, by: _Grouping) -> dict[str, Any]:
    from shopsim.search.evaluation import by_group, length_band

    if by is _Grouping.LENGTH:
        labels = [length_band(text) for text in queries.texts]
    else:
        labels = [
            _domain(engine, unit, wanted) for unit, wanted in zip(queries.units, queries.wanted, strict=True)
        ]
    return dict(by_group(outcomes, labels))


def _domain(engine: Engine, unit: Hashable, wanted: frozenset[str]) -> str:
    """The domain of the task, or of a wanted product when the query has no task."""
    if isinstance(unit, int) and unit in engine.goals:
        return engine.goals.get(unit).domain or "(none)"
    product = engine.corpus.get(min(wanted))
    return (product.domain if product else "") or "(none)"


def _describe(report: dict[str, Any], sets: dict[str, QuerySet], outcomes: dict[str, Outcomes]) -> str:
    from shopsim.search.intervals import bootstrap_mean
    from shopsim.search.metrics import rank_histogram

    lines = [f"{'queries':<16} {'n':>6} {'R@1':>8} {'R@20':>8} {'R@150':>8} {'MRR@150':>8}  95% of MRR"]
    for name, metrics in report["metrics"].items():
        interval = bootstrap_mean(outcomes[name].reciprocal_rank(), sets[name].units)
        lines.append(f"{_row(name, metrics)}  {interval.low:.4f} to {interval.high:.4f}")
        for label, group in report.get("groups", {}).get(name, {}).items():
            lines.append(_row(f"  {label}", group))
    for name, outcome in outcomes.items():
        bands = ", ".join(f"{band}: {count}" for band, count in rank_histogram(outcome.first).items())
        lines.append(f"ranks of {name}: {bands}")
    return "\n".join([*lines, report["metric_scope"]])


def _row(name: str, metrics: dict[str, Any]) -> str:
    from rich.cells import set_cell_size  # Chinese characters are two columns wide

    shares = " ".join(f"{metrics[f'recall_at_{k}']:>8.2%}" for k in (1, 20, 150))
    return f"{set_cell_size(name, 16)} {metrics['queries']:>6,} {shares} {metrics['mrr_at_150']:>8.4f}"


_HELP = """Measure where the wanted products stand in the result lists.

Oracle queries: "simple" is the instruction that an agent is shown, "full" the complete one.
The gold ASIN is a proxy: other products can satisfy a task too.

Example: shopsim search evaluate --split test --engine fts5 --json
"""
