"""Agents by name: what a command line or a manifest says, and the agent that is built from it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from shopsim.errors import UsageError
from shopsim.rlve.agents.base import Agent
from shopsim.rlve.agents.chat_agent import ChatAgent, Endpoint
from shopsim.rlve.agents.clerk import ScriptedClerk
from shopsim.rlve.agents.oracle import OracleAgent
from shopsim.rlve.agents.prompt import PROMPT_VERSION, prompt_sha256
from shopsim.rlve.agents.random_agent import RandomAgent
from shopsim.rlve.agents.skill import SKILLS, Skill

__all__ = ["AgentSpec", "agent_names", "agent_spec"]

_CLERK: Final = "clerk-"


@dataclass(frozen=True, slots=True)
class AgentSpec:
    """An agent's identity: small, comparable, complete."""

    name: str
    skill: Skill | None = None
    endpoint: Endpoint | None = None

    def to_model(self) -> dict[str, Any]:
        """The ``model`` object of a plan. Of a script it says that it is one, and what it may read."""
        if self.endpoint is not None:
            prompt = {"version": PROMPT_VERSION, "sha256": prompt_sha256()}
            return {**self.endpoint.to_model(), "prompt": prompt}
        model: dict[str, Any] = {
            "provider": "scripted",
            "simulated": True,
            "model": f"scripted-{self.name}",
            "base_url": None,
            "reads_solution": self.name != "random",
        }
        if self.skill is not None:
            model["skill"] = asdict(self.skill)
        return model

    def build(self) -> Agent:
        """A new agent of this kind."""
        if self.endpoint is not None:
            return ChatAgent(self.endpoint)
        if self.skill is not None:
            return ScriptedClerk(self.skill)
        return OracleAgent() if self.name == "oracle" else RandomAgent()


def agent_names() -> tuple[str, ...]:
    """Every scripted agent that :func:`agent_spec` knows."""
    return ("random", "oracle", *(f"{_CLERK}{label}" for label in SKILLS))


def agent_spec(name: str) -> AgentSpec:
    """The scripted agent of that name. Raises :class:`UsageError` with the known names."""
    if name in ("random", "oracle"):
        return AgentSpec(name)
    skill = SKILLS.get(name.removeprefix(_CLERK)) if name.startswith(_CLERK) else None
    if skill is None:
        known = (*agent_names(), "openai (with --base-url and --model)")
        raise UsageError(f"agent {name!r}: unknown", hint=f"Known: {', '.join(known)}.")
    return AgentSpec(name, skill=skill)
