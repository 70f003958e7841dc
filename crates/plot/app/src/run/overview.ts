// The strip of the whole run: requests, failures, phases, findings, and the window with its handles.

import { columns, columnWidth, greatest } from "../data/bins";
import { h, replace, s } from "../dom";
import { hatching } from "../charts/keys";
import { areaPath, barPath, type Point, px } from "../charts/paths";
import type { Stage, Window } from "../charts/stage";
import { around, harmful } from "./findings";
import type { Run } from "./model";

/** The room of the strip in pixels: numbers above, the strip, names of phases below. */
const ROOM = { above: 13, strip: 23, below: 12 };

/** The width of a letter in pixels. */
const LETTER = 6.5;

/** The width of a handle in pixels. */
const HANDLE = 8;

/** What a pointer moves: an end of the window, or the window as a whole. */
type Grip = "from" | "to" | "both" | "new";

/** The strip. */
export class Overview {
  readonly root: HTMLElement;
  private readonly svg = s("svg", { class: "overview", height: ROOM.above + ROOM.strip + ROOM.below });
  private readonly still = s("g");
  private readonly moving = s("g");
  private readonly numbers = s("g");
  private window: Window;
  private grip: { kind: Grip; second: number; window: Window } | null = null;

  /** `choose` is called with the window that the reader chose. */
  constructor(
    private readonly run: Run,
    private readonly stage: Stage,
    private readonly choose: (window: Window) => void,
  ) {
    this.window = run.drawn;
    this.svg.append(this.still, this.moving, this.numbers);
    this.root = h(
      "div",
      { class: "overview-line" },
      h("div", {}, this.svg),
      h("span", { class: "overview-hint" }, "drag, or ", h("b", {}, "← → + −")),
    );
    this.svg.addEventListener("pointerdown", (event) => this.down(event));
    this.svg.addEventListener("pointermove", (event) => this.move(event));
    this.svg.addEventListener("pointerup", () => this.up());
    this.svg.addEventListener("pointercancel", () => (this.grip = null));
  }

  /** Draws the strip and the window. */
  draw(window: Window): void {
    this.window = window;
    this.svg.setAttribute("width", String(this.stage.left + this.stage.width + HANDLE / 2));
    for (const group of [this.still, this.moving, this.numbers])
      group.setAttribute("transform", `translate(${this.stage.left} ${ROOM.above})`);
    replace(this.still, this.content());
    replace(this.numbers, this.findings());
    this.drawWindow();
  }

  private x(second: number): number {
    const { from, to } = this.run.drawn;
    return (this.stage.width * (Math.min(second, to) - from)) / (to - from);
  }

  private second(event: PointerEvent): number {
    const { from, to } = this.run.drawn;
    const x = event.clientX - this.svg.getBoundingClientRect().left - this.stage.left;
    return Math.round(Math.min(Math.max(from + ((to - from) * x) / this.stage.width, from), to));
  }

  private content(): SVGElement[] {
    const { from, to } = this.run.drawn;
    const { series } = this.run.data;
    const bin = columnWidth(from, to, this.stage.width / 3);
    const all = series.successes.map((count, at) => count + (series.failures[at] ?? 0));
    const found = columns(this.run.bySecond(all), from, to, bin);
    const most = greatest(found.map(({ mean }) => mean)) || 1;
    const area = (list: typeof found): string => {
      const corners = list.flatMap(({ start, end, mean }): Point[] => [
        [start === from ? 0 : this.x((start + end) / 2), ROOM.strip * (1 - (0.92 * mean) / most)],
        ...(end === to ? [[this.stage.width, ROOM.strip * (1 - (0.92 * mean) / most)] as Point] : []),
      ]);
      return areaPath(
        corners,
        corners.map((corner): Point => corner && [corner[0], ROOM.strip]),
      );
    };
    let [few, many] = ["", ""];
    for (const { start, end, mean } of columns(this.run.bySecond(series.failures), from, to, bin)) {
      if (mean <= 0) continue;
      const requests = found.find((column) => column.start === start)?.mean ?? mean;
      const path = barPath(this.x(start), Math.max(this.x(end), this.x(start) + 1), 0, mean / requests >= 0.01 ? 4 : 2);
      if (mean / requests >= 0.01) many += path;
      else few += path;
    }
    const { phases } = this.run;
    const names = phases.flatMap((phase, at) => {
      const x = px(this.x(phase.from));
      const next = phases[at + 1];
      // A name that would reach into the next one is left out; the buttons have it.
      const fits = next === undefined || this.x(next.from) - x > LETTER * phase.name.length + 6;
      return [
        s("path", { class: "strip-phase", d: `M${x} 0V${ROOM.strip + ROOM.below - 2}` }),
        fits ? s("text", { class: "tick", x: x + 3, y: ROOM.strip + 10 }, phase.name) : null,
      ];
    });
    const { defs, paint } = hatching("fail");
    const failing = this.run.whole.failures > 0;
    return [
      ...(failing ? [defs, s("path", { d: area(found), fill: paint })] : []),
      s("path", { class: "strip-area", d: area(columns(this.run.bySecond(series.successes), from, to, bin)) }),
      s("path", { class: "failed few", d: few }),
      s("path", { class: "failed", d: many }),
      ...names.filter((part) => part !== null),
    ];
  }

  private findings(): SVGElement[] {
    const taken: number[] = [];
    return harmful(this.run.data.findings)
      .slice(0, 3)
      .map((finding, at) => {
        const open = finding.last >= this.run.drawn.to - 1;
        let x = this.x(open ? finding.first : (finding.first + finding.last + 1) / 2);
        // Numbers at the same place stand beside each other.
        while (taken.some((other) => Math.abs(other - x) < 15)) x += 15;
        taken.push(x);
        const zoom = (event: Event): void => {
          event.stopPropagation();
          this.choose(around(this.run, finding));
        };
        return s(
          "g",
          { class: "strip-number", transform: `translate(${px(x)} -6.5)`, onpointerdown: zoom },
          s("title", {}, finding.what),
          s("circle", { r: 6.5 }),
          s("text", { y: 3.6, "text-anchor": "middle" }, String(at + 1)),
        );
      });
  }

  private drawWindow(): void {
    const [left, right] = [px(this.x(this.window.from)), px(this.x(this.window.to))];
    const whole = this.window.from <= this.run.drawn.from && this.window.to >= this.run.drawn.to;
    const handle = (end: "from" | "to", x: number): SVGElement => {
      const { from, to } = this.run.drawn;
      const element = s(
        "g",
        {
          class: "handle",
          transform: `translate(${x} 0)`,
          role: "slider",
          tabindex: 0,
          "aria-label": end === "from" ? "First second of the window" : "End of the window",
          "aria-valuemin": from,
          "aria-valuemax": to,
          "aria-valuenow": this.window[end],
          "aria-valuetext": this.run.stamp(this.window[end]),
          "data-grip": end,
          onkeydown: (event: KeyboardEvent) => this.key(event, end),
        },
        s("rect", { class: "handle-target", x: -12, y: -2, width: 24, height: ROOM.strip + 4 }),
        s("rect", { class: "handle-mark", x: -HANDLE / 2, y: 4, width: HANDLE, height: ROOM.strip - 8, rx: 2 }),
      );
      return element;
    };
    replace(
      this.moving,
      s("path", {
        class: "strip-outside",
        d: barPath(0, left, 0, ROOM.strip) + barPath(right, this.stage.width, 0, ROOM.strip),
      }),
      s("rect", {
        class: "strip-window",
        x: left,
        y: 0,
        width: Math.max(right - left, 1),
        height: ROOM.strip,
        "data-grip": whole ? "new" : "both",
      }),
      handle("from", left),
      handle("to", right),
    );
  }

  private key(event: KeyboardEvent, end: "from" | "to"): void {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    this.choose(
      this.limited({
        ...this.window,
        [end]: this.window[end] + step * this.run.counts.width * (event.shiftKey ? 10 : 1),
      }),
    );
    this.moving.querySelector<SVGGElement>(`[data-grip="${end}"]`)?.focus();
  }

  private down(event: PointerEvent): void {
    if (event.button !== 0) return;
    const part = (event.target as Element).closest("[data-grip]")?.getAttribute("data-grip") as Grip | null | undefined;
    this.grip = { kind: part ?? "new", second: this.second(event), window: this.window };
    this.svg.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (!this.grip) return;
    const { kind, second, window } = this.grip;
    const now = this.second(event);
    const by = now - second;
    if (kind === "new") {
      if (by !== 0) this.window = { from: Math.min(second, now), to: Math.max(second, now) };
    } else if (kind === "both") {
      const { from, to } = this.run.drawn;
      const shift = Math.min(Math.max(by, from - window.from), to - window.to);
      this.window = { from: window.from + shift, to: window.to + shift };
    } else this.window = this.limited({ ...window, [kind]: window[kind] + by });
    this.drawWindow();
  }

  private up(): void {
    if (!this.grip) return;
    const { window } = this.grip;
    this.grip = null;
    if (window.from !== this.window.from || window.to !== this.window.to) this.choose(this.window);
  }

  /** Keeps a window within the run and at least a second long. */
  private limited({ from, to }: Window): Window {
    const { drawn } = this.run;
    const begin = Math.min(Math.max(from, drawn.from), drawn.to - 1);
    return from === this.window.from
      ? { from: begin, to: Math.min(Math.max(to, begin + 1), drawn.to) }
      : { from: Math.min(begin, to - 1), to };
  }
}
