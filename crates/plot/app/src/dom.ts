// Elements in one call. No HTML is ever parsed, so texts of logs can't become markup.

export type Child = Node | string | number | null | undefined | false | Child[];

/** Attributes of an element: functions are listeners, `style` is set by CSSOM since the policy forbids the attribute. */
export type Attributes = Record<string, unknown> & { style?: Record<string, string | number> };

const SVG = "http://www.w3.org/2000/svg";

/** Attributes that are read by people. */
const READ = new Set(["title", "aria-label", "placeholder", "data-name", "download"]);

/**
 * Characters that are not seen but control what is: those that turn the direction of writing, have no width, or end lines.
 * Joiners between letters that are not ASCII are left, since scripts and emoji are written with them.
 */
const UNSEEN = /[\p{Cc}\p{Cf}\u2028\u2029]/gu;
const JOINER = /^[\u200c\u200d]$/;
const BESIDE_JOINER = /[^\0-\x7f]/;

/** Shows characters of a text that are not seen as the command does: `\u{202e}`. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (character, at: number) => {
    const joins = JOINER.test(character) && BESIDE_JOINER.test(text[at - 1] ?? "") && BESIDE_JOINER.test(text[at + 1] ?? "");
    return joins ? character : `\\u{${character.codePointAt(0)?.toString(16) ?? ""}}`;
  });
}

function fill(element: Element, attributes: Attributes | null | undefined, children: Child[]): void {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "style") {
      const { style } = element as HTMLElement;
      for (const [property, text] of Object.entries(value as object)) style.setProperty(property, String(text));
    } else if (typeof value === "function") {
      element.addEventListener(name.replace(/^on/, ""), value as EventListener);
    } else {
      element.setAttribute(name, value === true ? "" : READ.has(name) ? visible(String(value)) : String(value));
    }
  }
  append(element, children);
}

/** Appends children, skipping absent ones and flattening lists. */
export function append(parent: Element | DocumentFragment, children: Child): void {
  if (Array.isArray(children)) for (const child of children) append(parent, child);
  else if (children !== null && children !== undefined && children !== false)
    parent.append(children instanceof Node ? children : visible(String(children)));
}

/** Makes an HTML element: `h("a", { href, onclick: f, style: { width: "3px" } }, "text", child)`. */
export function h<T extends keyof HTMLElementTagNameMap>(
  tag: T,
  attributes?: Attributes | null,
  ...children: Child[]
): HTMLElementTagNameMap[T] {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
}

/** Makes an SVG element. */
export function s<T extends keyof SVGElementTagNameMap>(
  tag: T,
  attributes?: Attributes | null,
  ...children: Child[]
): SVGElementTagNameMap[T] {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
}

/** Puts children in place of what an element holds. */
export function replace(element: Element, ...children: Child[]): void {
  element.replaceChildren();
  append(element, children);
}
