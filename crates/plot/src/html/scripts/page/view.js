// The seconds that are looked at and the second of the cross-hair, common to all charts over time.
// @ts-check

/** @typedef {{ point: (second: number | null) => void, change: () => void }} Follower */

/** The least number of seconds in a selection. */
const LEAST_SECONDS = 4;

export class View {
  /**
   * @param {number} first
   * @param {number} end
   */
  constructor(first, end) {
    this.first = first;
    this.end = end;
    this.from = first;
    this.to = end;
    /** @type {number | null} */
    this.cursor = null;
    /** @type {Follower[]} */
    this.followers = [];
  }

  /**
   * Puts the cross-hair on a second; removes it for null.
   * @param {number | null} second
   */
  point(second) {
    this.cursor = second === null ? null : Math.min(Math.max(second, this.first), this.end - 1);
    this.followers.forEach((follower) => follower.point(this.cursor));
  }

  /**
   * Moves the cross-hair, and the selection with it if it would leave that.
   * @param {number} by
   */
  step(by) {
    this.go((this.cursor ?? (by > 0 ? this.from - 1 : this.to)) + by);
  }

  /** @param {number} second */
  go(second) {
    this.point(second);
    const at = this.cursor ?? this.from;
    if (at < this.from) this.look(at, at + this.to - this.from);
    if (at >= this.to) this.look(at + 1 - this.to + this.from, at + 1);
  }

  /**
   * Selects the seconds from `from` up to `to`.
   * @param {number} from
   * @param {number} to
   */
  look(from, to) {
    const length = Math.min(Math.max(to - from, LEAST_SECONDS), this.end - this.first);
    this.from = Math.min(Math.max(from, this.first), this.end - length);
    this.to = this.from + length;
    this.followers.forEach((follower) => follower.change());
  }

  /**
   * Selects `factor` times as many seconds, around the cross-hair.
   * @param {number} factor
   */
  zoom(factor) {
    const center = this.cursor ?? (this.from + this.to) / 2;
    const length = Math.max(Math.round((this.to - this.from) * factor), LEAST_SECONDS);
    const from = Math.round(center - ((center - this.from) / (this.to - this.from)) * length);
    this.look(from, from + length);
  }

  all() {
    this.look(this.first, this.end);
  }

  /**
   * Returns the seconds to show of a run: all of its own, or the part that is looked at.
   * @param {{ first: number, end: number } | undefined} run
   */
  of(run) {
    const { from, to, cursor } = this;
    return run && !this.isZoomed() ? { from: run.first, to: run.end, cursor } : { from, to, cursor };
  }

  isZoomed() {
    return this.from > this.first || this.to < this.end;
  }
}
