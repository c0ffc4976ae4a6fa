"""Training: does the reward move, what does the curriculum give, which groups teach nothing?"""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dashboard.analysis.training import (
    ROUND_COLUMNS,
    bundle_chunks,
    bundle_classes,
    bundle_round_table,
    bundle_steps,
    round_count_notes,
    round_table,
)
from dashboard.lake.training_discovery import FoundSource
from dashboard.ui import components as ui
from dashboard.ui import live, state, tables
from dashboard.ui.text import MISSING, count, plural, safe_text
from dashboard.ui.training import TrainingView, load_training, source_label, training_state
from dashboard.ui.training_bundle import draw_contributions, draw_gates, draw_optimiser
from dashboard.ui.training_figures import draw_chunks, draw_classes, draw_steps
from dashboard.ui.training_groups import draw_groups, open_class
from dashboard.ui.workspace import current_workspace

MOST_PROBLEMS = 200


def main() -> None:
    """Draw the page."""
    ui.page_header(
        "Training",
        "Does training move the reward, what did the curriculum give, and which groups teach nothing?",
    )
    view = load_training()
    if not view.state.sources:
        nothing(view)
        return
    left, right = st.columns([5, 3], vertical_alignment="bottom")
    labels = {source.key: source_label(source) for source in view.state.sources}
    with left:
        key = state.choice("Source", list(labels), key="training", format_func=labels.__getitem__, keep=True)
    with right:
        window = state.number(
            "Trailing mean over", key="window", default=5, minimum=1, maximum=40, help="Steps or updates"
        )
    source = view.source(key)
    banner(list(view.state.problems))
    if source.bundle:
        draw_bundle(view, source, window)
    else:
        draw_rounds(view, source, window)


def nothing(view: TrainingView) -> None:
    """Neither rounds nor a bundle."""
    roots = ", ".join(str(root) for root in current_workspace().roots)
    ui.empty_state(
        f"No training rounds and no published bundle found in {roots}.",
        hint="Rounds lie in `slime-training/<round>/group-<9 digits>/`, "
        "a bundle is a folder with `analysis/` and `eval/`.",
    )
    banner(list(view.state.problems))


def banner(problems: list[str]) -> None:
    """What is wrong with files, in a fold."""
    if not problems:
        return
    with st.expander(f"{plural(len(problems), 'problem')} in the files", icon=":material/warning:"):
        st.markdown("\n".join(f"- {safe_text(problem)}" for problem in problems[:MOST_PROBLEMS]))
        if len(problems) > MOST_PROBLEMS:
            st.caption(f"The first {count(MOST_PROBLEMS)} of {count(len(problems))}.")


def draw_rounds(view: TrainingView, source: FoundSource, window: int) -> None:
    """The page of training rounds, straight from their folders."""
    rounds = view.frame("training_rounds", source=source.key)
    groups = plural(int(rounds["groups"].sum()), "group")
    told = f"{groups} of {plural(len(rounds), 'round')} recorded"
    live.follow_version(lambda: training_state().version, told, what="rounds", records="groups")
    draw_problems(view.frame("training_problems", source=source.key))
    draw_round_table(round_table(rounds), "Straight from the rollout files of each round.")
    steps = view.frame("training_steps", source=source.key)
    if steps.empty:
        ui.empty_state("The rounds hold no group yet.", hint="Following them shows each as it is written.")
        return
    draw_steps(steps, window)
    st.caption("Select a point to list its step's groups below.")
    draw_chunks(
        steps,
        view.frame("training_step_chunks", source=source.key),
        window,
        "A round's `curriculum.json` states them: put it into the round's folder.",
    )
    classes = view.frame("training_classes", source=source.key)
    draw_classes(classes, open_class)
    draw_groups(view, source.key, steps, classes)


def draw_bundle(view: TrainingView, source: FoundSource, window: int) -> None:
    """The page of a published bundle."""
    bundle = view.training.bundle(source.key)
    steps = bundle_steps(bundle.steps)
    notes = round_count_notes(bundle.rounds, steps)
    banner(bundle.problems)
    table = bundle_round_table(bundle.rounds, steps)
    if table.empty:
        ui.empty_state("The bundle tells nothing of rounds.")
    else:
        draw_round_table(table, "As the bundle's analysis states it: means over steps weighted by their n.")
        if notes:
            st.warning(safe_text(" ".join(notes)), icon=":material/rule:")
    if steps.empty:
        ui.empty_state("No rollout step is recorded.", hint="They lie in `analysis/training_steps.csv`.")
    else:
        draw_steps(steps, window)
        st.caption(
            "The trainer's own figures. Zero variance is the share of groups that it dropped for it; of each "
            "step it keeps as many groups as it trains on."
        )
        draw_chunks(
            steps, bundle_chunks(bundle.chunks, steps), window, "They lie in `analysis/training_steps.csv`."
        )
        draw_classes(bundle_classes(bundle.steps), None)
    draw_contributions(bundle.contributions)
    draw_gates(bundle.gates)
    draw_optimiser(bundle.optimiser, window)
    draw_bundle_groups(bundle.groups)


def draw_round_table(table: pd.DataFrame, caption: str) -> None:
    """The rounds in a table; columns without any value are left out."""
    st.subheader("Rounds", anchor=False)
    shown = {name: column for name, column in ROUND_COLUMNS.items() if table[name].notna().any()}
    st.dataframe(
        table,
        key="rounds",
        hide_index=True,
        placeholder=MISSING,
        column_order=list(shown),
        column_config=tables.columns(shown),
    )
    st.caption(caption)


def draw_problems(problems: pd.DataFrame) -> None:
    """What is wrong with the rounds' files: counts by kind, and each of them."""
    if problems.empty:
        return
    by_kind = problems["kind"].value_counts()
    told = ", ".join(f"{kind}: {count(n)}" for kind, n in by_kind.items())
    with st.expander(
        f"{plural(len(problems), 'problem')} in the rounds' files ({safe_text(told)})",
        icon=":material/warning:",
    ):
        st.dataframe(
            problems.head(5000),
            key="round_problems",
            hide_index=True,
            placeholder=MISSING,
            column_config={
                "run_id": "Round",
                "group_index": st.column_config.NumberColumn("Group", format="%d"),
                "file": "File",
                "kind": "Kind",
                "problem": st.column_config.TextColumn("Problem", width="large"),
            },
        )


def draw_bundle_groups(groups: pd.DataFrame) -> None:
    """Single groups, where the bundle lists them."""
    st.subheader("Groups", anchor=False)
    if groups.empty:
        ui.empty_state(
            "This bundle lists no single groups.",
            hint="`analysis/training_groups.csv` would; the episodes are in the training rounds.",
        )
        return
    shown = groups.dropna(axis="columns", how="all")
    st.dataframe(shown, key="bundle_groups", hide_index=True, placeholder=MISSING)


main()
