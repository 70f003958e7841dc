// The parts of the page below the charts over time. The sidebar leads to `at-ID`.

import { type Child, h } from "../dom";

/** Returns a part with its heading, and a button that saves its table. It is open where there is room. */
export function part(id: string, title: string, note: Child, content: Child, file?: () => void): HTMLElement {
  const open = matchMedia("(min-width: 640px), print").matches;
  return h(
    "section",
    { id: `at-${id}`, class: "run-section" },
    h("details", { class: "part", open }, h("summary", {}, h("h2", {}, title), " ", h("small", {}, note)), content),
    file
      ? h(
          "div",
          { class: "chart-tools" },
          h("button", { type: "button", title: "Exact values as CSV", onclick: file }, "CSV"),
        )
      : null,
  );
}

/** Returns a part that is folded until it is wanted; `fill` draws it at its first opening and is told its element. */
export function folded(id: string, title: string, note: string, fill: (host: HTMLElement) => void): HTMLDetailsElement {
  const host = h("div", { class: "fold-body" });
  const details = h(
    "details",
    { id: `at-${id}`, class: "fold" },
    h("summary", {}, title, " ", h("small", {}, note)),
    host,
  );
  details.addEventListener("toggle", () => {
    if (details.open && !host.firstChild) fill(host);
  });
  return details;
}
