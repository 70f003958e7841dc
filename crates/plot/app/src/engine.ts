// Comparisons, made by the program itself as WebAssembly: the figures are those of `perfpipe compare`.

import { loadEngine, loadFigures } from "./load";
import type { ChangeRow, ComparedSides } from "./types";

/** A run, or several repeats, under one name. */
export interface Side {
  name: string;
  /** Ids of its runs. */
  runs: readonly string[];
}

/** What `engine.js` exports. */
interface Engine {
  memory: WebAssembly.Memory;
  /** Makes room for bytes of input, and returns where. */
  reserve(length: number): number;
  /** Compares the sides in the input; returns where the answer is, and its length in the lower half. */
  compare(input: number, length: number): bigint;
  /** Frees an answer. */
  release(answer: number, length: number): void;
}

let engine: Promise<Engine> | null = null;

async function started(): Promise<Engine> {
  const { instance } = await WebAssembly.instantiate(await loadEngine());
  return instance.exports as unknown as Engine;
}

/** The answer of the engine: the table, and for each of its rows what the table lacks. */
interface Answer {
  table: { rows: Omit<ChangeRow, "joint_percent" | "moreIsBetter">[] };
  /** Without an upper end where there is none. */
  jointPercent: ([number, number | null] | null)[];
  moreIsBetter: (boolean | null)[];
  notes: string[];
}

/** Asks the engine: a line that names the sides and the lengths of their runs' figures, and the figures. */
export function ask(
  engine: Engine,
  sides: readonly { name: string; runs: readonly Uint8Array[] }[],
): Answer | { error: string } {
  const lengths = sides.map(({ name, runs }) => ({ name, runs: runs.map((run) => run.length) }));
  const parts = [new TextEncoder().encode(`${JSON.stringify({ sides: lengths })}\n`), ...sides.flatMap(({ runs }) => runs)];
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const at = engine.reserve(length);
  let place = at;
  for (const part of parts) {
    new Uint8Array(engine.memory.buffer, place, part.length).set(part);
    place += part.length;
  }
  const answer = BigInt.asUintN(64, engine.compare(at, length));
  const [where, size] = [Number(answer >> 32n), Number(answer & 0xffffffffn)];
  const text = new TextDecoder().decode(new Uint8Array(engine.memory.buffer, where, size));
  engine.release(where, size);
  return JSON.parse(text) as Answer | { error: string };
}

const jointOf = (joint: [number, number | null] | null | undefined): [number, number] | null =>
  joint ? [joint[0], joint[1] ?? Infinity] : null;

/** Compares sides with the first of them. */
export async function compareSides(sides: readonly Side[]): Promise<ComparedSides> {
  engine ??= started();
  engine.catch(() => (engine = null)); // Whoever asks again tries again.
  const of = async ({ name, runs }: Side) => ({ name, runs: await Promise.all(runs.map(loadFigures)) });
  const [ready, ...loaded] = await Promise.all([engine, ...sides.map(of)]);
  const answer = ask(ready, loaded);
  if ("error" in answer) throw new Error(answer.error);
  const { table, jointPercent, moreIsBetter, notes } = answer;
  const changes = table.rows.map((row, at) => ({
    ...row,
    joint_percent: jointOf(jointPercent[at]),
    moreIsBetter: moreIsBetter[at] ?? null,
  }));
  return { changes, notes };
}
