// Runs and places for tests.

import type { RunRow, StandingRow } from "../src/types";

/** A run with few figures; the rest can be given. */
export function run(values: Partial<RunRow>): RunRow {
  const { framework = "go", test = "shop", repeat = 1 } = values;
  return {
    ...{ id: `${framework}_${test}-${repeat}`, file: "", framework, test, repeat, t0: 0, duration: 60, requests: 1000, failures: 0 },
    ...{ throughput: 100, p50: 10, p95: 20, p99: 30, cpu: 50, load: 10, tool: null, tags: {}, partial: false },
    ...{ verdict: null, findings: [] },
    ...values,
  };
}

/** A place in a league. */
export function standing(framework: string, ranks: [number, number] | null, values: Partial<StandingRow> = {}): StandingRow {
  return {
    ...{ framework, ranks, repeats: 3, runs: [`${framework}_shop-1`], throughput: 100, throughputRange: [99, 101] },
    ...{ p50: 10, p95: 20, p99: 30, failuresPercent: ranks ? 0 : 3, cpu: 50, load: 10 },
    ...values,
  };
}
