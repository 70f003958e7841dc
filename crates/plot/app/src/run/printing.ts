// A run on paper: folds are open, charts as wide as the sheet.

/** The width of the text on A4 and letter in CSS pixels, margins taken off. */
const PAPER = 700;

/**
 * Opens folds before printing and calls `fit` with the width of the paper; after it, folds are closed and what `fit`
 * returned is called. Returns what ends this.
 */
export function printing(content: HTMLElement, fit: (paper: number) => () => void): () => void {
  let opened: HTMLDetailsElement[] = [];
  let restore: (() => void) | null = null;
  const before = (): void => {
    restore ??= fit(PAPER);
    opened = [...content.querySelectorAll<HTMLDetailsElement>("details.fold:not([open]), details.part:not([open])")];
    for (const details of opened) {
      details.open = true;
      // The event of the fold comes too late for the paper.
      details.dispatchEvent(new Event("toggle"));
    }
  };
  const after = (): void => {
    for (const details of opened) details.open = false;
    restore?.();
    restore = null;
  };
  addEventListener("beforeprint", before);
  addEventListener("afterprint", after);
  return () => {
    removeEventListener("beforeprint", before);
    removeEventListener("afterprint", after);
  };
}
