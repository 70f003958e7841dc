// Keys: what a page binds lasts as long as the page. Letters can be turned off, as WCAG 2.1.4 asks.

import { recall, remember } from "../remember";

/** Handlers by key; a handler that returns false leaves the key to the browser. */
export type Bindings = Record<string, (event: KeyboardEvent) => void | false>;

const layers: Bindings[] = [];
const SEQUENCE_TIME = 1500;
let prefix = "";
let prefixed = 0;
let letters = recall("letters") !== "off";

const isLetter = (key: string): boolean => key.length === 1;

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches("input:not([type=checkbox]), select, textarea, [contenteditable]");
}

function onKey(event: KeyboardEvent): void {
  if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey) return;
  if (typing(event.target) || document.querySelector("dialog[open]")) return;
  if (isLetter(event.key) && !letters) return;
  const inSequence = prefix !== "" && event.timeStamp - prefixed < SEQUENCE_TIME;
  const key = inSequence ? `${prefix} ${event.key}` : event.key;
  prefix = "";
  if (!inSequence && layers.some((layer) => Object.keys(layer).some((name) => name.startsWith(`${key} `)))) {
    prefix = key;
    prefixed = event.timeStamp;
    return;
  }
  const handler = layers.map((layer) => layer[key]).findLast((one) => one !== undefined);
  if (handler && handler(event) !== false) event.preventDefault();
}

/** Starts to listen. */
export function startKeys(): void {
  document.addEventListener("keydown", onKey);
}

/** Binds keys (`j`, or `g h` for one after another) until the returned function is called. The latest binding wins. */
export function bindKeys(bindings: Bindings): () => void {
  layers.push(bindings);
  return () => {
    const at = layers.indexOf(bindings);
    if (at >= 0) layers.splice(at, 1);
  };
}

/** Whether single letters act. */
export function lettersOn(): boolean {
  return letters;
}

/** Turns single letters on or off. */
export function setLetters(on: boolean): void {
  letters = on;
  remember("letters", on ? null : "off");
}
