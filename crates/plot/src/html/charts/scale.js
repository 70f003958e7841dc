// Axes: the mapping from data to pixels, and the ticks.

// Returns the round step that divides a span into about `parts` parts.
function roundStep(span, parts) {
  const raw = span / Math.max(parts, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const lead = [1, 2, 2.5, 5, 10].find((lead) => lead * power >= raw * (1 - 1e-9));
  return lead * power;
}

// Returns an axis from 0 to a round value of at least `max`, or exactly to `end` if that is given.
function valueAxis(max, height, end) {
  const top = end || max || 1;
  const step = roundStep(top, Math.max(2, Math.floor(height / 34)));
  const reach = end || Math.ceil(top / step - 1e-9) * step;
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9) + (String(step).includes("25") ? 1 : 0));
  const ticks = [];
  for (let n = 0; n * step <= reach * (1 + 1e-9); n += 1) {
    ticks.push({ at: n * step, text: grouped(n * step, Math.min(digits, 6)) });
  }
  return { top: reach, ticks, y: (value) => height * (1 - Math.min(value / reach, 1)) };
}

// Returns a logarithmic axis of elapsed times from `low` to `high` ms.
function logAxis(low, high, height) {
  const [from, to] = [Math.log(low), Math.log(Math.max(high, low * 2))];
  const y = (value) => height * (1 - (Math.log(Math.max(value, low)) - from) / (to - from));
  const leads = (to - from) / Math.LN10 > height / 60 ? [1] : [1, 2, 5];
  const ticks = [];
  for (let power = 1; power <= high; power *= 10) {
    for (const at of leads.map((lead) => lead * power)) {
      if (at >= low && at <= high) ticks.push({ at, text: shortTime(at) });
    }
  }
  return { top: high, ticks, y };
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400];

// Returns the axis of the seconds from `from` up to `to`, `width` pixels wide.
function timeAxis(from, to, width) {
  const least = ((to - from) * 80) / width;
  const step = TIME_STEPS.find((step) => step >= least) || Math.ceil(least / 86400) * 86400;
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    ticks.push({ at, text: to > 60 ? stamp(at) : String(at) });
  }
  return { ticks, x: (second) => (width * (second - from)) / (to - from) };
}
