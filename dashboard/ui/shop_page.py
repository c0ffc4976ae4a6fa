"""The shop page of a state as a person sees it, clickable.

The page is Jinja HTML with every value escaped. It is shown in a frame that may not run scripts (sandbox
without ``allow-scripts``, and a policy that forbids all sources); the component outside the frame listens for
clicks and Enter on elements that carry ``data-action`` and reports the canonical action.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import streamlit as st

__all__ = ["shop_page"]

_SCRIPT: Final = """
export default function ({ data, parentElement, setTriggerValue }) {
  let frame = parentElement.querySelector("iframe");
  if (!frame) {
    frame = document.createElement("iframe");
    frame.setAttribute("sandbox", "allow-same-origin");
    parentElement.appendChild(frame);
  }
  frame.title = data.title;
  frame.style.cssText =
    "box-sizing:border-box;width:100%;border:1px solid rgba(127,140,153,.35);border-radius:8px;" +
    `background:#f5f6f8;height:${data.height}px`;
  // The page keeps its listeners from draw to draw; what they call is always of the latest one.
  frame.act = (event) => {
    const element = event.target.closest("[data-action]");
    if (data.typed && event.target.closest("[role=search]")) {
      event.preventDefault();
      document.querySelector(data.typed)?.focus();
    } else if (element) {
      event.preventDefault();
      setTriggerValue("action", element.dataset.action);
    }
  };
  const prepare = () => {
    const page = frame.contentDocument;
    page.querySelectorAll("[data-action]").forEach((element) => {
      const taken = element.dataset.action === data.taken;
      element.style.outline = taken ? "3px solid #dd6611" : "";
      if (taken) element.scrollIntoView({ block: "center" });
      if (!data.acts) return;
      element.tabIndex = 0;
      element.setAttribute("role", "button");
    });
    // Nothing can be typed into the frame: its search box leads to the field that can.
    const box = data.acts ? page.querySelector("[role=search]") : null;
    if (box) {
      box.style.cursor = "text";
      box.title = data.typed_title;
      box.tabIndex = 0;
    }
    if (!data.acts || page.body.dataset.listens) return;
    page.body.dataset.listens = "yes";
    page.addEventListener("click", (event) => frame.act(event));
    page.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") frame.act(event);
    });
  };
  if (frame.dataset.page !== data.html) {
    frame.dataset.page = data.html;
    frame.onload = prepare;
    frame.srcdoc = data.html;
  } else {
    prepare();
  }
  return () => {};
}
"""

_mount = st.components.v2.component("shopsim_shop_page", js=_SCRIPT)


def shop_page(
    html: str,
    *,
    key: str,
    on_action: Callable[[str], None] | None = None,
    taken: str | None = None,
    typed: str | None = None,
    height: int = 640,
) -> None:
    """Draw ``html`` (of :func:`shopsim.env.pages.render_page_html`).

    ``on_action`` gets the action of what was clicked; without it the page is only shown. The element whose
    action is ``taken`` is outlined. A click into the page's search box puts the cursor into the field that
    the CSS selector ``typed`` finds outside the frame.
    """

    def clicked() -> None:
        value: Any = st.session_state.get(key)
        action = value.get("action") if value is not None else None
        if isinstance(action, str) and on_action is not None:
            on_action(action)

    acts = on_action is not None
    _mount(
        key=key,
        data={
            "html": html,
            "height": height,
            "title": "Shop page",
            "acts": acts,
            "taken": taken,
            "typed": typed,
            "typed_title": "Type into the field Search above",
        },
        height=height + 8,
        on_action_change=clicked,
    )
