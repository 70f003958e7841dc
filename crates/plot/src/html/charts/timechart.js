// Charts over time: lines or stacked bars, with the cross-hair and the selection above them.

class TimeChart extends Chart {
  constructor(host, options) {
    super(host, options);
    Object.assign(this, { first: options.first, end: options.end, top: options.top, hold: options.hold });
    this.picture.classList.add("time");
    this.hair = svg("path", { class: "hair" });
    this.selection = svg("rect", { class: "selection", y: 0 });
  }

  draw(view) {
    this.view = view;
    this.begin();
    this.time = timeAxis(view.from, view.to, this.width);
    this.shade();
    this.data();
    this.border();
    this.selection.setAttribute("height", this.height);
    this.selection.setAttribute("width", 0);
    this.plot.append(this.selection, this.hair);
    this.point(view.cursor);
  }

  redraw() {
    this.draw(this.view);
  }

  // Shades the seconds outside of the hold, as on the printed pages.
  shade() {
    if (!this.hold) return;
    const [first, last] = this.hold;
    for (const [from, to] of [[this.view.from, first], [last + 1, Math.min(this.view.to, this.end)]]) {
      const [left, right] = [this.inside(from), this.inside(to)];
      if (right > left) {
        const box = { class: "phase", x: px(left), width: px(right - left), height: this.height };
        this.plot.append(svg("rect", box));
      }
    }
  }

  inside(second) {
    return Math.min(Math.max(this.time.x(second), 0), this.width);
  }

  data() {
    const bin = binWidth(this.view.from, this.view.to, this.width);
    this.note.textContent = bin > 1 ? this.binning(bin) : "";
    const drawn = this.shown().map((series) => ({ series, columns: this.columns(series, bin) }));
    const max = Math.max(0, ...drawn.flatMap(({ series, columns }) => columns.map((c) => this.reach(series, c))));
    this.value = valueAxis(max, this.height, this.top && Math.max(this.top, max));
    this.axes(this.time.ticks, this.time.x, this.value.ticks, this.value.y);
    if (!drawn.some(({ columns }) => columns.length)) this.say("nothing to draw");
    for (const { series, columns } of drawn) this.one(series, columns, bin);
  }

  // Returns the note on points of more than one second.
  binning(bin) {
    return `each point: ${bin} s, line at the mean, band from the least to the greatest second`;
  }

  // Gathers a series into columns; a series may have a first second of its own.
  columns({ values, first = this.first }, bin) {
    return columns(values, first, this.view.from, Math.min(this.view.to, this.end), bin);
  }

  // Returns the height of a column, in units of the data.
  reach(series, column) {
    return column.max;
  }

  one(series, columns, bin) {
    const middle = (column) => px(this.time.x((column.start + column.end) / 2));
    const line = { up: (value) => px(this.value.y(value)), middle, columns };
    const group = svg("g", { class: "series", "data-series": series.name });
    group.style.color = series.color;
    if (bin > 1) group.append(svg("path", { class: "band", d: bandPath(line) }));
    group.append(svg("path", { class: "line", d: linePath(line) }));
    this.plot.append(group);
  }

  // Puts the cross-hair on a second.
  point(second) {
    const seen = second !== null && second >= this.view.from && second < this.view.to;
    this.hair.setAttribute("d", seen ? `M${px(this.time.x(second + 0.5))} 0v${this.height}` : "");
  }

  // Marks the seconds that are being selected.
  select(from, to) {
    const [left, right] = [this.inside(from), this.inside(to)];
    this.selection.setAttribute("x", px(left));
    this.selection.setAttribute("width", px(right - left));
  }
}

// Returns a line through the columns' means, broken at missing columns; a single column is a dot.
function linePath({ columns, middle, up }) {
  let path = "";
  columns.forEach((column, at) => {
    const joined = at > 0 && columns[at - 1].end === column.start;
    path += `${joined ? "L" : "M"}${middle(column)} ${up(column.mean)}`;
    if (!joined && columns[at + 1]?.start !== column.end) path += "h.01";
  });
  return path;
}

// Returns the band between the minima and the maxima.
function bandPath({ columns, middle, up }) {
  const stretches = [];
  columns.forEach((column, at) => {
    if (at > 0 && columns[at - 1].end === column.start) stretches[stretches.length - 1].push(column);
    else stretches.push([column]);
  });
  const edge = (stretch, value) => stretch.map((column) => `${middle(column)} ${up(value(column))}`);
  return stretches
    .map((stretch) => [...edge(stretch, (c) => c.max), ...edge([...stretch].reverse(), (c) => c.min)].join("L"))
    .map((path) => `M${path}z`)
    .join("");
}
