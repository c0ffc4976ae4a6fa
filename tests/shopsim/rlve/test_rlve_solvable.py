"""The tasks can be solved from the conversation alone: by a reader that knows nothing of the problem."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from shopsim.rlve.action import AgentAction, Answer
from shopsim.rlve.catalogue import Constraint, Product
from shopsim.rlve.env import RlveEnv, StepResult
from shopsim.rlve.problem import Outcome
from shopsim.rlve.shop import Shop
from shopsim.rlve.tasks import TASKS
from tests.factories.rlve_reader import read_and_solve


@pytest.mark.parametrize("name", ["STATUS", "CART", "RETURN", "BUNDLE"])
def test_a_reader_solves_every_episode(rlve_shop: Shop, name: str) -> None:
    env = rlve_shop.new_env()
    for difficulty in range(13):
        for seed in (0, 1):
            end = read_and_solve(env, name, difficulty, 100 * seed + difficulty)
            assert end.info["correct"], (difficulty, seed, end.info, env.episode.conversation)
            assert end.reward > 0.3


def test_a_reader_that_does_not_ask_solves_less_but_is_not_blamed(rlve_shop: Shop) -> None:
    """What was never told is not held against it: it is right about all that it knows."""
    env = rlve_shop.new_env()
    for seed in range(10):
        env.reset(seed, "BUNDLE", 9)
        told = set(env.episode.user.told)
        untold = [fact for fact in env.private()["facts"] if fact["name"] not in told]
        if untold:
            break
    known = {name.removeprefix("category:") for name in told if name.startswith("category:")}
    target = env.private()["target"]
    pairs = zip(target["categories"], target["product_ids"], strict=True)
    ids = tuple(product_id for category, product_id in pairs if category in known)
    outcome = Outcome(Answer(recommended_product_ids=ids, done=True), env.episode.world, frozenset(told))
    verdict = TASKS["BUNDLE"].verify(env.episode.problem, outcome)
    assert verdict.parts["f1"] == 1.0


def test_taste_told_in_points_is_enough_for_a_product_search(rlve_shop: Shop) -> None:
    """Who weighs price, ratings, delivery, brand and likeness as told is right nearly always.

    Likeness is judged by words in common, prices by what is on offer: the verifier's own vectors and
    weights are not needed. Of the sentences only the points are read here; the wishes are taken as known.
    """
    env = rlve_shop.new_env()
    correct = 0
    for seed in range(40):
        env.reset(seed, "PD", seed % 13)
        problem, world = env.episode.problem, env.episode.world
        shelf = [
            env.catalogue.product(row)
            for row in env.catalogue.rows_of_leaf(problem.target.leaf).tolist()
            if world.is_in_stock(env.catalogue.product(row).id)
        ]
        points = _points([fact.text for fact in problem.facts])
        ranked = _ranked(shelf, points, problem.target.constraints, problem.persona)
        best = [product.id for product in ranked[: problem.difficulty.items]]
        told = frozenset(fact.name for fact in problem.facts)
        answer = Answer(recommended_product_ids=tuple(best), done=True)
        correct += TASKS["PD"].verify(problem, Outcome(answer, world, told)).correct
    assert correct >= 36


_NAMES = {
    "price": "price",
    "ratings": "rating",
    "delivery": "shipping",
    "brand": "brand",
    "likeness": "similarity",
}


def _points(texts: Sequence[str]) -> dict[str, float]:
    """Weights of the five dimensions from the sentence that gives points."""
    (sentence,) = (text for text in texts if "points" in text)
    weights = dict.fromkeys(_NAMES.values(), 0.0)
    for points, words in re.findall(r"(\d+) to ([a-zA-Z ]+)", sentence):
        for word, dimension in _NAMES.items():
            if word in words.split():
                weights[dimension] = int(points) / 10
    return weights


def _ranked(
    shelf: list[Product], weights: dict[str, float], wishes: tuple[Constraint, ...], persona: Any
) -> list[Product]:
    for wish in wishes:  # who wishes for something cares about it
        if wish.dimension is not None:
            weights[wish.dimension] += 3 / 7
    prices = [product.price for product in shelf]
    low, span = min(prices), max(prices) - min(prices) or 1.0

    def worth(product: Product) -> float:
        parts = {
            "price": 1 - (product.price - low) / span,
            "rating": (product.rating - 1) / 4,
            "shipping": 1 - min(1.0, product.shipping_days / 14),
            "brand": float(product.brand == persona.brand),
            "similarity": _likeness(product, persona.reference),
        }
        return sum(weights[name] * part for name, part in parts.items())

    ranked = sorted(shelf, key=worth, reverse=True)
    fitting = [product for product in ranked if all(wish.holds(product) for wish in wishes)]
    return [*fitting[:1], *(product for product in ranked if product not in fitting[:1])]


def _likeness(product: Product, other: Product | None) -> float:
    if other is None:
        return 0.5
    one, two = _words(product), _words(other)
    return (1 + len(one & two) / len(one | two)) / 2


def _words(product: Product) -> set[str]:
    values = " ".join(f"{name}_{value}" for name, value in product.attributes.items())
    return set(f"{product.title} {values}".lower().split())


def test_a_journey_is_in_reach_of_who_takes_up_a_part_only_when_it_is_brought_up(rlve_shop: Shop) -> None:
    """Each part by its own task's solution, started when the user has named it and acknowledged at once."""
    env = rlve_shop.new_env()
    for difficulty in range(13):
        env.reset(difficulty, "JOURNEY", difficulty)
        assert _patient_journey(env).info["correct"], (difficulty, env.episode.conversation)


def _patient_journey(env: RlveEnv) -> StepResult:
    problem, world, user = env.episode.problem, env.episode.world, env.episode.user
    works: dict[str, Iterator[AgentAction]] = {}
    answers: dict[str, dict[str, Any]] = {}
    held: dict[str, AgentAction] = {}
    while True:
        for part in problem.parts:
            if part.env in user.told and part.env not in works:
                works[part.env] = TASKS[part.env].solve(part, world)
                answers[part.env] = {"env": part.env}
        calls: list[Any] = []
        said: list[str] = []
        for name in works:
            action = held.pop(name, None) or next(works[name], None)
            if action is None:
                continue
            if len(calls) + len(action.tool_calls) > problem.difficulty.tool_calls:
                held[name] = action
                continue
            calls += action.tool_calls
            said.append(action.assistant_message)
            if action.answer is not None:
                fields = action.answer.model_dump(mode="json", exclude={"subgoal_answers", "done", "env"})
                answers[name] |= {**fields, "done": True}
        done = len(answers) == len(problem.parts) and all(own.get("done") for own in answers.values())
        parts = [{key: value for key, value in own.items() if key != "done"} for own in answers.values()]
        wire = {
            "assistant_message": " ".join(said).strip(),
            "tool_calls": [call.model_dump(mode="json") for call in calls],
            "answer": {"env": "JOURNEY", "subgoal_answers": parts, "done": done},
        }
        result = env.step(wire)
        if result.done:
            return result
