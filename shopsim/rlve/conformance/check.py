"""Running the rules over some cases."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress

from shopsim.conformance import UnusableAnswerError
from shopsim.errors import UsageError
from shopsim.rlve.conformance.probe import Case, ConversationEnvironment, Probe
from shopsim.rlve.conformance.report import ConformanceReport
from shopsim.rlve.conformance.rules import RULES, Rule
from shopsim.rlve.difficulty import Difficulty

__all__ = ["check_env"]


def check_env(
    environment: ConversationEnvironment,
    *,
    envs: Sequence[str] | None = None,
    difficulties: Sequence[int] = tuple(range(13)),
    seeds: Sequence[int] = (0,),
    progress: Callable[[Iterable[Rule]], Iterable[Rule]] = iter,
) -> ConformanceReport:
    """Test every rule of the contract on ``envs`` (default: all that the environment has).

    Oracle, privacy, wrong answers and random walks are tried at every difficulty with every seed, the other
    rules at the lowest and the highest difficulty with the first seed. Raises
    :class:`~shopsim.errors.UsageError` without cases, or for an environment or difficulty that there is not;
    errors of another kind than :class:`~shopsim.errors.ShopSimError` are defects and are passed on.
    """
    known = tuple(environment.envs)
    chosen = known if envs is None else tuple(envs)
    if not (chosen and difficulties and seeds):
        raise UsageError("check: at least one environment, one difficulty and one seed are needed")
    if unknown := [env for env in chosen if env not in known]:
        raise UsageError(f"environment {unknown[0]!r}: unknown", hint=f"Known: {', '.join(known)}.")
    for difficulty in difficulties:
        Difficulty.of(difficulty)
    everywhere = [Case(env, d, seed) for env in chosen for d in difficulties for seed in seeds]
    ends = sorted({min(difficulties), max(difficulties)})
    some = [Case(env, d, seeds[0]) for env in chosen for d in ends]
    probe = Probe(environment)
    results, skipped = [], {}
    for rule in progress(RULES):
        if missing := [name for name in rule.needs if not hasattr(environment, name)]:
            skipped[rule.name] = f"the environment has no {missing[0]}()"
            continue
        probe.begin()
        for case in everywhere if rule.everywhere else some:
            with suppress(UnusableAnswerError):  # noted as a failure; the next case may do better
                rule.test(probe, case)
        results.append(probe.result(rule.name, rule.description))
    return ConformanceReport(
        results=tuple(results),
        steps=probe.steps,
        envs=chosen,
        difficulties=tuple(difficulties),
        skipped=skipped,
        episodes=probe.episodes,
    )
