// Gathering of seconds into as many columns as there are pixels.

// Returns the number of seconds in a column if `width` pixels show the seconds from `from` up to `to`.
function binWidth(from, to, width) {
  return Math.max(1, Math.ceil((to - from) / width));
}

// Gathers values by second into columns, each with its start, end, mean, minimum and maximum. Columns without a value
// are left out.
function columns(values, first, from, to, bin) {
  const found = [];
  for (let start = from; start < to; start += bin) {
    const end = Math.min(start + bin, to);
    const column = spread(values, start - first, end - first);
    if (column) found.push({ start, end, ...column });
  }
  return found;
}

function spread(values, from, to) {
  let [n, sum, min, max] = [0, 0, Infinity, -Infinity];
  for (let at = Math.max(from, 0); at < to && at < values.length; at += 1) {
    const value = values[at];
    if (value === null) continue;
    n += 1;
    sum += value;
    min = Math.min(min, value);
    max = Math.max(max, value);
  }
  return n > 0 ? { mean: sum / n, min, max } : null;
}
