// Pointer input on a group of charts: hovering and tapping read, dragging with a mouse selects.
// @ts-check

/** @typedef {import("./group.js").Group} Group */

/** A pointer that moves by at least this many pixels selects seconds. */
const DRAG = 4;

/**
 * Hovering or tapping moves the cross-hair, a finger moves it along, dragging with a mouse selects seconds to zoom in, a
 * double click shows all again.
 * @param {Group} group
 * @param {HTMLElement} box a place of the group's charts
 */
export function followPointer(group, box) {
  const { view } = group;
  /** @type {number | null} */
  let start = null;
  const onPicture = (/** @type {Event} */ event) => event.target instanceof Element && event.target.closest("svg.time");
  const read = (/** @type {PointerEvent} */ event) => view.point(Math.floor(group.secondAt(event.clientX)));
  const isDrag = (/** @type {PointerEvent} */ event) => start !== null && Math.abs(event.clientX - start) >= DRAG;
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !onPicture(event)) return;
    read(event);
    if (event.pointerType !== "mouse") return;
    start = event.clientX;
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (start === null && !onPicture(event)) return;
    read(event);
    if (start !== null && isDrag(event)) group.select(...between(group, start, event.clientX));
  });
  box.addEventListener("pointerup", (event) => {
    const span = start !== null && isDrag(event) ? between(group, start, event.clientX) : null;
    start = null;
    if (span) view.look(...span);
  });
  box.addEventListener("pointercancel", () => {
    start = null;
    group.select(view.from, view.from);
  });
  box.addEventListener("pointerleave", (event) => {
    // A finger that is lifted leaves what it has read.
    if (event.pointerType === "mouse" && start === null) view.point(null);
  });
  box.addEventListener("dblclick", (event) => onPicture(event) && view.all());
}

/**
 * Returns the whole seconds between two horizontal positions.
 * @param {Group} group
 * @param {number} one
 * @param {number} other
 * @returns {[number, number]}
 */
function between(group, one, other) {
  const [from, to] = [one, other].sort((a, b) => a - b).map((place) => group.secondAt(place));
  return [Math.floor(from), Math.ceil(to)];
}
