"""The shopping environment: actions, session, observation, text, reward, pages for people."""

from shopsim.env.actions import Action, Reason, click, parse_response, search
from shopsim.env.errors import (
    EpisodeEndedError,
    EpisodeError,
    ObservationStateError,
    TerminationReasonError,
)
from shopsim.env.observation import build_observation
from shopsim.env.render import render_observation_state
from shopsim.env.schema import PageType
from shopsim.env.session import Session
from shopsim.env.shop import SearchBackend, Shop
from shopsim.env.shop_env import ShopEnv
from shopsim.env.state_check import check_state

__all__ = [
    "Action",
    "EpisodeEndedError",
    "EpisodeError",
    "ObservationStateError",
    "PageType",
    "Reason",
    "SearchBackend",
    "Session",
    "Shop",
    "ShopEnv",
    "TerminationReasonError",
    "build_observation",
    "check_state",
    "click",
    "parse_response",
    "render_observation_state",
    "search",
]
