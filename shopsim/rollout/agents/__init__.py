"""Agents that ship with the environment: random, oracle, and the scripted shopper."""

from shopsim.rollout.agents.base import Agent, EpisodeInfo, Turn
from shopsim.rollout.agents.oracle import OracleAgent
from shopsim.rollout.agents.random_agent import RandomAgent
from shopsim.rollout.agents.shopper import ScriptedShopper
from shopsim.rollout.agents.skill import SKILLS, Skill, skill_from_mapping
from shopsim.rollout.agents.spec import AgentSpec, agent_names, agent_spec, build_agent

__all__ = [
    "SKILLS",
    "Agent",
    "AgentSpec",
    "EpisodeInfo",
    "OracleAgent",
    "RandomAgent",
    "ScriptedShopper",
    "Skill",
    "Turn",
    "agent_names",
    "agent_spec",
    "build_agent",
    "skill_from_mapping",
]
