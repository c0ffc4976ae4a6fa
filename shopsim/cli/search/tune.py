"""``shopsim search tune``: search for better field weights, and say honestly whether they are better."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from shopsim.cli.search.workspace import open_search_engine, weights_folder

if TYPE_CHECKING:
    from shopsim.engine import Engine
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.evaluation import QuerySet
    from shopsim.search.tuning import Tuning

__all__ = ["register"]


def register(group: typer.Typer) -> None:
    """Add the command to the ``search`` group."""
    group.command("tune", help=_HELP)(_tune)


def _tune(
    name: Annotated[str, typer.Option(help="Save the set under this name.")] = "tuned",
    objective: Annotated[
        str, typer.Option(help="mrr_at_150, recall_at_1, recall_at_20, recall_at_150 or ndcg_at_20.")
    ] = "mrr_at_150",
    trials: Annotated[int, typer.Option(min=1, help="How many sets to try at most.")] = 300,
    patience: Annotated[
        int, typer.Option(min=1, help="Stop when val has not improved for this many trials.")
    ] = 120,
    seed: Annotated[int, typer.Option(help="The same seed gives the same set.")] = 0,
    with_k1_b: Annotated[
        bool, typer.Option("--with-k1-b", help="Experiment: also search k1 and b. Nothing is saved.")
    ] = False,
    force: Annotated[bool, typer.Option("--force", help="Replace a set of that name.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    from shopsim.progress import track
    from shopsim.search.bm25 import ExactScorer
    from shopsim.search.tuning import tune
    from shopsim.search.weights import save_weights
    from shopsim.search_queries import both_oracle_queries

    with open_search_engine() as engine:
        folder = weights_folder(engine.settings)
        _check_unused(name, folder, force or with_k1_b)
        train, val, test = (both_oracle_queries(engine, split) for split in ("train", "val", "test"))
        scorer = ExactScorer.from_index(engine.search)
        tuning = tune(
            scorer,
            train,
            val,
            objective=objective,
            trials=trials,
            patience=patience,
            seed=seed,
            free_parameters=with_k1_b,
            progress=lambda batches: track(batches, label="tune"),
        )
        report = _report(engine, scorer, tuning, train, test, seed)
    saved = None
    if not with_k1_b and tuning.best.number > 0:
        notes = {"source": "shopsim search tune", **{key: report[key] for key in _NOTES}}
        saved = save_weights(name, tuning.best.weights, folder, notes=notes)
    if as_json:
        typer.echo(json.dumps({**report, "saved": saved and str(saved)}, ensure_ascii=False))
    else:
        where = f"saved as {saved}" if saved else _why_unsaved(with_k1_b)
        typer.echo(f"{_describe(report)}\n{where}")


def _check_unused(name: str, folder: Path, may_replace: bool) -> None:
    from shopsim.errors import UsageError
    from shopsim.search.weights import check_name

    check_name(name)
    if (folder / f"{name}.json").exists() and not may_replace:
        raise UsageError(f"weight set {name!r} exists already", hint="Add --force to replace it.")


def _report(
    engine: Engine, scorer: ExactScorer, tuning: Tuning, train: QuerySet, test: QuerySet, seed: int
) -> dict[str, Any]:
    from shopsim.search.evaluation import GOLD_SCOPE
    from shopsim.search.gains import measure_gain
    from shopsim.search.tuning import near_optimal_ranges, sensitivity
    from shopsim.search.weights import V3

    best, first = tuning.best, tuning.candidates[0]
    gain = measure_gain(scorer, test, V3, best.weights, parameters=best.parameters)
    near, ranges = near_optimal_ranges(tuning)
    flat = sensitivity(scorer, train, best.weights, objective=tuning.objective, parameters=best.parameters)
    return {
        "objective": tuning.objective,
        "seed": seed,
        "trials": len(tuning.candidates),
        "stopped_early": tuning.stopped_early,
        "weights": best.weights.as_mapping(),
        "parameters": {"k1": best.parameters.k1, "b": best.parameters.b},
        "train": {"v3": first.train, "best": best.train},
        "validation": {"v3": first.validation, "best": best.validation},
        "test_gain_over_v3": gain.to_wire(),
        "stability": {
            "within_1_percent_of_best": near,
            "ranges": {field: list(ends) for field, ends in ranges.items()},
            "sensitivity": {one.field: one.changes for one in flat},
        },
        "search_version": engine.search.manifest["search_version"],
        "product_data_sha256": engine.corpus.sha256,
        "metric_scope": GOLD_SCOPE,
    }


_NOTES = (
    "objective", "seed", "trials", "train", "validation", "test_gain_over_v3", "search_version",
    "product_data_sha256", "metric_scope",
)  # fmt: skip


def _describe(report: dict[str, Any]) -> str:
    stop = "stopped early: val no longer improved" if report["stopped_early"] else "all tried"
    lines = [
        f"{report['trials']} sets ({stop}), objective {report['objective']}",
        f"train  v3 {report['train']['v3']:.4f}  best {report['train']['best']:.4f}",
        f"val    v3 {report['validation']['v3']:.4f}  best {report['validation']['best']:.4f}",
        "test   gain over v3 with its 95% interval over tasks:",
    ]
    for name, change in report["test_gain_over_v3"].items():
        if isinstance(change, dict):
            lines.append(
                f"  {name:<14} {change['before']:.4f} to {change['after']:.4f}  "
                f"{change['gain']:+.4f} ({change['low']:+.4f} to {change['high']:+.4f})"
            )
    parameters = report["parameters"]
    lines += _stability_lines(report["weights"], report["stability"])
    return "\n".join([*lines, f"k1 {parameters['k1']:.4g}, b {parameters['b']:.4g}", report["metric_scope"]])


def _stability_lines(weights: dict[str, float], stability: dict[str, Any]) -> list[str]:
    """One row a field: its weight, the range among near-optimal sets, the change when it is multiplied."""
    factors = next(iter(stability["sensitivity"].values()))
    near = f"within 1% of best ({stability['within_1_percent_of_best']} sets)"
    lines = [f"{'field':<11} {'weight':>8}  {near:<30}" + "".join(f" {f'x{f:g}':>8}" for f in factors)]
    for field, weight in weights.items():
        low, high = stability["ranges"][field]
        changes = "".join(f" {change:>+8.4f}" for change in stability["sensitivity"][field].values())
        lines.append(f"{field:<11} {weight:>8.4g}  {f'{low:.3g} to {high:.3g}':<30}{changes}")
    return lines


def _why_unsaved(with_k1_b: bool) -> str:
    if with_k1_b:
        return "not saved: FTS5's k1 and b are fixed, so no index could use these"
    return "not saved: no set beat v3 on val"


_HELP = """Search for field weights with Optuna: tried on train, chosen and stopped on val, judged on test.

The objective is the mean over the simple and the full oracle queries. The set is saved in
configs/search_weights; `shopsim search evaluate --weights NAME` and the settings file can name it.

Example: shopsim search tune --name mine --trials 200
"""
