// What a page gives the app once its data are there.

import type { Action } from "./shell/head";
import type { Section } from "./shell/sidebar";

export interface View {
  /** For the window and the history. */
  title: string;
  /** The open test's name, for the sidebar. */
  test?: string | null;
  framework?: string;
  sections?: readonly Section[];
  /** What the page exports. */
  exports?: readonly Action[];
  /** Draws the page, and returns what ends it. */
  draw: (host: HTMLElement) => (() => void) | void;
}
