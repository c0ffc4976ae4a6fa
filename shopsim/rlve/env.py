"""The environment of an agent: eight kinds of conversations, verified by code (spec 06, "Episode")."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from shopsim.errors import UsageError
from shopsim.formats import RLVE_OBSERVATION_VERSION
from shopsim.rlve.action import AgentAction
from shopsim.rlve.catalogue import CatalogueSearch
from shopsim.rlve.collections import collection
from shopsim.rlve.curriculum import Curriculum
from shopsim.rlve.denied import DeniedCategories
from shopsim.rlve.difficulty import Difficulty
from shopsim.rlve.episode import Episode, recommended_ids
from shopsim.rlve.errors import RlveError
from shopsim.rlve.problem import Problem, Task
from shopsim.rlve.rewordings import NotingVerbaliser
from shopsim.rlve.seeds import derived_seed, stream
from shopsim.rlve.tasks import TASKS
from shopsim.rlve.tools import Toolbox, tool_specs
from shopsim.rlve.user import UserSimulator, bundled_templates
from shopsim.rlve.world import World
from shopsim.settings import RlveSettings

if TYPE_CHECKING:
    from shopsim.rlve.catalogue import Catalogue
    from shopsim.rlve.user import Templates
    from shopsim.rlve.user.simulator import Verbaliser

__all__ = ["RlveEnv", "StepResult"]

_MAX_DRAWS: Final = 40
"""Problems drawn before giving up when what solves them is of a denied category."""


@dataclass(frozen=True, slots=True)
class StepResult:
    """What a step answers. ``reward`` is 0 until the end; ``info`` explains the episode once it ended."""

    observation: dict[str, Any]
    reward: float
    done: bool
    info: dict[str, Any]


class RlveEnv:
    """Plays one episode at a time. Cheap to make: catalogue and search are shared, also between threads.

    Observations are JSON data: ``conversation`` (roles user, assistant, tool), ``tool_results`` of the last
    turn, ``turn``, ``max_turns``, ``tool_calls_per_turn``, ``denied_categories``; after reset also ``tools``
    (function schemas); ``env`` and ``difficulty`` when they are disclosed.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        settings: RlveSettings | None = None,
        *,
        search: CatalogueSearch | None = None,
        curriculum: Curriculum | None = None,
        tasks: Mapping[str, Task] = TASKS,
        templates: Templates | None = None,
        verbaliser: Verbaliser | None = None,
    ) -> None:
        """``curriculum`` is drawn from and told every episode that it drew; default: a new one.

        ``tasks`` may hold environments of yours, ``verbaliser`` says the user's texts in other words. Raises
        :class:`UsageError` for a collection or a denied category that is none.
        """
        self.settings = settings or RlveSettings()
        self.catalogue = catalogue
        self.search = search or CatalogueSearch(catalogue)
        self.curriculum = curriculum or Curriculum(collection(self.settings.collection))
        if missing := [env for env in self.curriculum.envs if env not in tasks]:
            raise UsageError(f"environment {missing[0]!r}: no task is registered for it")
        self._tasks = tasks
        self._templates = templates or bundled_templates()
        self._verbaliser = None if verbaliser is None else NotingVerbaliser(verbaliser)
        self._denied = DeniedCategories(self.settings.denied_categories)
        self._episode: Episode | None = None
        self._seed = 0
        self._drawn = False

    @property
    def envs(self) -> tuple[str, ...]:
        """Ids of the environments that may be drawn."""
        return self.curriculum.envs

    @property
    def episode(self) -> Episode:
        """The episode at hand, private parts included. Raises :class:`RlveError` before the first reset."""
        if self._episode is None:
            raise RlveError("no episode is running", hint="Reset first.")
        return self._episode

    def reset(self, seed: int, env: str | None = None, difficulty: int | None = None) -> dict[str, Any]:
        """Start the episode of ``seed``: the same seed, environment and difficulty give the same problem.

        What is not given is drawn: the environment uniformly, the difficulty from its window. Raises
        :class:`UsageError` for an unknown environment or a difficulty out of range.
        """
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise UsageError(f"seed {seed!r}: must be a whole number")
        if env is not None and env not in self._tasks:
            raise UsageError(f"environment {env!r}: unknown", hint=f"Known: {', '.join(self._tasks)}.")
        self._drawn = difficulty is None
        if difficulty is None:
            env, difficulty = self.curriculum.draw(stream(seed, "draw"), env)
        elif env is None:
            env = stream(seed, "draw").choice(self.envs)
        problem, world = self._problem(seed, env, Difficulty.of(difficulty))
        dice = stream(seed, env, difficulty, "user")
        if self._verbaliser is not None:
            self._verbaliser.texts.clear()
        user = UserSimulator(problem, self._task_of, dice, self._templates, self._verbaliser)
        self._episode = Episode(problem, world, user, self._task_of, self._denied)
        self._episode.open()
        self._seed = seed
        return {**self._observation(), "tools": json.loads(_tools_text())}

    def step(self, response: str | Mapping[str, Any]) -> StepResult:
        """Take one action of the agent: JSON text, or the object.

        What is no action, of whatever type, ends the episode. Raises
        :class:`~shopsim.rlve.errors.EpisodeEndedError` after the end.
        """
        episode = self.episode
        episode.act(response)
        last = episode.turns[-1]
        info: dict[str, Any] = {
            "parse_error": last["parse_error"],
            "user_act": last["user"]["act"] if last["user"] else None,
        }
        if episode.end is None:
            return StepResult(self._observation(), 0.0, False, info)
        env, difficulty = episode.problem.env, episode.problem.difficulty.d
        if self._drawn:
            self.curriculum.record(env, difficulty, episode.end.correct)
        info |= {"env": env, "difficulty": difficulty, "seed": self._seed, **episode.end.to_wire()}
        return StepResult(self._observation(), episode.end.reward.total, True, info)

    def solution(self) -> Iterator[AgentAction]:
        """The oracle's actions for the episode at hand. Privileged: for oracles, checks and people."""
        return self.episode.solution()

    def private(self) -> dict[str, Any]:
        """What the agent of the episode at hand must never see, as JSON data."""
        return self.episode.private()

    @property
    def rewordings(self) -> list[str] | None:
        """What the verbaliser made of the user's texts in this episode, in order; None without one."""
        return None if self._verbaliser is None else list(self._verbaliser.texts)

    def _problem(self, seed: int, env: str, difficulty: Difficulty) -> tuple[Problem, World]:
        """Draw the problem; where categories are denied, one that can be solved without them."""
        for number in range(_MAX_DRAWS):
            problem, world = self._draw(seed, env, difficulty, number)
            if not self._denied or not self._needs_denied(problem, world):
                return problem, world
        raise RlveError(
            f"{env} at difficulty {difficulty.d}: every problem needs a product of a denied category",
            hint="Deny fewer categories.",
        )

    def _draw(self, seed: int, env: str, difficulty: Difficulty, number: int) -> tuple[Problem, World]:
        world_seed = derived_seed(seed, env, difficulty.d, "world", number)
        world = World(self.catalogue, self.search, difficulty=difficulty, seed=world_seed)
        dice = stream(seed, env, difficulty.d, "problem", number)
        return self._tasks[env].generate(world, difficulty, dice), world

    def _needs_denied(self, problem: Problem, world: World) -> bool:
        """Whether the oracle recommends something denied; ``world`` stays as it is."""
        tools = Toolbox(world)
        with world.trial():
            for turn, action in enumerate(self._tasks[problem.env].solve(problem, world), start=1):
                for call in action.tool_calls:
                    tools.call(call.name, call.args, turn)
                if self._denied.any_of(self.catalogue, recommended_ids(action.answer)):
                    return True
        return False

    def _task_of(self, problem: Problem) -> Task:
        return self._tasks[problem.env]

    def _observation(self) -> dict[str, Any]:
        episode = self.episode
        observation: dict[str, Any] = {
            "observation_version": RLVE_OBSERVATION_VERSION,
            "conversation": [dict(entry) for entry in episode.conversation],
            "tool_results": list(episode.last_results),
            "turn": episode.turn,
            "max_turns": episode.max_turns,
            "tool_calls_per_turn": episode.problem.difficulty.tool_calls,
            "denied_categories": list(self._denied.names),
        }
        if self.settings.disclose:
            observation["env"] = episode.problem.env
            observation["difficulty"] = episode.problem.difficulty.d
        return observation


@cache
def _tools_text() -> str:
    """The schemas as text: making them takes longer than an episode, and no agent may change another's."""
    return json.dumps(tool_specs())
