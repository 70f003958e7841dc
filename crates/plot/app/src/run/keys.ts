// The keys of a run's page.

import type { Stage, Window } from "../charts/stage";
import type { Bindings } from "../shell/keys";
import { around, harmful } from "./findings";
import type { Run } from "./model";

/** Returns what the keys do: the cursor, the zoom, windows and findings. */
export function runKeys(
  run: Run,
  stage: Stage,
  window: () => Window | null,
  choose: (window: Window | null) => void,
): Bindings {
  const step =
    (direction: 1 | -1) =>
    (event: KeyboardEvent): void => {
      const { from, to } = stage.view;
      const now = stage.cursor ?? (direction > 0 ? from - 1 : to);
      stage.pinned = true;
      stage.point(now + direction * (event.shiftKey ? 10 : 1));
    };
  const zoom = (factor: number): void => {
    const { from, to } = stage.view;
    const middle = stage.cursor === null ? (from + to) / 2 : stage.cursor + 0.5;
    const half = Math.max(((to - from) * factor) / 2, 1);
    choose({
      from: Math.floor(Math.max(middle - half, run.drawn.from)),
      to: Math.ceil(Math.min(middle + half, run.drawn.to)),
    });
  };
  const phase = (name: string) => (): void | false => {
    const found = run.phases.find((phase) => phase.name === name);
    if (!found) return false;
    choose({ from: found.from, to: found.to });
  };
  const whole = (): void | false => {
    if (stage.pinned) {
      stage.pinned = false;
      stage.point(null);
    } else if (window()) choose(null);
    else return false;
  };
  const bindings: Bindings = {
    ArrowLeft: step(-1),
    ArrowRight: step(1),
    "+": () => zoom(0.5),
    "-": () => zoom(2),
    "−": () => zoom(2),
    Escape: whole,
    w: () => choose(null),
    r: phase("ramp"),
    h: phase("hold"),
  };
  harmful(run.data.findings)
    .slice(0, 9)
    .forEach((finding, at) => (bindings[String(at + 1)] = () => choose(around(run, finding))));
  return bindings;
}
