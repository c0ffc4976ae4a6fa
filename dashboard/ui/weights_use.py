"""Making use of a weight set: save it, export an index built with it, run the demo agents on it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import streamlit as st

from dashboard.analysis.weights import METRICS, presented_gains
from dashboard.analysis.weights_effect import EFFECT_COLUMNS, effect_row, effect_table
from dashboard.ui import components as ui
from dashboard.ui import data, state, tables
from dashboard.ui.data import Runs, load_runs
from dashboard.ui.navigation import page_url
from dashboard.ui.search_lab import Lab
from dashboard.ui.text import error_text, plural, safe_text
from dashboard.ui.weight_sets import SLIDERS, weights_folder
from dashboard.ui.weights_run import current_job, experiment_name, start_job
from dashboard.ui.weights_view import Asked, gains
from dashboard.ui.workspace import current_workspace
from shopsim.errors import ShopSimError, UsageError
from shopsim.rollout.agents import agent_names
from shopsim.rollout.demo import DEMO_SPLIT
from shopsim.search import FieldWeights, SearchIndex, build_search_index
from shopsim.search.weights import check_name, save_weights

__all__ = ["draw_use"]

_TASKS: Final = {"save": "Save as a named set", "export": "Export an index", "run": "Run the demo agents"}
_MESSAGE: Final = "_weights_message"
_POLL_SECONDS: Final = 1.0


def draw_use(lab: Lab, asked: Asked, sets: dict[str, FieldWeights], base: str, chosen: str) -> None:
    """The section, for the set ``chosen``; ``base`` is what it is compared with, on the queries ``asked``."""
    st.subheader(safe_text(f"Use {chosen}"), anchor=False)
    doing = state.choice(
        "What to do",
        list(_TASKS),
        key="use",
        look="segmented",
        format_func=_TASKS.__getitem__,
        label_visibility="collapsed",
    )
    _say()
    if doing == "save":
        _save_panel(lab, chosen, sets[chosen])
    elif doing == "export":
        _export_panel(lab, chosen, sets[chosen])
    else:
        _run_panel(lab, asked, sets, base, chosen)


def _say() -> None:
    """What the last button brought about."""
    kind, text = st.session_state.pop(_MESSAGE, ("", ""))
    if kind == "error":
        st.error(error_text(text), icon=":material/error:")
    elif kind:
        st.success(safe_text(text), icon=":material/check:")


def _save_panel(lab: Lab, chosen: str, weights: FieldWeights) -> None:
    st.caption(safe_text(f"{chosen}: {_numbers(weights)}"))
    with st.form("save-set", border=False):
        name, button = st.columns([3, 1], vertical_alignment="bottom")
        name.text_input("Name", key="set-name", placeholder="lower-case letters, digits, '.', '_' and '-'")
        st.checkbox("Replace a set of that name", key="set-replace")
        button.form_submit_button(
            "Save set", on_click=_save, args=(lab, chosen, weights), width="stretch", type="primary"
        )


def _save(lab: Lab, chosen: str, weights: FieldWeights) -> None:
    name = str(st.session_state["set-name"]).strip()
    try:
        path = _saved(lab, name, chosen, weights, replace=bool(st.session_state["set-replace"]))
    except ShopSimError as error:
        st.session_state[_MESSAGE] = ("error", str(error))
        return
    st.session_state[_MESSAGE] = ("done", f"Saved as {_relative(path)}.")
    kept = state.raw("sets") or list(st.session_state.get("sets", []))
    state.put("sets", list(dict.fromkeys([*kept, name])))


def _saved(lab: Lab, name: str, chosen: str, weights: FieldWeights, *, replace: bool) -> Path:
    check_name(name)
    folder = weights_folder()
    if (folder / f"{name}.json").exists() and not replace:
        raise UsageError(f"weight set {name!r} exists already", hint="Tick “Replace” to replace it.")
    notes: dict[str, Any] = {
        "source": "review page Search weights",
        "product_data_sha256": lab.engine.corpus.sha256,
        "search_version": lab.engine.search.manifest["search_version"],
    }
    if chosen != SLIDERS:
        notes["copied_from"] = chosen
    return save_weights(name, weights, folder, notes=notes)


def _export_panel(lab: Lab, chosen: str, weights: FieldWeights) -> None:
    plain = "mine" if chosen == SLIDERS else chosen
    st.caption(
        safe_text(
            "Builds a search index of the prepared catalogue with this set, beside the workspace's own. "
            f"{chosen}: {_numbers(weights)}"
        )
    )
    with st.form(f"export-{plain}", border=False):
        name, button = st.columns([3, 1], vertical_alignment="bottom")
        key = f"export-path-{plain}"
        name.text_input("File, inside the workspace", key=key, value=f"data/prepared-{plain}/search.sqlite")
        st.checkbox("Replace that file", key="export-replace")
        button.form_submit_button(
            "Build index", on_click=_export, args=(lab, key, weights), width="stretch", type="primary"
        )
    st.caption(
        safe_text(
            "To search with a named set everywhere, name it under [search] weights in configs/shopsim.toml "
            "and run shopsim prepare --force."
        )
    )


def _export(lab: Lab, key: str, weights: FieldWeights) -> None:
    try:
        path = _inside(lab, str(st.session_state[key]).strip())
        _check_unused(path, may_replace=bool(st.session_state["export-replace"]))
        with st.spinner("Building the index …"):
            manifest = build_search_index(
                lab.engine.corpus.products,
                path,
                product_data_sha256=lab.engine.corpus.sha256,
                weights=weights,
            )
    except (ShopSimError, OSError) as error:
        st.session_state[_MESSAGE] = ("error", str(error))
        return
    size = path.stat().st_size / 1e6
    told = f"Built {path} ({manifest['product_count']:,} products, {size:.1f} MB)."
    st.session_state[_MESSAGE] = ("done", told)


def _inside(lab: Lab, text: str) -> Path:
    """The path of an export: a ``.sqlite`` file in the workspace that is not the index in use."""
    root = lab.engine.settings.workspace
    path = (root / text).resolve()
    if not text or path.suffix != ".sqlite" or not path.is_relative_to(root):
        raise UsageError(
            f"{text!r} is no file of the workspace", hint="Write a relative path that ends in .sqlite."
        )
    if path == lab.engine.search.path.resolve() or path.is_relative_to(lab.engine.settings.prepared_dir):
        raise UsageError(
            f"{_relative(path)}: belongs to the prepared data in use", hint="Choose another folder."
        )
    return path


def _check_unused(path: Path, *, may_replace: bool) -> None:
    """Only a search index is ever replaced, and only when asked to."""
    if not path.exists():
        return
    if not may_replace:
        raise UsageError(f"{_relative(path)}: exists already", hint="Tick “Replace” to replace it.")
    SearchIndex.open(path).close()


def _run_panel(lab: Lab, asked: Asked, sets: dict[str, FieldWeights], base: str, chosen: str) -> None:
    if chosen == base or SLIDERS in (base, chosen):
        reason = "choose another set than the baseline" if chosen == base else "save your sliders first"
        ui.empty_state(f"Runs name the weight set that they were searched with: {reason}.")
        return
    agents = state.choices(
        "Scripted agents",
        list(agent_names()),
        key="agents",
        default=["shopper-iter80"],
        placeholder="Choose one or more",
    )
    tasks = len(lab.engine.splits.ids(DEMO_SPLIT))
    st.caption(
        safe_text(
            f"Scripted agents are programs, not trained models. Each plays the {plural(tasks, 'test task')} "
            f"with {base} and with {chosen}, as ordinary runs named weights-SET-AGENT; what was played "
            "before is kept."
        )
    )
    pair = {name: sets[name] for name in (base, chosen)}
    st.button(
        "Run them",
        on_click=_start,
        args=(lab, pair, agents),
        type="primary",
        icon=":material/play_arrow:",
        disabled=not agents or _busy(),
    )
    st.fragment(_progress, run_every=_POLL_SECONDS if _busy() else None)()
    proxy = presented_gains(gains(lab, asked, chosen, sets[base], sets[chosen])).iloc[0]
    _effect(load_runs(), base, chosen, agents, {METRICS[name]: str(proxy[name]) for name in METRICS})


def _busy() -> bool:
    job = current_job()
    return job is not None and not job.finished


def _start(lab: Lab, sets: dict[str, FieldWeights], agents: list[str]) -> None:
    try:
        start_job(lab.engine, sets, agents)
    except UsageError as error:
        st.session_state[_MESSAGE] = ("error", str(error))


def _progress() -> None:
    """How far the running job is; the page is drawn again when it ends."""
    job = current_job()
    if job is None:
        return
    if not job.finished:
        st.session_state["_weights_watching"] = True
        st.progress(job.share, text=safe_text(f"{job.done} of {job.total} episodes {job.doing}"))
    elif st.session_state.pop("_weights_watching", False):
        data.refresh()
        st.rerun()
    elif job.error:
        st.error(error_text(f"The last run stopped: {job.error}"), icon=":material/error:")


def _effect(runs: Runs, base: str, chosen: str, agents: list[str], proxy: Mapping[str, str]) -> None:
    """Success with both sets, for the agents that have played with both."""
    from dashboard.ui.comparison import compare  # its statistics take a second to load: not for the page

    rows = []
    for agent in agents:
        before, after = (_run_of(runs, experiment_name(name, agent)) for name in (base, chosen))
        if before and after:
            address = page_url("compare", baseline=before, against=after)
            rows.append(effect_row(agent, compare(before, after, "fast").comparison, address))
    if not rows:
        roots = current_workspace().roots
        if current_workspace().settings.runs_root.resolve() not in [root.resolve() for root in roots]:
            st.caption("The runs go to the workspace's run folder, which this dashboard does not look at.")
        return
    st.markdown(f"**End to end: {safe_text(chosen)} against {safe_text(base)}**")
    st.dataframe(
        effect_table(rows),
        key="effect",
        hide_index=True,
        placeholder="–",
        column_config=tables.columns(EFFECT_COLUMNS),
        alt="Success of the scripted agents with both weight sets",
    )
    beside = ", ".join(f"{label} {gain}" for label, gain in proxy.items())
    st.caption(
        safe_text(
            "Success of scripted agents on the test tasks. Beside it the proxy, on the queries chosen above: "
            f"{beside}. The two need not agree."
        )
    )


def _run_of(runs: Runs, experiment: str) -> str | None:
    found = runs.table[(runs.table["experiment"] == experiment) & runs.table["has_traces"].astype(bool)]
    return None if found.empty else str(found.index[0])


def _relative(path: Path) -> str:
    root = current_workspace().settings.workspace
    return str(path.relative_to(root)) if path.is_relative_to(root) else str(path)


def _numbers(weights: FieldWeights) -> str:
    values: Mapping[str, float] = weights.as_mapping()
    return ", ".join(f"{field} {value:g}" for field, value in values.items())
