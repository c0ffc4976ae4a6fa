"""Agents that ship with the environment: random, oracle, the scripted shopper, and any chat endpoint."""

from shopsim.rollout.agents.base import Agent, EpisodeInfo, Turn
from shopsim.rollout.agents.chat_agent import ChatAgent
from shopsim.rollout.agents.oracle import OracleAgent
from shopsim.rollout.agents.random_agent import RandomAgent
from shopsim.rollout.agents.sampling import Sampling
from shopsim.rollout.agents.shopper import ScriptedShopper
from shopsim.rollout.agents.skill import SKILLS, Skill, skill_from_mapping
from shopsim.rollout.agents.spec import OPENAI, AgentSpec, ChatModel, agent_names, agent_spec, build_agent

__all__ = [
    "OPENAI",
    "SKILLS",
    "Agent",
    "AgentSpec",
    "ChatAgent",
    "ChatModel",
    "EpisodeInfo",
    "OracleAgent",
    "RandomAgent",
    "Sampling",
    "ScriptedShopper",
    "Skill",
    "Turn",
    "agent_names",
    "agent_spec",
    "build_agent",
    "skill_from_mapping",
]
