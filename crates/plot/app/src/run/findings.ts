// What stands out: the three most harmful findings, numbered; the others and the notes folded.

import { h } from "../dom";
import { plural } from "../format";
import type { Window } from "../charts/stage";
import type { Finding } from "../types";
import { isOfFailures } from "./kinds";
import type { Run } from "./model";

/** The number of findings that are seen at once. */
const SHOWN = 3;

/** Findings by harm, the worst first. Kinds that are not listed follow. */
const HARM = ["stall", "outage", "failures", "saturation"];

/** Returns the findings in order of harm, notes left out: by kind, within one by what it costs, else as they come. */
export function harmful(findings: Finding[]): Finding[] {
  const place = ({ kind }: Finding): number => (HARM.indexOf(kind) + HARM.length + 1) % (HARM.length + 1);
  const cost = ({ cost }: Finding): number => cost ?? 0;
  return findings.filter(({ note }) => !note).sort((a, b) => place(a) - place(b) || cost(b) - cost(a) || a.first - b.first);
}

/** Returns the seconds of a finding with some around them, so that a short one is seen in its surroundings. */
export function around(run: Run, { first, last }: Finding): Window {
  const margin = Math.max(Math.round((last + 1 - first) * 0.5), 5);
  return { from: Math.max(first - margin, run.drawn.from), to: Math.min(last + 1 + margin, run.drawn.to) };
}

/** Returns the findings as a list; `zoom` shows the seconds of one. */
export function findings(run: Run, zoom: (window: Window) => void): HTMLElement {
  const worst = harmful(run.data.findings);
  const notes = run.data.findings.filter(({ note, what }) => note && !isOfFailures(what));
  const [shown, others] = [worst.slice(0, SHOWN), worst.slice(SHOWN)];
  const item = (finding: Finding, number: number | null): HTMLElement => {
    const evidence = h("span", { class: "finding-evidence", hidden: true }, finding.evidence);
    return h(
      "li",
      {},
      number === null
        ? h("span", { class: "finding-dot", "aria-hidden": "true" }, "·")
        : h("span", { class: "finding-number" }, number),
      h(
        "span",
        { class: "finding-text" },
        h("b", {}, kindName(finding.kind)),
        " ",
        seconds(run, finding, zoom),
        finding.what,
        finding.evidence ? [" ", unfolding("evidence", evidence, `Evidence of ${kindName(finding.kind)}`), evidence] : null,
      ),
    );
  };
  const list = h(
    "ol",
    { class: "findings" },
    shown.map((finding, at) => item(finding, at + 1)),
  );
  if (!worst.length) list.append(h("li", { class: "nothing" }, "Nothing stands out."));
  if (!others.length && !notes.length) return list;
  const more = h(
    "ul",
    { class: "findings more", hidden: true },
    [...others, ...notes].map((finding) => item(finding, null)),
  );
  const texts = [others.length ? `${others.length} more` : "", notes.length ? plural(notes.length, "note") : ""].filter(
    Boolean,
  );
  const button = unfolding(texts.join(", "), more);
  button.classList.add("findings-more");
  return h("div", { class: "findings-all" }, list, button, more);
}

/** Returns a button that shows what is hidden, and hides it again. */
function unfolding(text: string, hidden: HTMLElement, label?: string): HTMLElement {
  const button = h(
    "button",
    {
      type: "button",
      class: "unfolding",
      "aria-expanded": "false",
      "aria-label": label,
      onclick: () => {
        hidden.hidden = !hidden.hidden;
        button.setAttribute("aria-expanded", String(!hidden.hidden));
      },
    },
    text,
  );
  return button;
}

/** Returns a link to the seconds of a finding; nothing if they are the whole run. */
function seconds(run: Run, finding: Finding, zoom: (window: Window) => void): (HTMLElement | string)[] {
  const { from, to } = run.drawn;
  if (finding.first <= from && finding.last >= to - 1) return [];
  const text =
    finding.last >= to - 1
      ? `from ${run.stamp(finding.first)}`
      : finding.first === finding.last
        ? run.stamp(finding.first)
        : `${run.stamp(finding.first)} to ${run.stamp(finding.last)}`;
  const show = (event: Event): void => {
    event.preventDefault();
    zoom(around(run, finding));
  };
  return [h("a", { href: "#", role: "button", onclick: show }, text), " "];
}

/** Kinds whose names are not just their words. */
const NAMES: Record<string, string> = { "idle-cpu": "Idle CPU", "littles-law": "Little’s law" };

function kindName(kind: string): string {
  const words = NAMES[kind] ?? kind.replace(/-/g, " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
