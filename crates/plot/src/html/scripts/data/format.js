// Formatting of numbers and times.
// @ts-check

/** The text of an absent value. */
export const MISSING = "–";

/** @type {Map<number, Intl.NumberFormat>} */
const formats = new Map();

/**
 * Formats a number with a given number of decimals and commas between thousands.
 * @param {number} value
 * @param {number} digits
 */
export function grouped(value, digits) {
  let format = formats.get(digits);
  if (!format) {
    format = new Intl.NumberFormat("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
    formats.set(digits, format);
  }
  return format.format(value);
}

/**
 * Formats a measured value with few digits: 46,333 or 12.3 or 0.45.
 * @param {number | null | undefined} value
 */
export function measured(value) {
  if (value === null || value === undefined) return MISSING;
  const size = Math.abs(value);
  return grouped(value, size >= 99.95 || value === 0 ? 0 : size >= 9.995 ? 1 : 2);
}

/**
 * Formats a count, without decimals.
 * @param {number | null | undefined} value
 */
export function counted(value) {
  return value === null || value === undefined ? MISSING : grouped(value, 0);
}

/**
 * Formats a share in percent. A share that is neither none nor all is not rounded to either.
 * @param {number} share from 0 to 1
 */
export function percent(share) {
  if (share <= 0) return "0 %";
  if (share >= 1) return "100 %";
  if (share < 0.0001) return "< 0.01 %";
  if (share > 0.9999) return "> 99.99 %";
  return `${Number((share * 100).toFixed(2))} %`;
}

/**
 * Formats a time since the start, as in 0:54 or 13:53:20.
 * @param {number} seconds
 */
export function stamp(seconds) {
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

/**
 * Formats the time of day, as in 19:42:18.
 * @param {number} seconds since a midnight
 */
export function timeOfDay(seconds) {
  const two = (/** @type {number} */ part) => String(part).padStart(2, "0");
  const [hours, minutes] = [Math.floor(seconds / 3600) % 24, Math.floor(seconds / 60) % 60];
  return [hours, minutes, seconds % 60].map(two).join(":");
}

/** Units of bytes per second, the greatest first. */
const BYTE_UNITS = [
  { name: "GB/s", bytes: 1e9 },
  { name: "MB/s", bytes: 1e6 },
  { name: "kB/s", bytes: 1e3 },
  { name: "B/s", bytes: 1 },
];

/**
 * Returns the unit in which a number of bytes per second is a number of one to three digits.
 * @param {number} most
 */
export function byteUnit(most) {
  return BYTE_UNITS.find(({ bytes }) => most >= bytes) ?? BYTE_UNITS[BYTE_UNITS.length - 1];
}

/**
 * Formats an elapsed time for a logarithmic axis.
 * @param {number} ms
 */
export function shortTime(ms) {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}
