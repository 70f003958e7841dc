// What a side can be: all repeats of a framework in a test (of one version), all of its runs, or a single run.

import { runName } from "../app";
import { clock, day, plural } from "../format";
import type { RunRow } from "../types";
import { kindOf, versionOf } from "./sides";

export interface Choice {
  runs: readonly RunRow[];
  framework: string;
  test: string;
  text: string;
  /** Lighter, behind the text. */
  about: string;
  /** True for one of several repeats: it is offered when it is searched for. */
  detail: boolean;
}

function single(run: RunRow, detail: boolean): Choice {
  const version = versionOf(run);
  const about = [version, `${day(run.t0)}, ${clock(run.t0)}`].filter(Boolean).join(", ");
  return { runs: [run], framework: run.framework, test: run.test, text: `${run.framework} #${run.repeat}`, about, detail };
}

function grouped<T>(values: readonly T[], by: (value: T) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const value of values) groups.set(by(value), [...(groups.get(by(value)) ?? []), value]);
  return [...groups.values()];
}

/** All choices by test and framework, the wanted tests first, the newest versions first. A run that is still running is none. */
export function choicesOf(runs: readonly RunRow[], wanted: ReadonlySet<string>): Choice[] {
  const stored = runs.filter(({ repeat }) => repeat > 0);
  const tests = grouped(stored, ({ test }) => test);
  const first = tests.filter(([run]) => wanted.has(run?.test ?? ""));
  return [...first, ...tests.filter((test) => !first.includes(test))].flatMap((ofTest) =>
    grouped(ofTest, ({ framework }) => framework).flatMap((all) => {
      const versions = grouped(all, kindOf).reverse();
      const choices = versions.flatMap((repeats): Choice[] => {
        const [run] = repeats;
        if (!run || repeats.length < 2) return repeats.map((one) => single(one, false));
        const about = [plural(repeats.length, "repeat"), versionOf(run)].filter(Boolean).join(", ");
        const together = { runs: repeats, framework: run.framework, test: run.test, text: run.framework, about, detail: false };
        return [together, ...repeats.map((one) => single(one, true))];
      });
      const [run] = all;
      if (run && versions.length > 1) {
        const about = `all ${plural(all.length, "run")} of ${plural(versions.length, "version")}`;
        choices.push({ runs: all, framework: run.framework, test: run.test, text: run.framework, about, detail: false });
      }
      return choices;
    }),
  );
}

/** The choices that hold all words of a text; without words all but single repeats, unless they are of `open` kinds. */
export function findChoices(choices: readonly Choice[], text: string, open: ReadonlySet<string>): Choice[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return choices.filter(({ detail, runs }) => !detail || (runs[0] !== undefined && open.has(kindOf(runs[0]))));
  return choices.filter((choice) => {
    const names = choice.runs.length === 1 ? choice.runs.map((run) => `${runName(run)} ${run.id} ${Object.entries(run.tags).flat().join(" ")}`) : [];
    const subject = `${choice.framework} ${choice.test} ${choice.text} ${choice.about} ${names.join(" ")}`.toLowerCase();
    return words.every((word) => subject.includes(word));
  });
}
