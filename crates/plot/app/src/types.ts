// The data of a site, as perfpipe writes them: what each file has. Times are in ms, spans in seconds of the run, unless named.

/** The file `runs.js`: all runs of a store, a row each. It calls `perfpipe.store(data)`. */
export interface StoreData {
  /** The version of this format. A page reads all up to its own. */
  format: number;
  /** The version of perfpipe that wrote the site. */
  version: string;
  /** The name of the store. */
  name: string;
  /** The address of a version's own page, with `{}` for its name; absent if versions have none. */
  versionUrl?: string;
  /** The link of what is shown first; home if absent. */
  start?: string;
  /** Frameworks with their slots, which choose colour, marker and dash. A slot is kept and never given to another framework. */
  frameworks: FrameworkSlot[];
  tests: TestRow[];
  /** Ascending by start. */
  runs: RunRow[];
  /** The number of points of sweeps, which have no page; absent without any. */
  points?: number;
  /** Absent unless a server shows the list: the list's number, and the run of a test that is running with the number of its state. */
  served?: { list: number; live?: { run: string; state: number } };
}

export interface FrameworkSlot {
  name: string;
  /** From 0 on, in order of first appearance in the store. */
  slot: number;
}

export interface TestRow {
  /** Its name in links. */
  id: string;
  /** Its file within the site. */
  file: string;
  name: string;
  /** What makes runs one version in its trend: "tag:commit", "day" or "run". */
  by: string;
  /** The file of its trend; null if each framework has one version. */
  trend: string | null;
}

/** A run with the figures by which it is found and ranked. */
export interface RunRow {
  /** Its name in links. */
  id: string;
  /** Its file within the site: another one where the run changed. */
  file: string;
  framework: string;
  test: string;
  /** 0 for a run that is still running. */
  repeat: number;
  /** When it began, in ms since 1970. */
  t0: number;
  /** In seconds. */
  duration: number;
  requests: number;
  failures: number;
  /** Successes a second of the duration. */
  throughput: number | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  /** The mean CPU utilisation in percent. */
  cpu: number | null;
  /** The most threads. */
  load: number | null;
  /** What wrote the log: "JMeter", "k6" and so on. */
  tool: string | null;
  tags: Record<string, string>;
  /** True where parts of the log are missing. */
  partial: boolean;
  /** What was chosen of the run and how it is counted: "seconds 10 to 30", "label Get"; absent where it is whole. */
  chosen?: string[];
  /** The verdict of the rules that the site was written with; null without rules. */
  verdict: { passed: number; failed: number } | null;
  /** What stands out, most harmful first, notes left out. */
  findings: ShortFinding[];
  /** The run in small, for lists; absent where the file has none. */
  spark?: Spark;
}

/** Successes over time in at most 40 columns of equal width, the cut second left out. */
export interface Spark {
  /** In whole percent of the greatest; null where nothing is known. */
  heights: (number | null)[];
  /** The columns with failures. */
  failed: number[];
}

export interface ShortFinding {
  /** "stall", "failures", "saturation" and so on. */
  kind: string;
  what: string;
}

/** The file of a test: what the command computes over the runs of a test. It calls `perfpipe.test(id, data)`. */
export interface TestData {
  format: number;
  name: string;
  /** The goals for response times that `StandingRow.goals` are of. */
  goals?: { name: string; unit: string }[];
  league: StandingRow[];
  /** Sentences below the league, such as on ties. */
  notes: string[];
  /** What changed its level from one version to the next, the newest first. */
  changes: ShortChange[];
  /** The file of its trend within the site; null if each framework has one version. */
  trend: string | null;
}

/** A framework's place in the league. */
export interface StandingRow {
  framework: string;
  /** The interval of ranks, both inclusive; null if it is not ranked, since too many of its requests failed. */
  ranks: [number, number] | null;
  repeats: number;
  /** The ids of its runs, the median one first. */
  runs: string[];
  /** Medians of the repeats. */
  throughput: number | null;
  throughputRange: [number, number] | null;
  p50: number | null;
  p95: number | null;
  p99: number | null;
  failuresPercent: number | null;
  cpu: number | null;
  load: number | null;
  /** The figure of each of `TestData.goals`. */
  goals?: (number | null)[];
}

/** A figure that changed its level from a version on, in short. */
export interface ShortChange {
  framework: string;
  /** "throughput", "p95" and so on. */
  figure: string;
  unit: string;
  /** The name of the first version of the new level, and when it was first tested. */
  since: string;
  t0: number;
  before: number;
  after: number;
  percent: number | null;
  direction: Direction;
  /** How many versions of the framework are at the new level or later. */
  age: number;
}

/** "more" and "less" are of figures that are neither good nor bad. */
export type Direction = "better" | "worse" | "more" | "less";

/** The file of a trend: the figures of a test from version to version. It calls `perfpipe.trend(id, data)`, with the test's id. */
export interface TrendData {
  format: number;
  /** The name of the test. */
  name: string;
  /** What makes runs one version: "tag:commit", "day" or "run". */
  by: string;
  /** The least number of versions of which one can be marked. */
  least: number;
  frameworks: FrameworkTrend[];
}

export interface FrameworkTrend {
  framework: string;
  /** In the order in which they were first tested. */
  versions: { name: string; t0: number; /** Ids of its runs. */ runs: string[] }[];
  figures: TrendFigure[];
  /** Sentences on gradual changes. */
  drifts: string[];
}

/** One figure over the versions: each list has a value for each version. */
export interface TrendFigure {
  /** "throughput", "p95" and so on. */
  figure: string;
  unit: string;
  /** Whether more is better; null where neither is. */
  moreIsBetter: boolean | null;
  /** Of several repeats the median. */
  values: (number | null)[];
  /** The 99 % interval of each value by the scatter of the repeats; null without repeats. */
  intervals: ([number, number] | null)[];
  /** The value of each of `versions[].runs`. */
  runs: (number | null)[][];
  /** The levels: from which version to which (both inclusive), and the range in which a version lies by chance. */
  levels: { from: number; to: number; level: number; band: [number, number] | null }[];
  /** Changes of level, by the first version of the new one. */
  changes: { version: number; before: number; after: number; percent: number | null; p: number; direction: Direction }[];
  /** Gradual changes: over which versions (both inclusive), and the straight line at both. */
  drifts: { from: number; to: number; before: number; after: number; percent: number | null; direction: Direction }[];
}

/** What `engine.js` computes of sides: that of `perfpipe compare`. */
export interface ComparedSides {
  changes: ChangeRow[];
  /** Sentences on the noise, and on what is not compared. */
  notes: string[];
}

/** A row of `perfpipe compare --format json`, and the interval that decides. */
export interface ChangeRow {
  /** The name of the side that is compared with the first one. */
  run: string;
  /** "run", or "hold" where all runs have one. */
  part: string;
  /** "throughput", "p95", "series memory" and so on. */
  measure: string;
  unit: string;
  a: number | null;
  b: number | null;
  change_percent: number | null;
  /** The 99 % interval of this figure by itself. */
  change_percent_low: number | null;
  change_percent_high: number | null;
  difference_low: number | null;
  difference_high: number | null;
  /** The interval of all figures taken together: without 0 exactly where a change is shown. Its upper end is infinite where there is none. Null where it can't be computed. */
  joint_percent: [number, number] | null;
  /** "worse", "better", "more" or "less", also with " (these runs)"; "not shown", "unknown". */
  outcome: string;
  p: number | null;
  p_adjusted: number | null;
  /** "seconds", "repeats" or "pairs". */
  noise: string;
  moreIsBetter: boolean | null;
}

/**
 * The file of a run: all that is shown of a run. It calls `perfpipe.run(id, packed, figures)`: JSON, deflated (zlib), as
 * base64. The figures are for the engine alone.
 */
export interface RunData {
  format: number;
  head: RunHead;
  series: Series;
  detail: Detail;
  findings: Finding[];
  /** The rules that the run was checked against. */
  rules?: RuleRow[];
  labels: LabelRow[];
  /** All labels together; null if there is but one. */
  total?: LabelRow | null;
  errors: ErrorRow[];
  /** The number of kinds of failures that are not in `errors`. */
  moreErrors?: number;
  /** Sentences on damage of the log. */
  damage?: string[];
  /** Sentences on what the figures leave out, such as time-outs or outstanding requests. */
  remarks: string[];
  /** The files that the run was made from. */
  sources?: string[];
}

/** A rule, and what became of it. */
export interface RuleRow {
  rule: string;
  passed: boolean;
  /** The figure judged by, and its limit, with their unit; null where there is none. */
  value: string | null;
  limit: string | null;
  /** The first and the last second that break it. */
  span: [number, number] | null;
  note: string | null;
}

export interface RunHead {
  first: number;
  seconds: number;
  /** The part of the last second that the run lasted, from 0 to 1. Below 1, that second is cut: charts leave it out. */
  lastPart: number;
  /** The percentiles of `Series.elapsed`, in percent. */
  percentiles: number[];
  /** 100, or the number of cores times 100. */
  cpuTop: number | null;
  /** True if times, waits, bytes and CPU are of all requests, not of successes. */
  includeFailures?: boolean;
  /** What the colours of the requests show: "cpu" or "throughput"; the load if null or absent. */
  colorBy?: string | null;
  /** What the clock showed at second 0, in seconds since midnight, if time axes have the time of day. */
  clock?: number | null;
  /** The whole run first, then its phases: "ramp", "hold", "tail". */
  parts: Part[];
}

/** A part of a run whose figures are exact. */
export interface Part {
  name: string;
  /** The first second, and the one after the last. */
  from: number;
  to: number;
  duration: number;
  /** The 50th, 95th and 99th percentile. */
  times: (number | null)[];
}

/** The values of a run by second. */
export interface Series {
  successes: number[];
  failures: number[];
  load: (number | null)[];
  cpu: (number | null)[];
  /** For each of `RunHead.percentiles`. */
  elapsed: (number | null)[][];
  /** Elapsed times in ms by percentile, over the run. */
  curve: [number, number][];
  /** The server's series other than its CPU. */
  server?: ServerSeries[];
}

export interface ServerSeries {
  name: string;
  unit: string;
  /** The unit that was given, and how many of it make one of `unit`. */
  base?: string;
  factor?: number;
  note: string | null;
  values: (number | null)[];
}

/** What is drawn of a run besides its seconds. */
export interface Detail {
  heat: PackedCounts;
  sweep: Sweep | null;
  overTime: OverTime;
  network: Network;
  /** How often each elapsed time occurred. */
  successes: Distribution;
  failures: Distribution;
}

/** Waits and bytes over time: of all labels, and of each of `OverTime.labels` if there are several. */
export interface Network {
  all: NetworkSeries;
  labels: NetworkSeries[];
}

/** Mean waits in ms and sums of bytes: a value for each `width` seconds. What the log does not record is empty. */
export interface NetworkSeries {
  width: number;
  elapsed: (number | null)[];
  latency: (number | null)[];
  connect: (number | null)[];
  received: number[];
  sent: number[];
}

/** Counts of elapsed times in bins of `width` units from `first` on. */
export interface Distribution {
  /** The number of units of the times in a ms, if it is not 1. */
  scale?: number;
  width: number;
  first: number;
  counts: number[];
  /** The number of times beyond the last bin. */
  beyond: number;
  max: number | null;
}

/** Counts of elapsed times: for each column of `width` seconds the distances of the times, then their counts. */
export interface PackedCounts {
  scale?: number;
  width: number;
  /** True where each unit is counted; false where counts are in buckets of 1 %. */
  exact: boolean;
  columns: [number[], number[]][];
}

/** The run by its load. */
export interface Sweep {
  loads: number[];
  throughput: (number | null)[];
  spread: (number | null)[];
  /** Failures a second; absent in files of earlier versions. */
  failed?: (number | null)[];
  elapsed: (number | null)[][];
  cpu: (number | null)[];
  knee: number | null;
  capacity: number | null;
  beyond: boolean;
}

export interface OverTime {
  width: number;
  labels: { label: string; successes: number[]; failures: number[]; p50: (number | null)[]; p95: (number | null)[] }[];
  failures: { label: string; code: string; counts: number[] }[];
}

export interface Finding {
  kind: string;
  /** True for a remark: nothing is amiss. */
  note: boolean;
  /** What it costs, beside others of its kind; older sites lack it. */
  cost?: number;
  first: number;
  last: number;
  what: string;
  evidence: string;
}

export interface LabelRow {
  label: string;
  requests: number;
  failures: number;
  throughput: number | null;
  mean: number | null;
  p50: number | null;
  p90: number | null;
  p95: number | null;
  p99: number | null;
  min: number | null;
  max: number | null;
  sd: number | null;
  latency: number | null;
  connect: number | null;
  received: number | null;
  sent: number | null;
}

export interface ErrorRow {
  code: string;
  message: string;
  labels: string;
  count: number;
  first: number;
  last: number;
}
