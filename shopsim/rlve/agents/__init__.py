"""Agents of the conversation environments: oracle, random, a scripted clerk, and any chat endpoint."""

from shopsim.rlve.agents.base import Agent, AgentError, AgentReply, EpisodeStart, action_text
from shopsim.rlve.agents.chat_agent import ChatAgent, Endpoint
from shopsim.rlve.agents.clerk import ScriptedClerk
from shopsim.rlve.agents.oracle import OracleAgent
from shopsim.rlve.agents.random_agent import RandomAgent
from shopsim.rlve.agents.skill import SKILLS, Skill, skill_from_mapping
from shopsim.rlve.agents.spec import AgentSpec, agent_names, agent_spec

__all__ = [
    "SKILLS",
    "Agent",
    "AgentError",
    "AgentReply",
    "AgentSpec",
    "ChatAgent",
    "Endpoint",
    "EpisodeStart",
    "OracleAgent",
    "RandomAgent",
    "ScriptedClerk",
    "Skill",
    "action_text",
    "agent_names",
    "agent_spec",
    "skill_from_mapping",
]
