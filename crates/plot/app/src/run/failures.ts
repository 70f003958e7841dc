// Failures by response code, each over time.

import { columnWidth, greatest } from "../data/bins";
import { failuresByCode, sum } from "../data/codes";
import { h, s } from "../dom";
import { count, plural } from "../format";
import { csv, save } from "../save";
import { hatching } from "../charts/keys";
import { barPath, px } from "../charts/paths";
import { scrolling } from "../table";
import type { ErrorRow, RunData } from "../types";
import type { Run } from "./model";
import { codeText, messageOf } from "./kinds";
import { part } from "./section";

/** The course of a code in pixels. */
const COURSE = { width: 408, height: 20 };

/** Messages of so many letters are cut until they are wanted. */
const LONG = 120;

/** A row of the table: the failures of a code, or of a message where the log has no codes. */
interface FailureRow {
  code: string;
  messages: ErrorRow[];
  count: number;
  /** Counts over time; null of a message, of which only the first and the last second are known. */
  counts: number[] | null;
  mostly: string;
}

/** Returns the rows of failures by code, the most frequent first. Those without a code are told apart by their messages. */
export function failureRows({ detail, errors }: RunData): FailureRow[] {
  const rows = failuresByCode(detail.overTime.failures).flatMap(({ code, counts, most }): FailureRow[] => {
    const messages = errors.filter((error) => error.code === code).sort((a, b) => b.count - a.count);
    if (code === "" && messages.length > 1)
      return messages.map((error) => ({ code, messages: [error], count: error.count, counts: null, mostly: error.labels }));
    return [{ code, messages, count: sum(counts), counts, mostly: `${most.label || "(no label)"} (${count(most.count)})` }];
  });
  return rows.sort((a, b) => b.count - a.count);
}

/** A message, cut to a few lines until it is wanted whole. */
function messageText(text: string): HTMLElement | string {
  if (text.length < LONG) return text;
  const button = h(
    "button",
    { type: "button", class: "clamped", "aria-expanded": "false", onclick: () => button.setAttribute("aria-expanded", String(button.getAttribute("aria-expanded") !== "true")) },
    text,
  );
  return button;
}

/** Returns the section of failures; null if there are none. */
export function failures(run: Run): HTMLElement | null {
  const { whole, data } = run;
  if (!whole.failures) return null;
  const { width } = data.detail.overTime;
  const found = failureRows(data);
  const said = found.some(({ messages }) => messages.some((error) => messageOf(error)));
  const rows = found.map(({ code, messages, count: number, counts, mostly }) => {
    const [first] = messages;
    const text = first && messageOf(first);
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "fail code" }, codeText(code)),
      said
        ? h(
            "td",
            { class: "message", title: messages.length > 1 ? messages.map(({ message, count: own }) => `${message}: ${count(own)}`).join("; ") : null },
            text ? messageText(text) : "–",
            messages.length > 1 ? h("small", { class: "quiet" }, ` and ${plural(messages.length - 1, "other")}`) : null,
          )
        : null,
      h("td", { class: "number" }, count(number)),
      h("td", { class: "course-cell" }, counts ? course(run, counts, width) : first ? extent(run, first) : null),
      h("td", { class: "quiet" }, mostly),
    );
  });
  const { from } = run.drawn;
  const head = (name: string, look: string | null = null): HTMLElement => h("th", { scope: "col", class: look }, name);
  const table = h(
    "table",
    { class: "codes" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        head("Code"),
        said ? head("Message") : null,
        head("Failures", "number"),
        head(`${run.stamp(from)} to ${run.stamp(from + run.row.duration)}, over time`, "course-cell"),
        head("Mostly in"),
      ),
    ),
    h("tbody", {}, rows),
  );
  const file = (): void =>
    save(
      `${run.row.id}-failures.csv`,
      csv([
        ["code", "message", "labels", "count", "first", "last"],
        ...data.errors.map(({ code, message, labels, count: number, first, last }) => [code, message, labels, number, first, last]),
      ]),
    );
  const kind = found.some(({ code }) => code === "") ? "kind" : "code";
  const note = `${count(whole.failures)} of ${count(whole.requests)} requests, ${plural(found.length, kind)}`;
  return part("failures", "Failures", note, scrolling("Failures by code", table), file);
}

/** Draws from when to when failures are. */
function extent(run: Run, { first, last }: ErrorRow): SVGElement {
  const { from, to } = run.drawn;
  const x = (second: number): number => px((COURSE.width * (Math.min(second, to) - from)) / (to - from));
  const middle = COURSE.height / 2;
  return picture(`from ${run.stamp(first)} to ${run.stamp(last)}`, s("path", { class: "extent", d: `M${x(first)} ${middle - 4}v8m0 -4H${x(last + 1)}m0 -4v8` }));
}

function picture(label: string, ...content: SVGElement[]): SVGElement {
  const { width, height } = COURSE;
  return s(
    "svg",
    { class: "course", viewBox: `0 0 ${width} ${height}`, width, height, preserveAspectRatio: "none", role: "img", "aria-label": label },
    content,
    s("path", { class: "base", d: `M0 ${height - 3}H${width}` }),
  );
}

/** Draws the counts of a code over time as hatched bars. */
function course(run: Run, counts: number[], width: number): SVGElement {
  const { from, to } = run.drawn;
  const bin = columnWidth(from, to, COURSE.width / 3, width) / width;
  const sums: number[] = [];
  counts
    .slice(0, Math.ceil((to - from) / width))
    .forEach((number, at) => (sums[Math.floor(at / bin)] = (sums[Math.floor(at / bin)] ?? 0) + number));
  const most = Math.max(greatest(sums), 1);
  const step = (COURSE.width * bin * width) / (to - from);
  const bottom = COURSE.height - 3;
  const d = sums
    .map((number, at) =>
      number > 0
        ? barPath(
            at * step,
            Math.min((at + 1) * step - 0.5, COURSE.width),
            bottom - Math.max((bottom * number) / most, 2),
            bottom,
          )
        : "",
    )
    .join("");
  const { defs, paint } = hatching("fail");
  return picture(`at most ${count(most)} in ${bin * width} s`, defs, s("path", { d, fill: paint, class: "course-bars" }));
}
