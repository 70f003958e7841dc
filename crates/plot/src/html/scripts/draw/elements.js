// Creation of SVG and HTML elements.
// @ts-check

/** @typedef {Record<string, string | number>} Attributes */

/**
 * Creates an SVG element.
 * @param {string} name
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {SVGElement}
 */
export function svg(name, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, String(value));
  element.append(...children);
  return /** @type {SVGElement} */ (element);
}

/**
 * Creates an HTML element.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} [attributes]
 * @param {(Node | string)[]} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function html(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) element.setAttribute(key, String(value));
  element.append(...children);
  return element;
}

/**
 * Creates a button with a listener.
 * @param {string} className
 * @param {string} text
 * @param {() => void} pressed
 */
export function button(className, text, pressed) {
  const made = html("button", { type: "button", class: className }, text);
  made.addEventListener("click", pressed);
  return made;
}

/**
 * Rounds a coordinate: further digits would not be visible.
 * @param {number} value
 */
export function px(value) {
  return Math.round(value * 100) / 100;
}

/**
 * Returns the element of an id, which the page is known to have.
 * @param {string} id
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`no element ${id}`);
  return found;
}
