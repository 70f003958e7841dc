// Light, dark, or as the system has it.

import { h } from "../dom";
import { recall, remember } from "../remember";

const THEMES = ["auto", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

let theme: Theme = "auto";
const system = (): MediaQueryList => matchMedia("(prefers-color-scheme: dark)");

const isTheme = (name: string | null): name is Theme => THEMES.some((one) => one === name);

function apply(): void {
  const dark = theme === "dark" || (theme === "auto" && system().matches);
  document.documentElement.dataset["theme"] = dark ? "dark" : "light";
}

/** Applies the kept theme, and follows the system. Called before anything is drawn. */
export function startTheme(): void {
  const kept = recall("theme");
  if (isTheme(kept)) theme = kept;
  system().addEventListener("change", apply);
  apply();
}

/** Takes the theme that a link names, for this page only. */
export function themeOfLink(name: string | null): void {
  if (!isTheme(name)) return;
  theme = name;
  apply();
}

/** Goes to the next theme, keeps it, and returns it. */
export function nextTheme(): Theme {
  theme = THEMES[(THEMES.indexOf(theme) + 1) % THEMES.length] ?? "auto";
  remember("theme", theme === "auto" ? null : theme);
  apply();
  return theme;
}

/** The button that changes the theme. */
export function themeButton(): HTMLButtonElement {
  const name = (): string => `Theme: ${theme}`;
  const button = h("button", { type: "button", class: "button icon", "aria-label": name(), title: name() }, "◐");
  button.addEventListener("click", () => {
    nextTheme();
    button.title = name();
    button.setAttribute("aria-label", name());
  });
  return button;
}
