// Requests per second: successes as bars coloured by load, failures on top of them.

class RequestsChart extends TimeChart {
  constructor(host, options) {
    super(host, options);
    this.measure = options.measure;
    this.scale = options.scale;
    this.most = Math.max(0, ...compact(options.measure));
  }

  binning(bin) {
    return `each bar: ${bin} s, dark up to the mean, light up to the greatest second`;
  }

  // Bars are stacked, so the axis must reach up to their sum.
  reach(series, column) {
    const [below] = this.series;
    if (series === below || below.hidden) return column.max;
    const spread = this.columns(below, column.end - column.start).find((c) => c.start === column.start);
    return column.max + (spread ? spread.mean : 0);
  }

  one(series, columns, bin) {
    const [below] = this.series;
    const under = series === below || below.hidden ? [] : this.columns(below, bin);
    const floor = new Map(under.map((column) => [column.start, column.mean]));
    const group = svg("g", { class: "series bars", "data-series": series.name });
    const add = (value, shade) => {
      for (const [color, path] of this.paths(series, columns, floor, value)) {
        group.append(svg("path", { ...shade, d: path, fill: color }));
      }
    };
    if (bin > 1) add((column) => column.max, { "fill-opacity": 0.35 });
    add((column) => column.mean);
    this.plot.append(group);
  }

  // Returns one path for each colour.
  paths(series, columns, floor, value) {
    const paths = new Map();
    const bottom = (column) => floor.get(column.start) || 0;
    for (const column of columns.filter((column) => column.max > 0)) {
      const [left, right] = [this.inside(column.start), this.inside(column.end)];
      const low = this.value.y(bottom(column));
      const high = Math.min(this.value.y(bottom(column) + value(column)), low - 0.6);
      const color = series === this.series[0] ? this.color(column) : series.color;
      const bar = `M${px(left)} ${px(low)}V${px(high)}H${px(right)}V${px(low)}z`;
      paths.set(color, (paths.get(color) || "") + bar);
    }
    return paths;
  }

  color(column) {
    const spread = this.most > 0 && this.columnOf(column);
    if (!spread) return "var(--neutral)";
    const step = Math.floor((spread.mean / this.most) * this.scale.length);
    return this.scale[Math.min(step, this.scale.length - 1)];
  }

  columnOf({ start, end }) {
    return columns(this.measure, this.first, start, end, end - start)[0];
  }
}

function compact(values) {
  return values.filter((value) => value !== null);
}
