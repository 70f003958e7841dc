// Which part of the comparison is shown: the window, and the sides beside each other.

import type { ChangeRow } from "../types";
import { partsOf } from "./figures";

/** The part that a route chooses: "hold" if there is one, unless the whole run is wanted. */
export function partOf(rows: readonly ChangeRow[], wanted: string | null): string {
  const parts = partsOf(rows);
  return parts.find((part) => part === wanted) ?? parts[0] ?? "run";
}

/** The sides of a table: all of few, else the wanted one. */
export function shownSides<T>(others: readonly T[], wanted: string | null, room: number): T[] {
  if (others.length <= room) return [...others];
  const at = Number(wanted) - 1;
  return [others[at] ?? others[0]].filter((side) => side !== undefined);
}
