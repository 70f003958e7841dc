// Pages that wait or can't be shown.

import { type Child, h, replace } from "../dom";
import { LoadError } from "../load";

/** How long a page waits before it says that it loads, in ms. */
const PATIENCE = 300;

/** Says `Loading 3 runs` in a place if its data take long; what the place holds then is replaced. */
export async function waitFor<T>(host: Element, what: string, promise: Promise<T>): Promise<T> {
  const timer = setTimeout(() => replace(host, h("p", { class: "state", role: "status" }, `Loading ${what}`)), PATIENCE);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
  }
}

/** A message in place of something: what is not there, why, and what can be done. */
export function message(title: string, ...children: Child[]): HTMLElement {
  return h("div", { class: "state" }, h("p", { class: "state-title" }, title), children.map((child) => h("p", null, child)));
}

/** What is said of a file that can't be shown. `still` names what works without it. */
export function failure(error: unknown, still: string): HTMLElement {
  const { file, reason } =
    error instanceof LoadError ? error : { file: "This page", reason: error instanceof Error ? error.message : String(error) };
  return h(
    "div",
    { class: "state", role: "alert" },
    h("p", { class: "state-title" }, h("code", null, file), " can’t be shown"),
    h("p", null, `Why: ${reason}.`),
    h("p", null, still),
  );
}
