// Choices of the reader, kept by the browser where it lets us: from file:// it may not.

/** Reads a kept choice. */
export function recall(name: string): string | null {
  try {
    return localStorage.getItem(`perfpipe.${name}`);
  } catch {
    return null;
  }
}

/** Keeps a choice; null forgets it. */
export function remember(name: string, value: string | null): void {
  try {
    if (value === null) localStorage.removeItem(`perfpipe.${name}`);
    else localStorage.setItem(`perfpipe.${name}`, value);
  } catch {
    // Then the choice lasts as long as the page.
  }
}
