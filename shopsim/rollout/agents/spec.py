"""Agents by name: what a command line or a manifest says, and the agent that is built from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Final

from shopsim.chat import ChatClient, Endpoint
from shopsim.errors import UsageError
from shopsim.jsonio import require_portable
from shopsim.rollout.agents.base import Agent
from shopsim.rollout.agents.chat_agent import ChatAgent
from shopsim.rollout.agents.oracle import OracleAgent
from shopsim.rollout.agents.random_agent import RandomAgent
from shopsim.rollout.agents.sampling import Sampling
from shopsim.rollout.agents.shopper import ScriptedShopper
from shopsim.rollout.agents.skill import SKILLS, Skill

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["OPENAI", "AgentSpec", "ChatModel", "agent_names", "agent_spec", "build_agent"]

OPENAI: Final = "openai"
"""Name of the agent that asks a chat endpoint."""

_SHOPPER: Final = "shopper-"


@dataclass(frozen=True, slots=True)
class ChatModel:
    """A model behind an endpoint: where it answers, how it is sampled, which checkpoint it is."""

    endpoint: Endpoint
    sampling: Sampling
    checkpoint_id: str | None = None

    def __post_init__(self) -> None:
        if self.checkpoint_id == "":
            raise UsageError("checkpoint: must be named, or left out")
        require_portable(self.checkpoint_id, "checkpoint")

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan (spec 04 A). It holds no key, and no name of its variable."""
        endpoint = self.endpoint
        named = {} if self.checkpoint_id is None else {"checkpoint_id": self.checkpoint_id}
        return {
            "provider": "openai_compatible_http",
            **named,
            "model": endpoint.model,
            "base_url": endpoint.base_url,
            "transport": {"timeout_seconds": endpoint.timeout_seconds, "max_retries": endpoint.retries},
            "sampling": self.sampling.to_wire(),
        }


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent's identity: small, comparable, and good to send to another process."""

    name: str
    skill: Skill | None = None
    chat: ChatModel | None = None

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan. Of a script it says that it is one, not a trained model."""
        if self.chat is not None:
            return self.chat.to_model()
        model: dict[str, Any] = {
            "provider": "scripted",
            "simulated": True,
            "model": f"scripted-{self.name}",
            "base_url": None,
            "transport": {},
            "sampling": {"send_seed": True, "tool_choice": "auto"},
        }
        if self.skill is not None:
            model["checkpoint_id"] = f"scripted-{self.skill.label}"
            model["skill"] = asdict(self.skill)
        return model


def agent_names() -> tuple[str, ...]:
    """Every scripted agent that :func:`agent_spec` knows."""
    return ("random", "oracle", *(f"{_SHOPPER}{label}" for label in SKILLS))


def agent_spec(name: str) -> AgentSpec:
    """The scripted agent of that name. Raises :class:`UsageError` with the known names."""
    if name in ("random", "oracle"):
        return AgentSpec(name)
    skill = SKILLS.get(name.removeprefix(_SHOPPER)) if name.startswith(_SHOPPER) else None
    if skill is None:
        known = (*agent_names(), f"{OPENAI} (with --base-url and --model)")
        raise UsageError(f"agent {name!r}: unknown", hint=f"Known: {', '.join(known)}.")
    return AgentSpec("shopper", skill)


def build_agent(spec: AgentSpec, engine: Engine) -> Agent:
    """Build the agent of ``spec``. Only the oracle is given anything of the engine."""
    if spec.chat is not None:
        return ChatAgent(ChatClient(spec.chat.endpoint), spec.chat.sampling)
    if spec.skill is not None:
        return ScriptedShopper(spec.skill)
    if spec.name == "oracle":
        from shopsim.tasks.solutions import solver_for  # numpy: not needed to name or run other agents

        solver = solver_for(engine.corpus, engine.terms)
        return OracleAgent(engine.corpus, engine.goals, solver.solve)
    return RandomAgent()
