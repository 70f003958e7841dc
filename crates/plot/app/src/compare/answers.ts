// What the engine answers, kept: another window or order of the table asks for nothing new.

import { compareSides, type Side } from "../engine";
import type { ComparedSides } from "../types";

/** How many answers are kept. */
const MOST = 12;
const kept = new Map<string, Promise<ComparedSides>>();

/** Compares sides with the first of them, or gives the answer of the last time. What failed is tried again. */
export function compared(sides: readonly Side[]): Promise<ComparedSides> {
  const key = JSON.stringify(sides);
  const known = kept.get(key);
  if (known) return known;
  const answer = compareSides(sides);
  kept.set(key, answer);
  answer.catch(() => kept.delete(key));
  for (const old of [...kept.keys()].slice(0, -MOST)) kept.delete(old);
  return answer;
}
