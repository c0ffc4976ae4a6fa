"""The fifteen tools of the agent, and the toolbox that calls them (spec 06, "Tools")."""

from __future__ import annotations

from shopsim.rlve.tools.base import MAX_TOP_K, Tool, ToolResult
from shopsim.rlve.tools.registry import TOOLS, Toolbox, tool_specs

__all__ = ["MAX_TOP_K", "TOOLS", "Tool", "ToolResult", "Toolbox", "tool_specs"]
