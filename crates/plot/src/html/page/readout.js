// The values at the second of the cross-hair.

class Readout {
  // `readings` are { name, unit, values, first, show, color }, with the values by second.
  constructor(host, readings) {
    this.cells = readings.map((reading) => ({ ...reading, place: html("dd", { "data-reading": reading.name }) }));
    this.second = html("dd", { "data-reading": "second" });
    const entry = (name, place) => html("div", {}, html("dt", {}, name), place);
    const entries = this.cells.map((cell) => this.named(entry(cell.name, cell.place), cell.color));
    host.append(html("dl", { class: "readout" }, entry("second", this.second), ...entries));
    this.tell(null);
  }

  named(entry, color) {
    if (color) {
      const swatch = html("i", { class: "swatch" });
      swatch.style.background = color;
      entry.firstChild.prepend(swatch);
    }
    return entry;
  }

  tell(second) {
    this.second.textContent = second === null ? MISSING : `${second} (${stamp(second)})`;
    for (const { place, values, first, show, unit } of this.cells) {
      const value = second === null ? null : values[second - first] ?? null;
      place.textContent = value === null ? MISSING : show(value) + unit;
      // The tooltip has all digits.
      place.title = value === null ? "" : String(value);
    }
  }

  words() {
    const told = this.cells.map(({ name, place }) => `${name} ${place.textContent}`);
    return [`second ${this.second.textContent}`, ...told].join(", ");
  }
}
