// Numbers, durations and dates as text. Values are shown with few digits; copies and CSV have the exact ones.

/** The text of an absent value. */
export const MISSING = "–";

type Value = number | null | undefined;

const formats = new Map<number, Intl.NumberFormat>();

/** A number with the given decimals, commas between thousands and a true minus. */
export function grouped(value: number, digits: number): string {
  let format = formats.get(digits);
  if (!format) {
    format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  return format.format(value).replace(/^-/, "−");
}

/** Decimals of a small value: two, or below 0.1 as many as show two digits. */
const smallDecimals = (size: number): number => (size < 0.1 ? Math.min(1 - Math.floor(Math.log10(size)), 9) : 2);

/** Decimals of a value: none from `whole` on, one from 10, two or more below; of 0 none. */
function decimals(value: number, whole: number): number {
  const size = Math.abs(value);
  if (size === 0 || size >= whole - (whole > 10 ? 0.05 : 0.5)) return 0;
  return size >= 9.995 ? 1 : smallDecimals(size);
}

/** A rate or any other measured value: 46,333 or 12.3 or 0.45. `more` adds decimals, as trends do. */
export function rate(value: Value, more = 0): string {
  return value === null || value === undefined ? MISSING : grouped(value, decimals(value, 100) + more);
}

/** A time in ms: 46 or 9.31, without its unit. `more` adds decimals. */
export function ms(value: Value, more = 0): string {
  if (value === null || value === undefined) return MISSING;
  const size = Math.abs(value);
  const digits = size >= 9.995 || size === 0 ? 0 : smallDecimals(size);
  return grouped(value, digits + more);
}

/** A count, without decimals. */
export function count(value: Value): string {
  return value === null || value === undefined ? MISSING : grouped(value, 0);
}

/** A share of failures in percent, without its unit: `0` is none, `< 0.01` some. */
export function failurePercent(percent: Value): string {
  if (percent === null || percent === undefined) return MISSING;
  if (percent <= 0) return "0";
  if (percent >= 100) return "100";
  if (percent < 0.01) return "< 0.01";
  return grouped(Math.min(percent, 99.99), 2);
}

/** A change in percent: with a sign and one decimal. */
export function change(percent: Value): string {
  if (percent === null || percent === undefined) return MISSING;
  const text = grouped(Math.abs(percent), 1);
  if (Number(text.replace(/,/g, "")) === 0) return "0.0";
  return (percent < 0 ? "−" : "+") + text;
}

const two = (part: number): string => String(part).padStart(2, "0");

/** A second of a run, as on axes: 0:54 or, from an hour on, 1:05:20. */
export function stamp(seconds: number, withHours = false): string {
  const whole = Math.floor(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 || withHours ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

/** A time of day, given the seconds since midnight: 19:42:18. */
export function dayTime(seconds: number): string {
  const whole = Math.floor(seconds) % 86_400;
  return [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60].map(two).join(":");
}

/** How long something took, from ms on: 46 ms, 2.0 s. */
export function took(time: number): string {
  return time < 1000 ? `${Number.isInteger(time) ? count(time) : ms(time)} ms` : `${grouped(time / 1000, 1)} s`;
}

/** A time span in words: 13 s, 1 min 18 s, 2 h 5 min. */
export function span(seconds: number): string {
  if (seconds < 1) return `${ms(seconds * 1000)} ms`;
  const whole = Math.round(seconds);
  const [hours, minutes, rest] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
  if (hours > 0) return minutes > 0 ? `${hours} h ${minutes} min` : `${hours} h`;
  if (minutes > 0) return rest > 0 ? `${minutes} min ${rest} s` : `${minutes} min`;
  return `${rest} s`;
}

const MONTHS =
  "January February March April May June July August September October November December".split(" ");
const DAYS = "Sunday Monday Tuesday Wednesday Thursday Friday Saturday".split(" ");

/** A day in UTC: 20 November 2026. */
export function day(t: number): string {
  const date = new Date(t);
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()] ?? ""} ${date.getUTCFullYear()}`;
}

/** A day in UTC with its weekday: Friday 20 November 2026. */
export function weekday(t: number): string {
  return `${DAYS[new Date(t).getUTCDay()] ?? ""} ${day(t)}`;
}

/** Two days as briefly as possible: 20 to 21 November 2026. */
export function days(from: number, to: number): string {
  const [first, last] = [day(from), day(to)];
  if (first === last) return last;
  const [parts, others] = [first.split(" "), last.split(" ")];
  while (parts.length > 1 && parts.at(-1) === others.at(-1)) [parts.pop(), others.pop()];
  return `${parts.join(" ")} to ${last}`;
}

/** The time of day in UTC: 19:42. */
export function clock(t: number): string {
  return new Date(t).toISOString().slice(11, 16);
}

/** How long ago: "today", "yesterday" or "7 days ago". */
export function ago(t: number, now: number): string {
  const past = Math.floor(now / 864e5) - Math.floor(t / 864e5);
  if (past <= 0) return "today";
  return past === 1 ? "yesterday" : `${count(past)} days ago`;
}

/** The least and the greatest of some values, once if they read the same, and a common unit once: 13 to 20 s. */
export function rangeText(values: readonly number[], text: (value: number) => string): string {
  const [low, high] = [text(Math.min(...values)), text(Math.max(...values))];
  const unit = (one: string): string => /^[\d.,]+( [a-z]+)$/.exec(one)?.[1] ?? "";
  const common = unit(low) !== "" && unit(low) === unit(high) ? unit(low).length : 0;
  return low === high ? low : `${low.slice(0, low.length - common)} to ${high}`;
}

/** The most threads of runs: up to 60 threads, or 12 to 60 threads. */
export function threadsText(loads: readonly number[]): string {
  const range = rangeText(loads, count);
  return `${/ to /.test(range) ? "" : "up to "}${range} threads`;
}

/** A number with its noun: 1 run, 3 runs. */
export function plural(number: number, noun: string): string {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}

/** Names in a sentence: a, b and c. */
export function listed(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length < 2 ? last : `${names.slice(0, -1).join(", ")} and ${last}`;
}

/** The part of a number's text that stands right of the decimal point, with the point. */
export function fraction(text: string): string {
  return /\d(\.\d+)$/.exec(text)?.[1] ?? "";
}

/** For texts of a column, what each lacks at its right to have its decimal point below the others': ".00", "0" or "". */
export function paddings(texts: readonly string[]): string[] {
  const parts = texts.map(fraction);
  const most = Math.max(0, ...parts.map((part) => part.length));
  return parts.map((part) => (part === "" ? "." : "").padEnd(most - part.length, "0").slice(0, most - part.length));
}
