// Colors for rule text. It only looks at words: what a text means is the server's business.

import { h } from "./dom.js";

const TOKEN = /#[^\n]*|"(?:[^"\\\n]|\\.)*"?|[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+|[^\W\d][\w.]*|\s+|./gu;
const NAME = /^[\p{L}_]/u;

/**
 * @typedef {object} Words
 * @property {Set<string>} keywords in lower case
 * @property {Set<string>} quantifiers in lower case
 * @property {Set<string>} variables
 * @property {Set<string>} terms
 */

/**
 * @param {string} word
 * @param {Words} words
 */
function kind(word, words) {
  if (word.startsWith("#")) return "c";
  if (/^[0-9.]/.test(word)) return "n";
  const plain = word.startsWith('"') ? word.slice(1, -1).replace(/\\(.)/g, "$1") : word;
  if (word.startsWith('"') || NAME.test(word)) {
    if (words.variables.has(plain)) return "v";
    if (words.terms.has(plain)) return "t";
    if (words.quantifiers.has(plain.toLowerCase())) return "q";
    if (words.keywords.has(plain.toLowerCase())) return "k";
  }
  return "";
}

/**
 * The text in pieces, with the marked stretches underlined.
 * @param {string} text
 * @param {Words} words
 * @param {{from: number, to: number}[]} marks in order, without overlaps
 * @returns {(HTMLElement | string)[]}
 */
export function highlighted(text, words, marks) {
  /** @type {(HTMLElement | string)[]} */
  const pieces = [];
  let next = 0;
  const add = (/** @type {string} */ piece, /** @type {string} */ look) => {
    if (!piece) return;
    pieces.push(look ? h("span", { class: look }, piece) : piece);
  };
  for (const match of text.matchAll(TOKEN)) {
    let [start, end] = [match.index, match.index + match[0].length];
    const look = kind(match[0], words);
    while (start < end) {
      while (next < marks.length && marks[next].to <= start) next++;
      const mark = marks[next];
      const inside = mark && mark.from <= start;
      const stop = Math.min(end, mark ? (inside ? mark.to : mark.from > start ? mark.from : end) : end);
      add(text.slice(start, stop), inside ? `${look} mistake` : look);
      start = stop;
    }
  }
  if (next < marks.length && marks.at(-1)?.from === text.length) pieces.push(h("span", { class: "mistake" }, " "));
  return pieces;
}
