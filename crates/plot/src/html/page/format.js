// Formatting of numbers and times.

const MISSING = "–";

// Formats a measured value with few digits: 46,333 or 12.3 or 0.45.
function measured(value) {
  if (value === null || value === undefined) return MISSING;
  const size = Math.abs(value);
  const digits = size >= 99.95 || value === 0 ? 0 : size >= 9.995 ? 1 : 2;
  return grouped(value, digits);
}

// Formats a count, without decimals.
function counted(value) {
  return value === null || value === undefined ? MISSING : grouped(value, 0);
}

function grouped(value, digits) {
  return value.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

// Formats a time since the start, as in 0:54 or 13:53:20.
function stamp(seconds) {
  const two = (part) => String(part).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0 ? `${hours}:${two(minutes)}:${two(seconds % 60)}` : `${minutes}:${two(seconds % 60)}`;
}

// Formats an elapsed time for a logarithmic axis.
function shortTime(ms) {
  return ms >= 1000 ? `${ms / 1000} s` : `${ms} ms`;
}
