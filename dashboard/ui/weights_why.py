"""Why is this product here: one (query, product) score taken apart, under every compared set."""

from __future__ import annotations

import zlib

import streamlit as st

from dashboard.analysis.weights_explained import (
    RESULT_COLUMNS,
    TOKEN_COLUMNS,
    field_scores,
    result_rows,
    token_table,
)
from dashboard.charts.search_scores import score_figure
from dashboard.ui import components as ui
from dashboard.ui import state, tables
from dashboard.ui.data import shared
from dashboard.ui.figures import drawn
from dashboard.ui.search_lab import Lab, QuerySource, query_set
from dashboard.ui.text import count, error_text, number, plural, safe_text, shorten
from dashboard.ui.weights_view import explained, found
from shopsim.search import FieldWeights, search_tokens
from shopsim.search.explain import Explanation, UnknownProductError

__all__ = ["draw_why", "show_query"]

_LISTED = 20
_SEEN = "_weights_seen"


def show_query(lab: Lab, source: QuerySource, task_id: int, text: str) -> None:
    """Have the section explain this query of a task and its wanted product (a table's callback)."""
    queries = query_set(lab, source)
    own = next(query for query, unit in zip(queries.texts, queries.units, strict=True) if unit == task_id)
    state.put("task", task_id)
    state.put("query", None if text == own else text)
    state.put("product", None)


def draw_why(lab: Lab, source: QuerySource, sets: dict[str, FieldWeights], base: str, other: str) -> None:
    """The section: query, set, result list, product, and the parts of its score."""
    st.subheader("Why is this product here?", anchor=False)
    text, wanted, chosen = _choose(lab, source, base, other)
    if not search_tokens(text):
        ui.empty_state("This query has no word that the search could use.", hint="Type one above.")
        return
    results = found(lab, text, sets[chosen])
    left, right = st.columns(2, gap="large")
    with left:
        _results(lab, text, wanted, sets, base, chosen, results)
    with right:
        asin = _product(wanted, results)
        try:
            told = {name: explained(lab, text, asin, weights) for name, weights in sets.items()}
        except UnknownProductError as error:
            st.warning(error_text(error), icon=":material/search_off:")
            return
        _headline(lab, told[chosen], chosen)
        _bars(told)
    _tokens(told[chosen], chosen)


def _choose(lab: Lab, source: QuerySource, base: str, other: str) -> tuple[str, frozenset[str], str]:
    """The query text, what counts as found for the chosen task, and the set looked into."""
    queries = query_set(lab, source)
    texts: dict[int, str] = {}
    wanted: dict[int, frozenset[str]] = {}
    for unit, query, asins in zip(queries.units, queries.texts, queries.wanted, strict=True):
        texts.setdefault(int(str(unit)), query)
        wanted.setdefault(int(str(unit)), asins)
    columns = st.columns([3, 4, 2])
    with columns[0]:
        task = state.choice(
            "A task's query",
            list(texts),
            key="task",
            format_func=lambda task_id: f"{task_id}: {shorten(texts[task_id], 60)}",
        )
    _forget("query", "task", (task, texts[task]))
    with columns[1]:
        text = state.text("or any other query", key="query", default=texts[task])
    _note("query")
    _forget("product", "text", text)
    with columns[2]:
        sides = {"other": other, "base": base} if other != base else {"other": base}
        side = state.choice("Under", list(sides), key="under", format_func=sides.__getitem__)
    return text, wanted[task], sides[side]


def _forget(key: str, of: str, value: object) -> None:
    """Forget ``key`` when what it belongs to was changed; a link that brings its own ``key`` keeps it."""
    seen = st.session_state.setdefault(_SEEN, {})
    if seen.get(of, value) != value and state.raw(key) == seen.get(f"?{key}", []):
        state.put(key, None)
    seen[of] = value


def _note(key: str) -> None:
    st.session_state[_SEEN][f"?{key}"] = state.raw(key)


def _results(
    lab: Lab,
    text: str,
    wanted: frozenset[str],
    sets: dict[str, FieldWeights],
    base: str,
    chosen: str,
    results: list[tuple[str, float]],
) -> None:
    listed = results[:_LISTED]
    products = {asin: lab.engine.corpus.get(asin) for asin, _ in listed}
    titles = {asin: product.title for asin, product in products.items() if product is not None}
    table = result_rows(listed, found(lab, text, sets[base]), wanted, titles)
    if chosen == base:
        table = table.drop(columns="baseline")

    key = f"results-{chosen}-{zlib.crc32(text.encode('utf-8', 'replace')):08x}"  # a selection is of one table

    def select() -> None:
        picked = st.session_state[key]["selection"]["rows"]
        if picked:
            state.put("product", str(table.at[picked[0], "asin"]))

    st.dataframe(
        table,
        key=key,
        hide_index=True,
        placeholder="–",
        column_config=tables.columns({name: RESULT_COLUMNS[name] for name in table.columns}),
        on_select=select,
        selection_mode="single-row",
        height=min(38 + 35 * max(len(table), 1), 420),
        alt="The first results of the query",
    )
    st.caption(
        safe_text(f"The first {len(listed)} of {plural(len(results), 'result')} under {chosen}; select one.")
    )


def _product(wanted: frozenset[str], results: list[tuple[str, float]]) -> str:
    """The product looked into: of the address, else the best placed wanted one, else the first result."""
    ranked = [asin for asin, _ in results]
    found = next((asin for asin in ranked if asin in wanted), None)
    asin = state.text("Product (ASIN)", key="product", default=found or (ranked or [min(wanted)])[0])
    _note("product")
    return asin


def _headline(lab: Lab, told: Explanation, chosen: str) -> None:
    product = lab.engine.corpus.get(told.asin)
    ui.data_text(product.title if product is not None else told.asin, limit=300)
    if told.rank is None:
        st.caption(safe_text(f"It holds no word of the query, so {chosen} gives it no score."))
        return
    st.caption(
        safe_text(
            f"Score {number(told.score, 4)} under {chosen}: rank {count(told.rank)} of "
            f"{plural(told.matches, 'matching product')}. The parts below add up to it."
        )
    )


def _bars(told: dict[str, Explanation]) -> None:
    labels = {
        name: f"{name}: rank {one.rank}" if one.rank else f"{name}: no match" for name, one in told.items()
    }
    rows = shared(field_scores, {labels[name]: one for name, one in told.items()})
    ui.show_figure(
        drawn(score_figure, rows, list(labels.values())),
        key="scores",
        alt="The score by field under every compared set",
    )
    st.caption("Compare ranks, not lengths: weights change the scale of all scores.")


def _tokens(told: Explanation, chosen: str) -> None:
    table = shared(token_table, told)
    filled = [name for name in TOKEN_COLUMNS if table[name].notna().any()]
    st.dataframe(
        table[filled],
        key="tokens",
        hide_index=True,
        placeholder="",
        column_config=tables.columns({name: TOKEN_COLUMNS[name] for name in filled}),
        height=min(38 + 35 * len(table), 460),
        alt="The score by query token and field",
    )
    st.caption(
        safe_text(
            f"By token and field under {chosen}: {count(told.length)} terms in the product, "
            f"{told.average_length:.1f} on average. A token scores idf × frequency × 2.2 / (frequency + 1.2 "
            "× (0.25 + 0.75 × terms / average)), shared among the fields by their part of the frequency. "
            "This is bm25 as FTS5 computes it, with the sign turned round."
        )
    )
