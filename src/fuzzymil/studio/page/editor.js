// A text editor for rules: a text area, its colors behind it, completions, and mistakes marked where they are.

import { h, replace, settled } from "./dom.js";
import { highlighted } from "./highlight.js";

const LINE = 22; // height of a line in pixels, as in the style sheet
const MOST_COLORED = 100_000; // characters; beyond, colors would make typing slow

/**
 * @typedef {object} Mistake
 * @property {number} line from 1
 * @property {number} character from 1
 * @property {number} [length]
 * @property {string} message
 * @property {{from: number, to: number, text: string, label?: string} | null} [fix] offsets in the text
 */
/** @typedef {{text: string, kind: string, detail?: string}} Completion */

/**
 * The place of a line and character in a text.
 * @param {string} text
 * @param {number} line
 * @param {number} character
 */
export function offset(text, line, character) {
  let start = 0;
  for (let at = 1; at < line; at++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return text.length;
    start = end + 1;
  }
  // The server counts characters, JavaScript counts UTF-16 units.
  const end = text.indexOf("\n", start);
  const content = [...text.slice(start, end < 0 ? text.length : end)];
  return start + content.slice(0, character - 1).join("").length;
}

export class Editor {
  /**
   * @param {object} given
   * @param {string} given.label
   * @param {(text: string) => void} given.changed called when typing rests
   * @param {(text: string, at: number) => Promise<{from: number, to: number, items: Completion[]}>} given.complete
   */
  constructor({ label, changed, complete }) {
    this.complete = complete;
    this.offers = true;
    /** @type {import("./highlight.js").Words} */
    this.words = { keywords: new Set(), quantifiers: new Set(), variables: new Set(), terms: new Set() };
    /** @type {Mistake[]} */
    this.mistakes = [];
    /** @type {{from: number, to: number, items: Completion[], chosen: number} | null} */
    this.offered = null;
    this.changed = settled(changed, 250);
    this.lines = h("div", { class: "editor-lines", "aria-hidden": "true" });
    this.overlay = h("pre", { class: "editor-overlay", "aria-hidden": "true" });
    this.area = h("textarea", {
      "aria-label": label,
      "aria-autocomplete": "list",
      "aria-haspopup": "listbox",
      spellcheck: "false",
      autocapitalize: "off",
      autocomplete: "off",
      wrap: "off",
      "data-key": "rule-text",
      oninput: () => this.typed(),
      onscroll: () => {
        this.follow();
        this.close();
      },
      onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event),
      onblur: () => {
        this.close();
        this.changed.now();
      },
    });
    this.list = h("ul", {
      class: "completions",
      role: "listbox",
      "aria-label": "Completions",
      id: "completions",
      hidden: true,
    });
    new ResizeObserver(() => this.keepCaret()).observe(this.area); // a list of mistakes may take room below
    this.element = h(
      "div",
      { class: "editor" },
      this.lines,
      h("div", { class: "editor-field" }, this.overlay, this.area, this.list),
    );
  }

  get text() {
    return this.area.value;
  }

  /** @param {string} text replaces everything; the caret stays where it is */
  set text(text) {
    if (text === this.area.value) return;
    const { selectionStart, selectionEnd, scrollTop, scrollLeft } = this.area;
    this.area.value = text;
    this.area.setSelectionRange(selectionStart, selectionEnd);
    this.area.scrollTop = scrollTop;
    this.area.scrollLeft = scrollLeft;
    this.mistakes = [];
    this.draw();
  }

  /** @param {Mistake[]} mistakes */
  mark(mistakes) {
    this.mistakes = mistakes;
    this.draw();
  }

  /** @param {Mistake} mistake */
  range(mistake) {
    const from = offset(this.text, mistake.line, mistake.character);
    const word = /^(?:"[^"\n]*"?|[\p{L}\p{N}_.]+|[^\s])/u.exec(this.text.slice(from, from + 300));
    return { from, to: from + Math.max(mistake.length ?? word?.[0].length ?? 1, 1) };
  }

  draw() {
    const marks = this.mistakes.map((mistake) => this.range(mistake)).sort((a, b) => a.from - b.from);
    const apart = marks.filter((mark, place) => place === 0 || mark.from >= marks[place - 1].to);
    const pieces = this.text.length > MOST_COLORED ? this.text : highlighted(this.text, this.words, apart);
    replace(this.overlay, pieces, "\n");
    const wrong = new Set(this.mistakes.map((mistake) => mistake.line));
    const count = this.text.split("\n").length;
    replace(
      this.lines,
      Array.from({ length: count }, (_, at) => h("div", { class: wrong.has(at + 1) ? "marked" : "" }, String(at + 1))),
    );
    this.follow();
  }

  /** Keep the line that is being typed in sight. */
  keepCaret() {
    const root = /** @type {Document | ShadowRoot} */ (this.area.getRootNode());
    if (root.activeElement !== this.area) return;
    const { scrollTop, clientHeight, selectionEnd } = this.area;
    const top = 10 + (this.text.slice(0, selectionEnd).split("\n").length - 1) * LINE;
    if (top < scrollTop) this.area.scrollTop = top - LINE;
    else if (top + LINE > scrollTop + clientHeight) this.area.scrollTop = top + 2 * LINE - clientHeight;
  }

  follow() {
    this.overlay.scrollTop = this.lines.scrollTop = this.area.scrollTop;
    this.overlay.scrollLeft = this.area.scrollLeft;
  }

  typed() {
    this.draw();
    this.changed(this.text);
    const before = this.text.slice(0, this.area.selectionStart);
    if (!this.offers) this.close();
    else if (/[\p{L}_]$/u.test(before) || /\b(?:is|and|or|not|if|some|all|most)\s$/iu.test(before)) void this.offer();
    else this.close();
  }

  /**
   * Put a text in the place of another, so that the browser's own undo knows about it.
   * @param {number} from
   * @param {number} to
   * @param {string} text
   * @param {{offer?: boolean}} [then] whether to offer words that may follow
   */
  put(from, to, text, { offer = true } = {}) {
    this.offers = offer;
    this.area.focus();
    this.area.setSelectionRange(from, to);
    if (!document.execCommand("insertText", false, text)) {
      this.area.setRangeText(text, from, to, "end");
      this.typed();
    }
    this.offers = true;
  }

  /** @param {Mistake} mistake */
  go(mistake) {
    const { from, to } = this.range(mistake);
    this.area.focus();
    this.area.setSelectionRange(from, Math.min(to, this.text.length));
    this.area.scrollTop = Math.max(0, (mistake.line - 4) * 22);
  }

  /** @param {number} line */
  goLine(line) {
    this.go({ line, character: 1, length: 1, message: "" });
  }

  async offer() {
    const [text, at] = [this.text, this.area.selectionStart];
    const found = await this.complete(text, at).catch(() => null);
    if (!found || this.text !== text || this.area.selectionStart !== at) return;
    const only = found.items.length === 1 && text.slice(found.from, found.to) === found.items[0].text;
    if (!found.items.length || only) return this.close();
    this.offered = { ...found, chosen: 0 };
    this.list.hidden = false;
    this.drawOffers();
    this.placeOffers(found.from);
  }

  /**
   * Put the list below the word that it completes; above it, if there is no room.
   * @param {number} at
   */
  placeOffers(at) {
    const [x, y] = this.caret(at);
    const frame = this.overlay.getBoundingClientRect();
    if (x < 0 || y < 0 || y > frame.height - 8 || x > frame.width) return this.close(); // scrolled out of sight
    const [left, top] = [frame.left + x, frame.top + y];
    const tall = Math.min(this.list.scrollHeight, 210) + 10;
    this.list.style.left = `${Math.max(8, Math.min(left, innerWidth - 240))}px`;
    this.list.style.top = `${top + 24 + tall < innerHeight ? top + 24 : Math.max(8, top - tall)}px`;
  }

  drawOffers() {
    const offered = this.offered;
    if (!offered) return;
    replace(
      this.list,
      offered.items.slice(0, 40).map((item, place) =>
        h(
          "li",
          {
            id: `completion-${place}`,
            role: "option",
            "aria-selected": String(place === offered.chosen),
            onpointerdown: (/** @type {Event} */ event) => {
              event.preventDefault();
              offered.chosen = place;
              this.take();
            },
          },
          h("b", { class: "cut" }, item.text),
          h("span", null, item.detail || item.kind),
        ),
      ),
    );
    this.area.setAttribute("aria-controls", "completions");
    this.area.setAttribute("aria-activedescendant", `completion-${offered.chosen}`);
    this.list.children[offered.chosen]?.scrollIntoView({ block: "nearest" });
  }

  take() {
    const offered = this.offered;
    if (!offered) return;
    this.close();
    this.put(offered.from, offered.to, offered.items[offered.chosen].text);
    this.close();
  }

  close() {
    this.offered = null;
    this.list.hidden = true;
    this.area.removeAttribute("aria-activedescendant");
    this.area.removeAttribute("aria-controls");
  }

  /**
   * Where a character of the text is, in pixels of the field.
   * @param {number} at
   * @returns {[number, number]}
   */
  caret(at) {
    const walker = document.createTreeWalker(this.overlay, NodeFilter.SHOW_TEXT);
    let left = at;
    while (walker.nextNode()) {
      const node = /** @type {Text} */ (walker.currentNode);
      if (left <= node.length) {
        const range = document.createRange();
        range.setStart(node, left);
        range.setEnd(node, left);
        const [place, frame] = [range.getBoundingClientRect(), this.overlay.getBoundingClientRect()];
        return [place.left - frame.left, place.top - frame.top];
      }
      left -= node.length;
    }
    return [14, 10];
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const offered = this.offered;
    if (event.key === " " && event.ctrlKey) {
      event.preventDefault();
      void this.offer();
    } else if (offered && ["ArrowDown", "ArrowUp"].includes(event.key)) {
      event.preventDefault();
      const count = Math.min(offered.items.length, 40);
      offered.chosen = (offered.chosen + (event.key === "ArrowDown" ? 1 : count - 1)) % count;
      this.drawOffers();
    } else if (offered && (event.key === "Enter" || event.key === "Tab")) {
      event.preventDefault();
      this.take();
    } else if (offered && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.close();
    }
  }
}
