// The parts common to all charts: a heading with a key, a frame with its grid and labels, and a group for the data.

const MARGIN = { left: 64, right: 26, top: 8, bottom: 22 };

class Chart {
  // `series` are { name, color, hidden }, with further fields that the kind of chart needs.
  constructor(host, { heading, height, series }) {
    this.height = height;
    this.series = series;
    this.picture = svg("svg", { "aria-hidden": "true", height: height + MARGIN.top + MARGIN.bottom });
    this.note = html("span", { class: "note" });
    this.heading = heading;
    host.append(html("div", { class: "chart" }, this.head(), this.picture));
  }

  head() {
    const keys = this.series.map((series) => this.key(series));
    const key = html("div", { class: "key" }, ...keys);
    return html("div", { class: "head" }, html("h3", {}, this.heading), this.note, key);
  }

  // Creates an entry of the key: a button that hides its series and shows it again.
  key(series) {
    const swatch = html("i", { class: "swatch" });
    swatch.style.background = series.swatch || series.color;
    const button = html("button", { type: "button", "aria-pressed": "true" }, swatch, series.name);
    button.addEventListener("click", () => {
      series.hidden = !series.hidden;
      button.setAttribute("aria-pressed", String(!series.hidden));
      this.redraw();
    });
    return button;
  }

  shown() {
    return this.series.filter((series) => !series.hidden);
  }

  // Empties the picture and returns the group that data are drawn into.
  begin() {
    this.width = Math.max(240, (this.picture.parentNode.clientWidth || 960) - MARGIN.left - MARGIN.right);
    const [width, height] = [this.width + MARGIN.left + MARGIN.right, this.height + MARGIN.top + MARGIN.bottom];
    this.picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.picture.setAttribute("width", width);
    this.picture.setAttribute("height", height);
    this.plot = svg("g", { transform: `translate(${MARGIN.left} ${MARGIN.top})` });
    this.picture.replaceChildren(this.plot);
    return this.plot;
  }

  axes(across, x, up, y) {
    for (const tick of up) {
      this.plot.append(svg("path", { class: "grid", d: `M0 ${px(y(tick.at))}h${this.width}` }));
      this.plot.append(svg("text", { class: "up", x: -8, y: px(y(tick.at)) }, tick.text));
    }
    for (const tick of across) {
      this.plot.append(svg("path", { class: "grid", d: `M${px(x(tick.at))} 0v${this.height}` }));
      this.plot.append(svg("text", { class: "across", x: px(x(tick.at)), y: this.height + 15 }, tick.text));
    }
  }

  border() {
    this.plot.append(svg("rect", { class: "border", width: this.width, height: this.height }));
  }

  say(words) {
    this.plot.append(svg("text", { class: "words", x: this.width / 2, y: this.height / 2 }, words));
  }
}
