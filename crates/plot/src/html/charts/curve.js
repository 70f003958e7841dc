// Elapsed by percentile, on HdrHistogram's axis: each nine takes the same width.

const PERCENTS = [0, 50, 90, 99, 99.9, 99.99];

class CurveChart extends PointedChart {
  draw() {
    this.begin();
    this.points = (this.series.find((series) => series.curve.length)?.curve || []).map(([percent]) => percent);
    const top = Math.max(0, ...this.shown().flatMap((series) => series.curve.map(([, ms]) => ms)));
    this.value = valueAxis(top, this.height);
    const ticks = PERCENTS.map((at) => ({ at, text: `${at} %` }));
    this.axes(ticks, (percent) => this.x(percent), this.value.ticks, this.value.y);
    for (const series of this.shown()) this.one(series);
    if (!(top > 0)) this.say("nothing to draw");
    this.end();
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

  words(at) {
    const percent = this.points[at];
    const time = (series) => series.curve.find(([other]) => other === percent)?.[1];
    return `p${percent}: ${this.shown().map((series) => `${series.name} ${measured(time(series))} ms`).join(", ")}`;
  }
}
