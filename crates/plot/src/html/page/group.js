// Charts with a common time axis, one below the other: drawn once visible, read by pointer and by keyboard.

class Group {
  constructor(host, view, readings) {
    Object.assign(this, { host, view, charts: [], stale: true, seen: false });
    this.readout = new Readout(host, readings);
    this.box = html("div", { class: "charts", tabindex: "0", role: "slider", "aria-label": "Second" });
    host.append(this.box);
    new IntersectionObserver((entries) => this.see(entries), { rootMargin: "300px" }).observe(this.box);
    addEventListener("resize", () => this.change());
    followPointer(this);
    followKeys(this);
    view.groups.push(this);
  }

  add(chart) {
    this.charts.push(chart);
  }

  see(entries) {
    this.seen = entries[entries.length - 1].isIntersecting;
    this.draw();
  }

  change() {
    this.stale = true;
    this.draw();
  }

  draw() {
    if (!this.seen || !this.stale) return;
    this.stale = false;
    this.charts.forEach((chart) => chart.draw(this.view));
    this.box.setAttribute("aria-valuemin", this.view.first);
    this.box.setAttribute("aria-valuemax", this.view.end - 1);
    this.point(this.view.cursor);
  }

  point(second) {
    this.readout.tell(second);
    if (this.stale) return;
    this.charts.forEach((chart) => chart.point(second));
    this.box.setAttribute("aria-valuenow", second ?? this.view.from);
    this.box.setAttribute("aria-valuetext", this.readout.words());
  }

  select(from, to) {
    this.charts.forEach((chart) => chart.select(from, to));
  }

  // Returns the second at a horizontal position in the window, not rounded.
  secondAt(clientX) {
    const [chart] = this.charts;
    const left = chart.picture.getBoundingClientRect().left + MARGIN.left;
    const share = Math.min(Math.max((clientX - left) / chart.width, 0), 1);
    return this.view.from + share * (this.view.to - this.view.from);
  }
}
