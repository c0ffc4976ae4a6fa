"""One shopping environment: ``reset`` -> ``step`` ... -> done, in process, without network (spec 01)."""

from __future__ import annotations

from typing import Any, Final, Literal

from shopsim.catalog import Corpus, resolve_price
from shopsim.env.errors import EpisodeError
from shopsim.env.messages import EPISODE_STARTED, TERMINATIONS
from shopsim.env.observation import build_observation
from shopsim.env.render import render_observation_state
from shopsim.env.reward import RewardBreakdown, score_purchase, zero_reward
from shopsim.env.schema import without_reasoning
from shopsim.env.session import Session
from shopsim.env.shop import SearchBackend, Shop
from shopsim.env.terms import TermExtractor
from shopsim.env.transitions import act, terminate
from shopsim.errors import UsageError
from shopsim.formats import ENVIRONMENT_VERSION
from shopsim.settings import Settings
from shopsim.tasks.goals import Goal, GoalSet

__all__ = ["InteractionMode", "ShopEnv"]

InteractionMode = Literal["single_turn", "multi_turn"]
_MODES: Final = ("single_turn", "multi_turn")


class ShopEnv:
    """A stateful environment over a shared corpus. Cheap to construct; one episode at a time.

    Answers are fresh JSON data in the shapes of spec 01 §7: whatever a caller does to them, the episode
    does not change. Pass ``shop`` to share product pages between environments (the engine does).
    """

    def __init__(
        self,
        corpus: Corpus,
        goals: GoalSet,
        search: SearchBackend,
        terms: TermExtractor,
        settings: Settings,
        *,
        shop: Shop | None = None,
    ) -> None:
        self._corpus = corpus
        self._goals = goals
        self._terms = terms
        self._settings = settings
        self._shop = shop or Shop(corpus, search, settings.search)
        self._episode: tuple[Goal, Session] | None = None

    @property
    def state(self) -> dict[str, Any]:
        """The public ``observation_state`` of the page. Raises :class:`EpisodeError` before a reset."""
        return build_observation(self._running()[1], self._shop)

    @property
    def steps_taken(self) -> int:
        """Actions used of the running or ended episode."""
        return self._running()[1].steps

    @property
    def action_limit(self) -> int:
        """The action budget of the episode: 30 in ``single_turn``, 40 in ``multi_turn`` by default."""
        return self._running()[1].limit

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self._running()[1].ended is not None

    def reset(
        self,
        task_id: int,
        *,
        persona: bool = True,
        interaction_mode: str = "single_turn",
        include_private_goal: bool = False,
    ) -> dict[str, Any]:
        """Start the episode of a task, dropping whatever ran before, and return the first answer.

        Raises :class:`~shopsim.tasks.goals.UnknownTaskError` for an id that the corpus does not have and
        :class:`~shopsim.errors.UsageError` for arguments of a wrong type or an unknown mode.
        """
        goal, limit = self.check(task_id, interaction_mode=interaction_mode)
        session = Session(limit=limit)
        self._episode = (goal, session)
        with_persona = bool(persona) and goal.is_persona
        simple = goal.instruction_simple if with_persona else None
        answer = {
            "task_instruction": simple or goal.instruction_text,
            **self._shown(session),
            "user_persona": without_reasoning(goal.user_persona) if with_persona else None,
            "task_mode": "persona" if with_persona else "standard",
            "interaction_mode": interaction_mode,
            "environment_version": ENVIRONMENT_VERSION,
            "idx": goal.task_id,
        }
        if include_private_goal:
            answer |= {
                "private_task_instruction": goal.instruction_text,
                "goal_options": list(goal.goal_options),
                "reason_key": None,  # the corpus format names it, no corpus has usable values (spec 01 §7)
            }
        return answer

    def check(self, task_id: int, *, interaction_mode: str = "single_turn") -> tuple[Goal, int]:
        """The goal and the action budget that a reset would start with; raises what it would raise."""
        return self._goals.get(_checked_task_id(task_id)), self._limit(interaction_mode)

    def step(self, response: str) -> dict[str, Any]:
        """Take one action (a canonical string or free text with one ``Action:`` line).

        Raises :class:`EpisodeError` before a reset and
        :class:`~shopsim.env.errors.EpisodeEndedError` after the end.
        """
        goal, session = self._running()
        session = act(session, response, self._shop)
        self._episode = (goal, session)
        return self._answer(goal, session)

    def terminate(self, termination_reason: str) -> dict[str, Any]:
        """End the episode with reward 0 for ``action_limit`` or ``generation_length``.

        The runner calls it for what the environment cannot see: a cut generation, or a budget that was
        spent by responses that never became an action. Other reasons raise
        :class:`~shopsim.env.errors.TerminationReasonError`.
        """
        goal, session = self._running()
        session = terminate(session, termination_reason)
        self._episode = (goal, session)
        return self._answer(goal, session)

    def _running(self) -> tuple[Goal, Session]:
        if self._episode is None:
            raise EpisodeError("no episode is running", hint="Call reset first.")
        return self._episode

    def _limit(self, interaction_mode: str) -> int:
        if interaction_mode not in _MODES:
            raise UsageError(
                f"interaction_mode: {interaction_mode!r} is unknown", hint=f"Known: {', '.join(_MODES)}."
            )
        episode = self._settings.episode
        single = interaction_mode == "single_turn"
        return episode.single_turn_actions if single else episode.multi_turn_actions

    def _shown(self, session: Session) -> dict[str, Any]:
        state = build_observation(session, self._shop)
        return {"observation": render_observation_state(state), "observation_state": state}

    def _answer(self, goal: Goal, session: Session) -> dict[str, Any]:
        feedback = session.feedback
        answer: dict[str, Any] = {
            "done": session.ended is not None,
            "over": session.ended is not None,
            "reward": 0.0,
            **self._shown(session),
            "action_feedback": feedback.to_wire() if feedback else None,
            "message": feedback.message if feedback else EPISODE_STARTED,
        }
        if session.ended is not None:
            reward = self._score(goal, session)
            answer |= {
                "reward": reward.reward,
                "message": TERMINATIONS[session.ended],
                "reward_detail": reward.to_wire(),
                "purchase": self._purchase(session),
                "goal": without_reasoning(goal.to_wire()),
                "termination_reason": session.ended,
            }
        return answer

    def _score(self, goal: Goal, session: Session) -> RewardBreakdown:
        if session.ended != "purchase" or session.asin is None:
            return zero_reward(goal, session.ended or "")
        product = self._corpus.by_asin[session.asin]
        return score_purchase(goal, product, session.selected, self._terms)

    def _purchase(self, session: Session) -> dict[str, Any] | None:
        """What was bought (spec 04 A ``final``); ``price`` is None when the options do not determine it."""
        if session.ended != "purchase" or session.asin is None:
            return None
        product = self._corpus.by_asin[session.asin]
        return {
            "asin": product.asin,
            "category": product.category,
            "name": product.title,
            "attributes": list(product.attributes),
            "price": resolve_price(product, session.selected).price,
            "options": dict(session.selected),
        }


def _checked_task_id(task_id: object) -> int:
    if isinstance(task_id, bool) or not isinstance(task_id, int):
        raise UsageError(f"task id: must be a whole number, not {task_id!r}")
    return task_id
