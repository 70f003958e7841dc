// Failures in detail, folded: each kind by code and message, and how long failures took.

import { HistogramChart } from "../charts/histogram";
import { roundStep } from "../charts/scale";
import type { Bars } from "../data/cells";
import { sum } from "../data/codes";
import { type Child, h } from "../dom";
import { count, failurePercent, plural } from "../format";
import { scrolling } from "../table";
import type { Distribution } from "../types";
import type { Run } from "./model";
import { folded } from "./section";

/** A code as it is shown: what JMeter writes before each class is quiet, and lines end at the dots of names. */
export function codeText(code: string): Child {
  const [, before = "", name = ""] = /^(Non HTTP response code: )?([^]*)$/.exec(code) ?? [];
  return ["✗ ", before ? [h("small", { class: "quiet" }, before), h("br")] : null, name ? name.split(/(?<=\.)/).map((part) => [part, h("wbr")]) : "no code"];
}

/** True of what perfpipe says of failures that took long: it stands below the tiles. */
export function isOfFailures(sentence: string): boolean {
  return /% of the requests failed after .*(not in these times|times of successes leave them out)/.test(sentence);
}

/** The message of a failure; none where it only repeats the code, as in k6's 1503 of 503. */
export function messageOf({ code, message }: { code: string; message: string }): string {
  return message === code || message === `1${code}` ? "" : message;
}

/** Returns from when to below when the median of failures' times lies, and their greatest, in ms; null of none. */
export function failureTimes({ first, width, counts, beyond, max, scale = 1 }: Distribution): { p50: [number, number] | null; most: number | null } {
  const half = (sum(counts) + beyond) / 2;
  let reached = 0;
  const bin = counts.findIndex((number) => number > 0 && (reached += number) >= half);
  const most = max === null ? null : max / scale;
  const low = (first + width * bin) / scale;
  return { p50: bin >= 0 ? [low, low + width / scale] : most === null ? null : [most, most], most };
}

/** The most bars. */
const BARS = 56;

/** Returns the fold of all kinds of failures; null without failures. `content` is the width of the page's content. */
export function failureKinds(run: Run, content: () => number): HTMLElement | null {
  const { data, whole } = run;
  const { errors, moreErrors = 0 } = data;
  if (errors.length === 0) return null;
  return folded("kinds", "All failures", plural(errors.length + moreErrors, "kind") + ", and how long they took", (host) => {
    const row = ({ code, message, labels, count: number, first, last }: (typeof errors)[number]): HTMLElement =>
      h(
        "tr",
        {},
        h("th", { scope: "row", class: "fail code" }, codeText(code)),
        h("td", { class: "wrap" }, messageOf({ code, message }) || "–"),
        h("td", { class: "wrap" }, labels),
        h("td", { class: "number" }, count(number)),
        h("td", { class: "number" }, failurePercent((100 * number) / Math.max(whole.requests, 1))),
        h("td", { class: "number" }, run.stamp(first)),
        h("td", { class: "number" }, run.stamp(last)),
      );
    const heads = ["Code", "Message", "Labels", "Failures", "% of all requests", "First", "Last"];
    const table = h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          heads.map((name, at) => h("th", { scope: "col", class: at > 2 ? "number" : null }, name)),
        ),
      ),
      h("tbody", {}, errors.map(row)),
    );
    host.append(
      scrolling("All failures by code and message", table),
      moreErrors > 0 ? h("p", { class: "chart-note" }, `and ${plural(moreErrors, "other kind")}`) : "",
    );
    const bars = failureBars(data.detail.failures);
    if (bars.counts.length === 0) return;
    const chart = new HistogramChart({
      file: `${run.row.id}-failure-times`,
      title: "Failures by response time, ms",
      note: `${Number(bars.width.toFixed(3))} ms a bar`,
      height: 156,
      exact: () => {
        const rows = bars.counts.map((number, at) => [at * bars.width, (at + 1) * bars.width, number]);
        return { columns: ["from ms", "below ms", "failures"], rows: [...rows, [bars.counts.length * bars.width, null, bars.beyond]] };
      },
    });
    chart.look = "failed";
    chart.set(bars, []);
    host.append(chart.figure.root);
    chart.fit(Math.min(content(), 640));
  });
}

/** Gathers a distribution into few bars from 0 on. A bar has whole bins. */
export function failureBars({ first, width, counts, beyond, scale = 1 }: Distribution): Bars {
  if (counts.length === 0) return { width: 1, counts: [], beyond };
  const end = first + width * counts.length;
  const wide = Math.max(Math.ceil(roundStep(end, BARS) / width - 1e-9), 1) * width;
  const bars = new Array<number>(Math.ceil(end / wide - 1e-9)).fill(0);
  counts.forEach((number, at) => {
    const bar = Math.floor((first + at * width) / wide);
    bars[bar] = (bars[bar] ?? 0) + number;
  });
  return { width: wide / scale, counts: bars, beyond };
}
