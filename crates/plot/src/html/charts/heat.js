// The heat map: the number of requests by elapsed time, over time.

// The number of shades for numbers of requests.
const SHADES = 12;

class HeatChart extends TimeChart {
  constructor(host, options) {
    super(host, options);
    this.heat = options.heat;
    const buckets = options.heat.columns.flatMap((column) => column.filter((_, at) => at % 2 === 0));
    this.lowest = Math.min(...buckets);
    this.highest = Math.max(...buckets);
    this.most = Math.max(...options.heat.columns.flatMap((column) => column.filter((_, at) => at % 2 === 1)));
  }

  data() {
    if (!Number.isFinite(this.lowest)) return this.say("nothing to draw");
    const edge = (bucket) => this.heat.edges[bucket] || 0.5;
    this.value = logAxis(edge(this.lowest), edge(this.highest + 1), this.height);
    this.note.textContent = `from 1 to ${counted(this.most)} requests in ${this.heat.width} s`;
    const paths = new Array(SHADES).fill("");
    this.heat.columns.forEach((column, at) => this.column(column, at, edge, paths));
    const group = svg("g", { class: "series heat", "data-series": this.series[0]?.name || "requests" });
    paths.forEach((d, shade) => {
      if (d) group.append(svg("path", { d, "fill-opacity": px(0.1 + (0.9 * shade) / (SHADES - 1)) }));
    });
    this.plot.append(group);
    this.axes(this.time.ticks, this.time.x, this.value.ticks, this.value.y);
  }

  // Adds a column's cells to the paths of their shades.
  column(counts, at, edge, paths) {
    const start = this.first + at * this.heat.width;
    const end = Math.min(start + this.heat.width, this.end);
    if (end <= this.view.from || start >= this.view.to) return;
    const [left, right] = [px(this.inside(start)), px(this.inside(end))];
    for (let place = 0; place < counts.length; place += 2) {
      const [low, high] = [edge(counts[place]), edge(counts[place] + 1)].map((ms) => px(this.value.y(ms)));
      paths[this.shade(counts[place + 1])] += `M${left} ${low}V${high}H${right}V${low}z`;
    }
  }

  // Returns the shade of a count. It is logarithmic, so that one slow request is visible beside thousands of fast ones.
  shade(count) {
    return this.most > 1 ? Math.round((Math.log(count) / Math.log(this.most)) * (SHADES - 1)) : SHADES - 1;
  }
}
