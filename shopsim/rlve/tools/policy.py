"""The tool of the policies."""

from __future__ import annotations

from typing import Annotated, Any, Final

from pydantic import Field

from shopsim.rlve.tools.base import MAX_TOP_K, Arguments, Query, Tool
from shopsim.rlve.world import World

__all__ = ["POLICY_TOOLS"]


class _SearchArguments(Arguments):
    query: Query
    top_k: Annotated[int, Field(ge=1, le=MAX_TOP_K)] = 3


def _search(world: World, arguments: _SearchArguments, turn: int) -> dict[str, Any]:
    hits = world.policies.search(arguments.query, arguments.top_k)
    return {"articles": [hit.article.to_wire() for hit in hits]}


POLICY_TOOLS: Final = (
    Tool("policy.search", "Search the articles about the shop's rules.", _SearchArguments, _search),
)
