// The list of keys.

import { h } from "../dom";
import { lettersOn, setLetters } from "./keys";

const GROUPS: [string, [string[], string][]][] = [
  [
    "Everywhere",
    [
      [["/"], "search"],
      [["g h"], "home"],
      [["g t"], "test"],
      [["g c"], "compare"],
      [["g r"], "trend"],
      [["["], "sidebar"],
      [["?"], "this list"],
    ],
  ],
  [
    "Tables of runs",
    [
      [["j", "k"], "next, previous row"],
      [["Enter"], "open"],
      [["x"], "tick"],
      [["c"], "compare"],
    ],
  ],
  [
    "A run",
    [
      [["←", "→"], "cursor by a second, with Shift by ten"],
      [["+", "−"], "zoom"],
      [["Esc"], "whole run"],
      [["w", "r", "h"], "whole, ramp, hold"],
      [["1 … 9"], "findings"],
      [["n", "p"], "next, previous repeat"],
    ],
  ],
  [
    "A trend",
    [
      [["←", "→"], "cursor by a version, with Shift by ten"],
      [["Enter"], "its row in the table"],
      [["Esc"], "no cursor"],
    ],
  ],
  [
    "A comparison",
    [
      [["x"], "swap the first two sides"],
      [["w", "h"], "whole, hold"],
    ],
  ],
];

/** Opens the list of keys. */
export function showHelp(): void {
  const dialog = h("dialog", { class: "help", "aria-labelledby": "help-title" });
  const box = h("input", { type: "checkbox", onchange: () => setLetters(box.checked) });
  box.checked = lettersOn();
  const sections = GROUPS.map(([name, keys]) =>
    h(
      "section",
      null,
      h("h3", null, name),
      h(
        "dl",
        null,
        keys.map(([names, what]) => h("div", null, h("dt", null, names.map((key) => h("kbd", null, key))), h("dd", null, what))),
      ),
    ),
  );
  dialog.append(
    // Where the focus is, the list begins: its only controls are at its end.
    h("h2", { id: "help-title", tabindex: -1, autofocus: true }, "Keys"),
    h("div", { class: "help-groups" }, sections),
    h(
      "p",
      { class: "help-end" },
      h("label", { class: "check" }, box, "Single keys act"),
      h("button", { type: "button", class: "button", onclick: () => dialog.close() }, "Close"),
    ),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
