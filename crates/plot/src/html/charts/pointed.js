// Charts whose points are read one by one, with the pointer or, if the chart has the focus, with the arrow keys.

class PointedChart extends Chart {
  constructor(host, options) {
    super(host, options);
    this.at = null;
    this.hair = svg("path", { class: "hair" });
    this.told = html("output", { class: "note" });
    this.note.after(this.told);
    const box = this.picture.parentNode;
    for (const [name, value] of [["tabindex", "0"], ["role", "group"], ["aria-label", this.heading]]) {
      box.setAttribute(name, value);
    }
    this.picture.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
    this.picture.addEventListener("pointerleave", () => this.point(null));
    box.addEventListener("keydown", (event) => event.target === box && this.press(event));
    box.addEventListener("blur", () => this.point(null));
  }

  // Draws the cross-hair over the data.
  end() {
    this.border();
    this.plot.append(this.hair);
    this.point(this.at);
  }

  redraw() {
    this.draw();
  }

  nearest(event) {
    const at = event.clientX - this.picture.getBoundingClientRect().left - MARGIN.left;
    const gap = (point) => Math.abs(this.x(this.points[point]) - at);
    return this.points.reduce((best, _, point) => (best === null || gap(point) < gap(best) ? point : best), null);
  }

  press(event) {
    const last = this.points.length - 1;
    const next = { ArrowLeft: (this.at ?? last + 1) - 1, ArrowRight: (this.at ?? -1) + 1, Home: 0, End: last }[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey || (next === undefined && event.key !== "Escape")) return;
    event.preventDefault();
    this.point(next === undefined || last < 0 ? null : Math.min(Math.max(next, 0), last));
  }

  // Shows the values of a point; hides them for null.
  point(at) {
    this.at = at;
    this.told.textContent = at === null ? "" : this.words(at);
    this.hair.setAttribute("d", at === null ? "" : `M${px(this.x(this.points[at]))} 0v${this.height}`);
  }
}
