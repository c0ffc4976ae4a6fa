"""How pages use their width: less padding than Streamlit's, and no side by side where there is no room.

With the menu open, a window of 1000 pixels leaves about 640 for the page. Below that, columns go under one
another instead of shrinking: those with a chart, a table, a form or a frame take the whole width, the others
share it two or three a row, and buttons stand beside their field. Needs no Streamlit.
"""

from __future__ import annotations

from typing import Final

__all__ = ["NARROW", "STYLE"]

NARROW: Final = 1000
"""The width of a window (pixels) up to which columns go under one another."""
_COLUMN: Final = '[data-testid="stColumn"]'
_WIDE: Final = ", ".join(
    f":has({part})"
    for part in (
        '[data-testid="stPlotlyChart"]',
        '[data-testid="stDataFrame"]',
        '[data-testid="stForm"]',
        '[class*="st-key-shop-page"]',
        ".st-key-verdict_panel",
        "table",
    )
)

STYLE: Final = f"""<style>
.stMainBlockContainer {{ padding: 2.6rem 2.5rem 3rem; }}
@media (max-width: {NARROW}px) {{
  .stMainBlockContainer {{ padding: 2.6rem 1.2rem 3rem; }}
  [data-testid="stHorizontalBlock"]:has(> {_COLUMN}) {{ flex-wrap: wrap; }}
  {_COLUMN} {{ flex: 1 1 11rem; min-width: min(11rem, 100%); }}
  {_COLUMN}:is({_WIDE}) {{ flex-basis: 100%; min-width: 100%; }}
  {_COLUMN}:has([data-testid="stFormSubmitButton"]):not(:has(input, textarea)) {{
    flex: 0 0 7rem; min-width: 7rem;
  }}
  [data-testid="stMetricValue"] > div, [data-testid="stMetricLabel"] p {{
    white-space: normal; overflow: visible;
  }}
  .st-key-flow_scroll {{ overflow-x: auto; }}
  .st-key-flow_scroll > * {{ min-width: 900px; }}
  [data-testid="stMetricValue"] {{ font-size: 1.5rem; }}
}}
@media (max-width: 640px) {{ .stMainBlockContainer {{ padding: 3.2rem 1rem 2rem; }} }}
</style>"""
