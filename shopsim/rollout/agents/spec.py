"""Agents by name: what a command line or a manifest says, and the agent that is built from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from shopsim.errors import UsageError
from shopsim.rollout.agents.base import Agent
from shopsim.rollout.agents.oracle import OracleAgent
from shopsim.rollout.agents.random_agent import RandomAgent
from shopsim.rollout.agents.shopper import ScriptedShopper
from shopsim.rollout.agents.skill import SKILLS, Skill

if TYPE_CHECKING:
    from shopsim.engine import Engine

__all__ = ["AgentSpec", "agent_names", "agent_spec", "build_agent"]

_SHOPPER = "shopper-"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent's identity: small, comparable, and good to send to another process."""

    name: str
    skill: Skill | None = None

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan. It says that this is a script, not a trained model."""
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
    """Every agent that :func:`agent_spec` knows."""
    return ("random", "oracle", *(f"{_SHOPPER}{label}" for label in SKILLS))


def agent_spec(name: str) -> AgentSpec:
    """The agent of that name. Raises :class:`UsageError` with the known names."""
    if name in ("random", "oracle"):
        return AgentSpec(name)
    skill = SKILLS.get(name.removeprefix(_SHOPPER)) if name.startswith(_SHOPPER) else None
    if skill is None:
        raise UsageError(f"agent {name!r}: unknown", hint=f"Known: {', '.join(agent_names())}.")
    return AgentSpec("shopper", skill)


def build_agent(spec: AgentSpec, engine: Engine) -> Agent:
    """Build the agent of ``spec``. Only the oracle is given anything of the engine."""
    if spec.skill is not None:
        return ScriptedShopper(spec.skill)
    if spec.name == "oracle":
        from shopsim.tasks.solutions import solver_for  # numpy: not needed to name or run other agents

        solver = solver_for(engine.corpus, engine.terms)
        return OracleAgent(engine.corpus, engine.goals, solver.solve)
    return RandomAgent()
