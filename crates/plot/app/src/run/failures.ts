// Failures by response code, each over time.

import { columnWidth, greatest } from "../data/bins";
import { failuresByCode, sum } from "../data/codes";
import { h, s } from "../dom";
import { count, plural } from "../format";
import { csv, save } from "../save";
import { hatching } from "../charts/keys";
import { barPath } from "../charts/paths";
import { scrolling } from "../table";
import type { Run } from "./model";
import { codeText } from "./kinds";
import { part } from "./section";

/** The course of a code in pixels. */
const COURSE = { width: 408, height: 20 };

/** Returns the section of failures; null if there are none. */
export function failures(run: Run): HTMLElement | null {
  const { whole, data } = run;
  if (!whole.failures) return null;
  const { width, failures: found } = data.detail.overTime;
  const codes = failuresByCode(found);
  const rows = codes.map(({ code, counts, most }) => {
    const messages = data.errors.filter((error) => error.code === code).sort((a, b) => b.count - a.count);
    const text = messages[0]?.message || "–";
    return h(
      "tr",
      {},
      h("th", { scope: "row", class: "fail code" }, codeText(code)),
      h(
        "td",
        {
          class: "message",
          title: messages.map(({ message, count: number }) => `${message}: ${count(number)}`).join("; "),
        },
        text,
        messages.length > 1 ? ` and ${plural(messages.length - 1, "other")}` : "",
      ),
      h("td", { class: "number" }, count(sum(counts))),
      h("td", { class: "course-cell" }, course(run, counts, width)),
      h("td", { class: "quiet" }, `${most.label || "(no label)"} ${count(most.count)}`),
    );
  });
  const { from } = run.drawn;
  const table = h(
    "table",
    { class: "codes" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "col" }, "Code"),
        h("th", { scope: "col" }, "Message"),
        h("th", { scope: "col", class: "number" }, "Failures"),
        h(
          "th",
          { scope: "col", class: "course-cell" },
          `${run.stamp(from)} to ${run.stamp(from + run.row.duration)}, over time`,
        ),
        h("th", { scope: "col" }, "Mostly in"),
      ),
    ),
    h("tbody", {}, rows),
  );
  const file = (): void =>
    save(
      `${run.row.id}-failures.csv`,
      csv([
        ["code", "message", "labels", "count", "first", "last"],
        ...data.errors.map(({ code, message, labels, count: number, first, last }) => [
          code,
          message,
          labels,
          number,
          first,
          last,
        ]),
      ]),
    );
  const note = `${count(whole.failures)} of ${count(whole.requests)} requests, ${plural(codes.length, "code")}`;
  return part("failures", "Failures", note, scrolling("Failures by code", table), file);
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
  return s(
    "svg",
    {
      class: "course",
      viewBox: `0 0 ${COURSE.width} ${COURSE.height}`,
      width: COURSE.width,
      height: COURSE.height,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `at most ${count(most)} in ${bin * width} s`,
    },
    defs,
    s("path", { d, fill: paint, class: "course-bars" }),
    s("path", { class: "base", d: `M0 ${bottom}H${COURSE.width}` }),
  );
}
