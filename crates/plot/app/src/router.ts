// The state of the app in the fragment: `#/run/ID?from=10&to=30`. Each state is a link.

/** "unknown" is what the address names but the app does not have. */
export type PageName = "home" | "test" | "run" | "compare" | "trend" | "unknown";

export interface Route {
  page: PageName;
  /** The id of a test or run, or what names no page; null where the page needs none. */
  id: string | null;
  query: URLSearchParams;
}

const PAGES: readonly string[] = ["test", "run", "compare", "trend"];

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Reads a fragment. An empty one is home. */
export function parseRoute(fragment: string): Route {
  const [, path = "", search = ""] = /^#?\/?([^?]*)\??(.*)$/s.exec(fragment) ?? [];
  const query = new URLSearchParams(search);
  const [page = "", ...rest] = path.split("/");
  if (path === "") return { page: "home", id: null, query };
  if (!PAGES.includes(page)) return { page: "unknown", id: decoded(path), query };
  return { page: page as PageName, id: rest.length > 0 ? decoded(rest.join("/")) || null : null, query };
}

/** Escapes what would end a part of the fragment, and leaves readable what may stay. */
function escaped(text: string): string {
  return encodeURIComponent(text).replace(/%(3D|2C|3A|2F|23|40)/g, (code) =>
    code === "%23" ? code : decodeURIComponent(code),
  );
}

/** Writes a link to a state. Absent and empty values are left out; lists repeat the name. */
export function link(
  page: PageName,
  id?: string | null,
  query: Record<string, string | number | null | undefined | readonly string[]> = {},
): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    (Array.isArray(value) ? value : [value])
      .filter((one) => one !== null && one !== undefined && one !== "")
      .map((one) => `${escaped(name)}=${escaped(String(one))}`),
  );
  const path = page === "home" ? "#/" : `#/${page}${id ? `/${encodeURIComponent(id)}` : ""}`;
  return pairs.length > 0 ? `${path}?${pairs.join("&")}` : path;
}

/** Writes a route as it was read, some of its values changed. */
export function changed(
  { page, id, query }: Route,
  values: Record<string, string | number | null | readonly string[]>,
): string {
  const all = Object.fromEntries([...query.keys()].map((name) => [name, query.getAll(name)]));
  return link(page, id, { ...all, ...values });
}
