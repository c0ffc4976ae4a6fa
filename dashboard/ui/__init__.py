"""Parts of the review pages: theme, URL-bound state, cached data, components, links.

A page is widgets and layout only::

    from dashboard.ui import components as ui, state
    from dashboard.ui.data import rows, shared
    from dashboard.ui.figures import drawn

    ui.page_header("Rewards", "How are rewards distributed?")
    runs = ui.require_runs(traces=True)
    chosen = ui.pick_runs(runs)                               # URL: ?runs=...&runs=...
    domain = state.choice("Domain", ["", *domains], key="domain", format_func=lambda d: d or "All domains")
    found = rows("rewards_by_run", run_ids=chosen, domain=domain)     # one frame for all sessions
    means = shared(mean_rows, found)                                  # a pure function, called once
    ui.show_figure(drawn(mean_figure, means, runs.names), key="means", alt="Mean reward by run")

Modules: :mod:`~dashboard.ui.theme` (palette, run styles, figure layout), :mod:`~dashboard.ui.state`,
:mod:`~dashboard.ui.data`, :mod:`~dashboard.ui.shared` (results that all sessions share),
:mod:`~dashboard.ui.figures`, :mod:`~dashboard.ui.components`, :mod:`~dashboard.ui.navigation` (page list,
``link_to``), :mod:`~dashboard.ui.text` (escaping, number formats), :mod:`~dashboard.ui.workspace`
(environment variables).
"""
