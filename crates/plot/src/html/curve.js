// Elapsed by percentile, on HdrHistogram's axis: as much room for each nine as for the one before.

const PERCENTS = [0, 50, 90, 99, 99.9, 99.99];

class CurveChart extends Chart {
  constructor(host, options) {
    super(host, options);
    this.hair = svg("path", { class: "hair" });
    this.told = html("output", { class: "note" });
    this.note.after(this.told);
    this.picture.addEventListener("pointermove", (event) => this.point(event));
    this.picture.addEventListener("pointerleave", () => this.leave());
  }

  draw() {
    this.begin();
    const top = Math.max(0, ...this.shown().flatMap((series) => series.curve.map(([, ms]) => ms)));
    this.value = valueAxis(top, this.height);
    const ticks = PERCENTS.map((at) => ({ at, text: `${at} %` }));
    this.axes(ticks, (percent) => this.x(percent), this.value.ticks, this.value.y);
    for (const series of this.shown()) this.one(series);
    if (!(top > 0)) this.say("nothing to draw");
    this.border();
    this.plot.append(this.hair);
    this.leave();
  }

  redraw() {
    this.draw();
  }

  x(percent) {
    return (-Math.log10(1 - percent / 100) / 4) * this.width;
  }

  one(series) {
    const path = series.curve.map(([percent, ms]) => `${px(this.x(percent))} ${px(this.value.y(ms))}`).join("L");
    const group = svg("g", { class: "series", "data-series": series.name });
    group.style.color = series.color;
    if (path) group.append(svg("path", { class: "line", d: `M${path}` }));
    this.plot.append(group);
  }

  // Tells the times at the point of the curve that is nearest to the pointer.
  point(event) {
    const at = event.clientX - this.picture.getBoundingClientRect().left - MARGIN.left;
    const curve = this.series.find((series) => series.curve.length)?.curve || [];
    const gap = (percent) => Math.abs(this.x(percent) - at);
    const near = curve.reduce((best, [percent]) => (gap(percent) < gap(best) ? percent : best), 0);
    const time = (series) => series.curve.find(([percent]) => percent === near)?.[1];
    const times = this.shown().map((series) => `${series.name} ${measured(time(series))} ms`);
    this.told.textContent = `p${near}: ${times.join(", ")}`;
    this.hair.setAttribute("d", `M${px(this.x(near))} 0v${this.height}`);
  }

  leave() {
    this.told.textContent = "";
    this.hair.setAttribute("d", "");
  }
}
