// Pointing at, dragging over and pinching charts.

import { s } from "../dom";
import type { Stage, Window } from "./stage";

/** A drag of fewer pixels is a click. */
const CLICK = 4;

/** Lets a reader move a stage's cursor and choose its window on a chart. `top` and `height` are those of the plot. */
export function gestures(svg: SVGSVGElement, stage: Stage, top: number, height: number): void {
  const pointers = new Map<number, number>();
  let start: number | null = null;
  let pinch: { seconds: [number, number] } | null = null;
  const selection = s("rect", { class: "selection", y: top, height, "data-cursor": true });
  const place = (event: PointerEvent): number => event.clientX - svg.getBoundingClientRect().left - stage.left;

  const stop = (): void => {
    start = null;
    pinch = null;
    selection.remove();
  };

  svg.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    pointers.set(event.pointerId, place(event));
    svg.setPointerCapture(event.pointerId);
    if (pointers.size === 1) start = place(event);
    if (pointers.size === 2) {
      const [one = 0, other = 0] = [...pointers.values()].sort((a, b) => a - b);
      pinch = { seconds: [stage.secondAt(one), stage.secondAt(other)] };
      start = null;
      selection.remove();
    }
  });

  svg.addEventListener("pointermove", (event) => {
    if (pointers.has(event.pointerId)) pointers.set(event.pointerId, place(event));
    if (pinch) return;
    const x = place(event);
    if (!stage.pinned) stage.point(x < 0 || x > stage.width ? null : stage.secondAt(x));
    if (start === null || Math.abs(x - start) < CLICK) return;
    const [one, other] = [
      stage.x(Math.floor(stage.secondAt(Math.min(start, x)))),
      stage.x(Math.ceil(stage.secondAt(Math.max(start, x)))),
    ];
    selection.setAttribute("x", String(stage.left + one));
    selection.setAttribute("width", String(Math.max(other - one, 0)));
    if (!selection.parentNode) svg.append(selection);
  });

  svg.addEventListener("pointerup", (event) => {
    const x = place(event);
    if (pinch && pointers.size === 2) {
      const window = pinched(
        stage,
        pinch.seconds,
        [...pointers.values()].sort((a, b) => a - b),
      );
      if (window) stage.zoom(window);
    } else if (start !== null && Math.abs(x - start) >= CLICK) {
      stage.zoom({
        from: Math.floor(stage.secondAt(Math.min(start, x))),
        to: Math.ceil(stage.secondAt(Math.max(start, x))),
      });
    } else if (start !== null) {
      // A click pins the cursor; one more on the same second lets it go.
      const again = stage.pinned && stage.cursor === Math.floor(stage.secondAt(x));
      stage.point(stage.secondAt(x));
      stage.pinned = !again;
      stage.onPinned(stage.pinned);
    }
    pointers.delete(event.pointerId);
    stop();
  });

  svg.addEventListener("pointercancel", (event) => {
    pointers.delete(event.pointerId);
    stop();
  });
  svg.addEventListener("pointerleave", () => {
    if (!stage.pinned && !pointers.size) stage.point(null);
  });
}

/** Returns the window in which the seconds below two fingers are where the fingers are now. */
function pinched(stage: Stage, [one, other]: [number, number], [low = 0, high = 0]: number[]): Window | null {
  if (high - low < 2 * CLICK || other <= one) return null;
  const perPixel = (other - one) / (high - low);
  const from = Math.max(Math.floor(one - low * perPixel), stage.whole.from);
  return { from, to: Math.min(Math.ceil(from + perPixel * stage.width), stage.whole.to) };
}
