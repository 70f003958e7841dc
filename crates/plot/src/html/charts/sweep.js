// Values by load, one point for each load step, with the knee if there is one.

class SweepChart extends PointedChart {
  // `series` are { name, values, spread }, by step. `bound` is the capacity, if it is to be drawn. `beyond` is true if
  // the sweep begins beyond the knee.
  constructor(host, options) {
    super(host, options);
    const { loads, knee, beyond, bound, top } = options;
    Object.assign(this, { points: loads, knee, beyond, bound, top });
  }

  draw() {
    this.begin();
    const reach = ({ values, spread }) => values.map((value, step) => (value ?? 0) + (spread?.[step] ?? 0));
    const top = Math.max(0, this.bound ?? 0, ...this.shown().flatMap(reach));
    this.value = valueAxis(top, this.height, this.top && Math.max(this.top, top));
    this.load = valueAxis(Math.max(...this.points), this.width / 2);
    this.axes(this.load.ticks, (load) => this.x(load), this.value.ticks, this.value.y);
    if (this.knee) this.mark();
    for (const series of this.shown()) this.one(series);
    if (!(top > 0)) this.say("nothing to draw");
    this.end();
  }

  x(load) {
    return (this.width * load) / this.load.top;
  }

  // Draws the knee and the two bounds that meet there. The bound N / R is left out if the sweep begins beyond the knee.
  mark() {
    const [x, y] = [px(this.x(this.knee)), this.bound && px(this.value.y(this.bound))];
    const rise = this.beyond ? "M" : `M0 ${this.height}L`;
    if (this.bound) this.plot.append(svg("path", { class: "bounds", d: `${rise}${x} ${y}H${this.width}` }));
    this.plot.append(svg("path", { class: "knee", d: `M${x} 0v${this.height}` }));
  }

  one(series) {
    const group = svg("g", { class: "series", "data-series": series.name });
    group.style.color = series.color;
    let path = "";
    series.values.forEach((value, step) => {
      if (value === null) return;
      const [x, y] = [px(this.x(this.points[step])), px(this.value.y(value))];
      const sd = series.spread?.[step];
      const [low, high] = [Math.max(value - sd, 0), value + sd];
      if (sd) group.append(svg("path", { class: "line thin", d: `M${x} ${px(this.value.y(low))}V${px(this.value.y(high))}` }));
      path += `${step > 0 && series.values[step - 1] !== null ? "L" : "M"}${x} ${y}`;
      group.append(svg("circle", { class: "dot", cx: x, cy: y, r: 2.5 }));
    });
    group.append(svg("path", { class: "line", d: path }));
    this.plot.append(group);
  }

  words(at) {
    const told = this.shown().map(({ name, values, unit }) => `${name} ${measured(values[at])}${unit}`);
    return `${measured(this.points[at])} threads: ${told.join(", ")}`;
  }
}
