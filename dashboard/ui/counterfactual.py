"""Why this episode failed, and the single changes that would have made it succeed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st

from dashboard.analysis.counterfactual import Counterfactuals, find_counterfactuals
from dashboard.analysis.diagnosis import STAGES
from dashboard.ui.catalogue import why_not_catalogue
from dashboard.ui.data import Runs, frame
from dashboard.ui.diagnosis import diagnoses
from dashboard.ui.engine import run_catalogue
from dashboard.ui.text import number, plural, safe_text
from shopsim.engine import Engine
from shopsim.errors import ShopSimError
from shopsim.rollout.verify import recorded_goal
from shopsim.tasks.solutions import solver_for

__all__ = ["diagnosis_panel"]

_SHOWN_PRODUCTS = 20


def diagnosis_panel(runs: Runs, run_id: str, record: Mapping[str, Any]) -> None:
    """The stage that broke, its evidence and, where the catalogue is the run's own, what would have done.

    Draws nothing for a success.
    """
    found = diagnoses([run_id])
    rows = found[found["episode_id"] == record.get("episode_id")]
    if rows.empty or rows.iloc[0]["stage"] == "success":
        return
    row = rows.iloc[0]
    stage = STAGES[str(row["stage"])]
    kind = f" ({row['detail']})" if row["detail"] else ""
    st.subheader("Why it failed", anchor=False)
    st.markdown(f"**{safe_text(stage.label + kind)}**: {safe_text(row['evidence'])}.")
    engine = run_catalogue(runs.table.at[run_id, "product_data_sha256"])
    if engine is None:
        st.caption(
            safe_text(
                f"Told by the trace alone, so what else could have satisfied the task is not known. "
                f"{why_not_catalogue(runs, [run_id])}."
            )
        )
        return
    told = _find(engine, run_id, record)
    if told is not None:
        _draw(told)


def _find(engine: Engine, run_id: str, record: Mapping[str, Any]) -> Counterfactuals | None:
    final = record.get("final")
    job = record.get("job")
    if not isinstance(final, Mapping) or not isinstance(job, Mapping):
        return None
    try:
        goal = recorded_goal(engine.goals.get(job.get("task_id")), final)  # type: ignore[arg-type]
    except ShopSimError:
        return None
    purchase = final.get("purchase")
    bought = purchase if isinstance(purchase, Mapping) else {}
    options = bought.get("options")
    exposures = frame("replay_exposures", run_id=run_id, episode_id=record["episode_id"])
    return find_counterfactuals(
        solver_for(engine.corpus, engine.terms),
        goal,
        bought_asin=bought.get("asin"),
        chosen={str(axis): str(value) for axis, value in options.items()}
        if isinstance(options, Mapping)
        else {},
        exposures=[{str(key): value for key, value in row.items()} for row in exposures.to_dict("records")],
    )


def _draw(told: Counterfactuals) -> None:
    if told.why_none:
        st.caption(safe_text(f"No purchase in the catalogue satisfies this task: {told.why_none}."))
        return
    st.caption(
        f"{plural(told.satisfying_products, 'product')} in the catalogue could satisfy the task; "
        f"{len(told.products)} of them, other than the bought one, stood on a result page that it saw."
    )
    for change in told.options:
        wanted = safe_text(f"{change.axis} = {change.instead}")
        price = f" (price {number(change.price, 2)})" if change.price is not None else ""
        instead = f", instead of {change.chosen}" if change.chosen else ""
        st.markdown(f":material/tune: It would have succeeded with **{wanted}**{safe_text(price + instead)}")
    if not told.products:
        return
    st.markdown("Shown products that would have satisfied the task, and how:")
    st.dataframe(
        pd.DataFrame(
            {
                "First shown at step": [product.first_step for product in told.products],
                "Rank": [product.rank for product in told.products],
                "Opened": ["yes" if product.opened else "no" for product in told.products],
                "ASIN": [product.asin for product in told.products],
                "Title": [product.title for product in told.products],
                "With options": [
                    "; ".join(f"{axis} = {value}" for axis, value in product.selected.items()) or "none"
                    for product in told.products
                ],
                "Price": [number(product.price, 2) for product in told.products],
                "Satisfying choices": [product.purchases for product in told.products],
            }
        ).head(_SHOWN_PRODUCTS),
        hide_index=True,
        key="counterfactual_products",
    )
