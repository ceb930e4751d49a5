// Files between the disk, the page and the server, as base64.

import { h } from "./dom.js";

/**
 * @param {Blob} file
 * @returns {Promise<string>}
 */
export function encoded(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => {
      const text = String(reader.result);
      resolve(text.slice(text.indexOf(",") + 1));
    });
    reader.addEventListener("error", () => reject(reader.error));
    reader.readAsDataURL(file);
  });
}

/** @param {string} content as base64 */
const bytes = (content) => Uint8Array.from(atob(content), (character) => character.charCodeAt(0));

/** @param {string} content text as base64 */
export const decoded = (content) => new TextDecoder().decode(bytes(content));

/**
 * Hand a table to the browser's downloads, as CSV.
 * @param {HTMLElement} root
 * @param {string} name
 * @param {(string | number | boolean | null)[][]} rows
 */
export function downloadTable(root, name, rows) {
  const cell = (/** @type {string | number | boolean | null} */ value) => {
    const text = value === null ? "" : String(value);
    return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  save(root, name, new Blob([rows.map((row) => `${row.map(cell).join(",")}\n`).join("")], { type: "text/csv" }));
}

/**
 * Hand a file to the browser's downloads.
 * @param {HTMLElement} root
 * @param {{name: string, mime: string, content: string}} file
 */
export function download(root, { name, mime, content }) {
  save(root, name, new Blob([bytes(content)], { type: mime }));
}

/**
 * @param {HTMLElement} root
 * @param {string} name
 * @param {Blob} file
 */
function save(root, name, file) {
  const address = URL.createObjectURL(file);
  const link = h("a", { href: address, download: name, hidden: true });
  root.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
