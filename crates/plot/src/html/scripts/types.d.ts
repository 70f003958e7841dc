// The data in the page, and what is made of them.

/** What is known of all runs before their data are unpacked. */
export interface Index {
  runs: RunHead[];
  /** The number of colours for frameworks. */
  colors: number;
  /** The colours of the measure from its least value to its greatest; null for shades of one colour. */
  scale: string[] | null;
}

export interface RunHead {
  name: string;
  framework: string;
  /** The index of the framework's colour. */
  color: number;
  /** True for the framework's median repeat. */
  median: boolean;
  /** True if more than 1 % of the framework's requests failed. */
  failing: boolean;
  first: number;
  seconds: number;
  /** The part of the last second that the run lasted, from 0 to 1. */
  lastPart: number;
  percentiles: number[];
  /** The requests that averages are taken over. */
  colorBy: string;
  measure: "load" | "cpu" | "successes";
  cpuTop: number | null;
  /** What the clock showed at second 0, in seconds since midnight. */
  clock: number;
  /** True if the time axes show the time of day. */
  byClock: boolean;
  /** The whole selection first, then its phases. */
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
  /** For each of the percentiles. */
  elapsed: (number | null)[][];
  /** Elapsed times in ms by percentile. */
  curve: [number, number][];
  /** The server's series other than its CPU; absent if there are none. */
  server?: ServerSeries[];
}

/** A series of the server by second. */
export interface ServerSeries {
  name: string;
  unit: string;
  /** The unit as given at the ingest, and how many of it are one of `unit`. */
  base: string;
  factor: number;
  /** What the axis can't show. */
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

/** Counts of elapsed times in bins of `width` ms from `first` on. */
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

/** Counts of elapsed times: for each column the distances of the times, then their counts. */
export interface PackedCounts {
  scale?: number;
  width: number;
  exact: boolean;
  columns: [number[], number[]][];
}

export interface Sweep {
  loads: number[];
  throughput: (number | null)[];
  spread: (number | null)[];
  elapsed: (number | null)[][];
  cpu: (number | null)[];
  knee: number | null;
  capacity: number | null;
  beyond: boolean;
}

export interface OverTime {
  width: number;
  labels: LabelSeries[];
  failures: FailureSeries[];
}

export interface LabelSeries {
  label: string;
  successes: number[];
  failures: number[];
  p50: (number | null)[];
  p95: (number | null)[];
}

export interface FailureSeries {
  label: string;
  code: string;
  counts: number[];
}

/** Values by time: one for each `width` seconds from `first` on. */
export interface Values {
  first: number;
  width: number;
  list: (number | null)[];
}

/** A column of a chart. */
export interface Column {
  start: number;
  end: number;
  mean: number;
  min: number;
  max: number;
}

/** A line or a row of bars in a chart over time. */
export interface Line {
  name: string;
  values: Values;
  /** What the cross-hair tells, if that is not what is drawn. */
  counts?: Values;
  color: string;
  swatch?: string;
  /** What the key says beside the name. */
  about?: string;
  unit?: string;
  show?: (value: number) => string;
  hidden?: boolean;
  /** True for a line behind the others, without an entry in the key. */
  faint?: boolean;
  /** True for a framework that fails. */
  failing?: boolean;
  /** Requests by second: seconds with few of them do not stretch the axis. */
  weights?: Values;
}

export interface Tick {
  at: number;
  text: string;
}

export interface Axis {
  top: number;
  ticks: Tick[];
  y: (value: number) => number;
}
