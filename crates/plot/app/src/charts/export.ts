// A chart as a picture: SVG with its colours inlined, PNG.

import { h, s } from "../dom";

/** What a chart shows, as a table with exact values. */
export interface DataTable {
  columns: string[];
  rows: (string | number | null)[][];
}

/** An entry of a chart's list of names and values. */
export interface Legend {
  name: string;
  value: string;
  key: SVGSVGElement | null;
}

/** The properties that style sheets give to parts of charts. */
const PROPERTIES = [
  "fill",
  "fill-opacity",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linejoin",
  "opacity",
  "font-size",
  "font-weight",
  "font-family",
  "text-anchor",
  "visibility",
  "paint-order",
];

/** The least width of the list beside an exported chart, and of a letter in it, in pixels. */
const LIST = 150;
const LETTER = 6.6;

/** Copies the styles that are in force into attributes, so that the picture needs no style sheet. */
function inlined(element: SVGElement): SVGElement {
  const copy = element.cloneNode(true) as SVGElement;
  const [sources, copies] = [element.querySelectorAll("*"), copy.querySelectorAll("*")];
  const inline = (from: Element, to: Element): void => {
    const style = getComputedStyle(from);
    for (const name of PROPERTIES) {
      const value = style.getPropertyValue(name);
      // Patterns are named by a fragment; as computed they have the page's address.
      if (value) to.setAttribute(name, value.replace(/url\("?[^"#]*#([^")]+)"?\)/, "url(#$1)"));
    }
    to.removeAttribute("class");
    to.removeAttribute("style");
  };
  inline(element, copy);
  sources.forEach((source, at) => {
    const target = copies[at];
    if (target) inline(source, target);
  });
  for (const hidden of copy.querySelectorAll("[data-cursor]")) hidden.remove();
  return copy;
}

/** Returns a chart as the text of an SVG file, with its title above and its names and values at the right. */
export function svgFile(chart: SVGSVGElement, title: string, list: Legend[]): string {
  const [width, height] = [chart.width.baseVal.value, chart.height.baseVal.value];
  const style = getComputedStyle(chart);
  const [ink, ground] = [
    style.color,
    getComputedStyle(document.documentElement).getPropertyValue("--page").trim() || "#ffffff",
  ];
  const longest = Math.max(0, ...list.map(({ name, value }) => name.length + value.length));
  const all = width + (list.length ? Math.max(LIST, 50 + LETTER * longest) : 0) + 24;
  const file = s("svg", {
    xmlns: "http://www.w3.org/2000/svg",
    width: all,
    height: height + 44,
    "font-family": "system-ui, sans-serif",
    "font-size": 11,
    fill: ink,
  });
  file.append(s("rect", { width: all, height: height + 44, fill: ground }));
  file.append(s("text", { x: 12, y: 22, "font-size": 13, "font-weight": 600 }, title));
  const plot = inlined(chart);
  plot.setAttribute("x", "12");
  plot.setAttribute("y", "34");
  plot.setAttribute("overflow", "visible");
  file.append(plot);
  const indent = list.some(({ key }) => key) ? 18 : 0;
  list.forEach(({ name, value, key }, at) => {
    const y = 48 + at * 18;
    const left = width + 26;
    if (key) {
      const copy = inlined(key);
      copy.setAttribute("x", String(left));
      copy.setAttribute("y", String(y - 9));
      file.append(copy);
    }
    file.append(
      s("text", { x: left + indent, y }, name),
      s("text", { x: all - 12, y, "text-anchor": "end", "font-weight": 600 }, value),
    );
  });
  return new XMLSerializer().serializeToString(file);
}

/** Draws the text of an SVG file as PNG with twice its pixels. */
async function pngFile(svg: string): Promise<Blob> {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [image.width * 2, image.height * 2];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((give, fail) =>
    canvas.toBlob((blob) => (blob ? give(blob) : fail(new Error("no picture"))), "image/png"),
  );
}

/** Saves a picture of a chart. */
export function savePng(name: string, svg: string): void {
  void pngFile(svg).then((png) => {
    const address = URL.createObjectURL(png);
    h("a", { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  });
}
