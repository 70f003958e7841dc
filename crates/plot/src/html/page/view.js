// The selected seconds and the second of the cross-hair, common to all charts over time.

// The least number of seconds in a selection.
const LEAST_SECONDS = 4;

class View {
  constructor(first, end) {
    Object.assign(this, { first, end, from: first, to: end, cursor: null, groups: [] });
  }

  // Puts the cross-hair on a second; removes it for null.
  point(second) {
    this.cursor = second === null ? null : Math.min(Math.max(second, this.first), this.end - 1);
    this.groups.forEach((group) => group.point(this.cursor));
  }

  // Moves the cross-hair, and the selection with it if it would leave that.
  step(by) {
    this.go((this.cursor ?? (by > 0 ? this.from - 1 : this.to)) + by);
  }

  go(second) {
    this.point(second);
    if (this.cursor < this.from) this.look(this.cursor, this.cursor + this.to - this.from);
    if (this.cursor >= this.to) this.look(this.cursor + 1 - this.to + this.from, this.cursor + 1);
  }

  // Selects the seconds from `from` up to `to`.
  look(from, to) {
    const length = Math.min(Math.max(to - from, LEAST_SECONDS), this.end - this.first);
    this.from = Math.min(Math.max(from, this.first), this.end - length);
    this.to = this.from + length;
    document.body.classList.toggle("zoomed", this.isZoomed());
    this.groups.forEach((group) => group.change());
  }

  // Selects `factor` times as many seconds, around the cross-hair.
  zoom(factor) {
    const center = this.cursor ?? (this.from + this.to) / 2;
    const length = Math.max(Math.round((this.to - this.from) * factor), LEAST_SECONDS);
    const from = Math.round(center - ((center - this.from) / (this.to - this.from)) * length);
    this.look(from, from + length);
  }

  all() {
    this.look(this.first, this.end);
  }

  isZoomed() {
    return this.from > this.first || this.to < this.end;
  }
}
