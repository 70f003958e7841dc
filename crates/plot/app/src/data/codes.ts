// Failures by response code.

import type { OverTime } from "../types";

/** The failures of a code over time, and in which label most of them are. */
export interface CodeCourse {
  code: string;
  /** For each `OverTime.width` seconds. */
  counts: number[];
  most: { label: string; count: number };
}

/** Adds up failures by response code over all labels, the most frequent code first. */
export function failuresByCode(failures: OverTime["failures"]): CodeCourse[] {
  const found = new Map<string, CodeCourse>();
  for (const { label, code, counts } of failures) {
    const count = sum(counts);
    const own = found.get(code);
    if (!own) {
      found.set(code, { code, counts: [...counts], most: { label, count } });
      continue;
    }
    counts.forEach((more, at) => (own.counts[at] = (own.counts[at] ?? 0) + more));
    if (count > own.most.count) own.most = { label, count };
  }
  return [...found.values()].sort((a, b) => sum(b.counts) - sum(a.counts));
}

/** Returns the sum of some counts. */
export function sum(counts: number[]): number {
  return counts.reduce((all, count) => all + count, 0);
}
