"""What one episode wanted and what it bought, side by side, with hits and misses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from dashboard.analysis.explanation import RewardExplanation, WantedItem
from dashboard.analysis.grid import Cell, GridRow
from dashboard.analysis.recorded import as_mapping, as_texts
from shopsim.rollout.summary import finite_number

__all__ = ["wanted_and_bought", "wanted_only"]

_MISSING: Final = "–"
_NOTHING: Final = "nothing bought"


def wanted_and_bought(final: Mapping[str, Any], told: RewardExplanation) -> list[GridRow]:
    """Rows with two cells, wanted and bought, for a final answer (spec 04 A) and its explanation.

    The mark stands on the bought side. Same product or not is no mark: another product may satisfy.
    """
    goal, bought, detail = (as_mapping(final.get(key)) for key in ("goal", "purchase", "reward_detail"))
    marks = {component.name: component.value for component in told.components}

    def decided(name: str) -> bool | None:
        value = marks.get(name)
        return None if not told.purchased or value is None else value == 1.0

    rows = [
        _pair("Product", goal.get("name"), bought.get("name") if told.purchased else _NOTHING),
        _pair("ASIN", goal.get("asin"), bought.get("asin")),
        _pair("Category", goal.get("category"), bought.get("category"), decided("r_type")),
        GridRow("Price", (Cell(_budget(goal, detail)), Cell(_paid(bought, detail), decided("r_price")))),
        *_items("Attribute", told.attributes, told.purchased),
        *_items("Option", told.options, told.purchased),
    ]
    rows.append(GridRow("All chosen options", (Cell(_MISSING), Cell(_lines(told.chosen)))))
    offered = as_texts(bought.get("attributes"))
    rows.append(GridRow("All attributes", (Cell(_MISSING), Cell("; ".join(offered) or _MISSING))))
    return [row for row in rows if any(cell.text != _MISSING for cell in row.cells)]


def wanted_only(goal: Mapping[str, Any]) -> list[GridRow]:
    """Rows with one cell: what the task wanted, for an episode that ended without an answer."""
    attributes, options = as_texts(goal.get("attributes")), as_texts(goal.get("goal_options"))
    rows = [
        GridRow("Product", (_cell(goal.get("name")),)),
        GridRow("ASIN", (_cell(goal.get("asin")),)),
        GridRow("Category", (_cell(goal.get("category")),)),
        GridRow("Price", (Cell(_budget(goal, {})),)),
        GridRow("Attributes", (Cell("; ".join(attributes) or _MISSING),)),
        GridRow("Options", (Cell("; ".join(options) or _MISSING),)),
    ]
    return [row for row in rows if row.cells[0].text != _MISSING]


def _pair(label: str, wanted: object, bought: object, mark: bool | None = None) -> GridRow:
    right = _cell(bought)
    return GridRow(label, (_cell(wanted), Cell(right.text, mark if right.text != _MISSING else None)))


def _items(noun: str, items: Sequence[WantedItem], purchased: bool) -> list[GridRow]:
    def bought(item: WantedItem) -> Cell:
        if not purchased or item.met is None:
            return Cell(_MISSING)
        return Cell(item.by or "met", True) if item.met else Cell("missing", False)

    return [GridRow(noun, (Cell(item.text or "(blank)"), bought(item))) for item in items]


def _budget(goal: Mapping[str, Any], detail: Mapping[str, Any]) -> str:
    limit = finite_number(detail.get("price_upper", goal.get("price_upper")))
    return "no budget stated" if limit is None else f"at most {limit:g}"


def _paid(bought: Mapping[str, Any], detail: Mapping[str, Any]) -> str:
    resolution = as_mapping(detail.get("price_resolution"))
    if not bought:
        return _MISSING
    price = finite_number(resolution.get("price", bought.get("price")))
    method = resolution.get("method")
    how = f" ({method})" if method else ""
    return f"not verifiable{how}" if price is None else f"{price:g}{how}"


def _lines(pairs: Sequence[tuple[str, str]]) -> str:
    return "\n".join(f"{axis} = {value}" for axis, value in pairs) or _MISSING


def _cell(value: object) -> Cell:
    return Cell(str(value) if value is not None and str(value).strip() else _MISSING)
