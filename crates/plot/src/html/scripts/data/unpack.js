// Unpacking of the data in the page: JSON, deflated, as base64.
// @ts-check

/**
 * Returns the bytes that a base64 text stands for.
 * @param {string} text
 */
export function bytesOf(text) {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < binary.length; at += 1) bytes[at] = binary.charCodeAt(at);
  return bytes;
}

/**
 * Returns the value that was packed into a text.
 * @param {string} text
 * @returns {Promise<any>}
 */
export async function unpack(text) {
  const inflated = new Blob([bytesOf(text)]).stream().pipeThrough(new DecompressionStream("deflate"));
  return JSON.parse(await new Response(inflated).text());
}
