// A table of many rows: sorted by its columns, filtered by its owner, drawn only where it is in sight.

import { everyFrame, h, replace } from "./dom.js";

const ROW = 32; // height of a row in pixels, as in the style sheet
const SPARE = 8; // rows drawn beyond the edges

/** @typedef {import("./dom.js").Child} Child */
/**
 * @template T
 * @typedef {object} Column
 * @property {string} key
 * @property {string} title
 * @property {string} [width]
 * @property {boolean} [numeric]
 * @property {(row: T) => number | string | boolean | null} sort
 * @property {(row: T) => Child} [cell] by default what it is sorted by
 * @property {(row: T) => string} [hint]
 */

/** @template T */
export class Table {
  /**
   * @param {object} given
   * @param {string} given.label
   * @param {Column<T>[]} given.columns
   * @param {(row: T) => string | number} given.id
   * @param {(row: T) => void} given.chosen
   */
  constructor({ label, columns, id, chosen }) {
    /** @type {Column<T>[]} */
    this.columns = [];
    this.id = id;
    this.chosen = chosen;
    /** @type {T[]} */
    this.given = [];
    /** @type {T[]} */
    this.rows = [];
    /** @type {(row: T) => boolean} */
    this.keep = () => true;
    /** @type {string | null} */
    this.by = null;
    this.rising = true;
    /** @type {string | number | null} */
    this.current = null;
    this.widths = h("colgroup");
    this.head = h("tr", { "aria-rowindex": 1 });
    this.body = h("tbody");
    this.table = h(
      "table",
      { class: "grid-table", role: "grid", "aria-label": label },
      this.widths,
      h("thead", null, this.head),
      this.body,
    );
    this.element = h("div", { class: "grid-scroll", tabindex: "-1" }, this.table);
    this.drawn = everyFrame(() => this.draw());
    this.element.addEventListener("scroll", this.drawn);
    new ResizeObserver(this.drawn).observe(this.element);
    this.body.addEventListener("click", (event) => this.click(event));
    this.body.addEventListener("keydown", (event) => this.key(event));
    this.divide(columns);
  }

  /** @param {Column<T>[]} columns that are shown from now on */
  divide(columns) {
    this.columns = columns;
    replace(
      this.widths,
      columns.map((column) => h("col", { class: `w-${column.width ?? "auto"}` })),
    );
    this.headline();
  }

  /** @param {T[]} rows */
  show(rows) {
    this.given = rows;
    this.arrange();
  }

  /** @param {(row: T) => boolean} keep */
  filter(keep) {
    this.keep = keep;
    this.arrange();
  }

  /**
   * @param {string} key
   * @param {boolean} [rising]
   */
  sort(key, rising) {
    this.rising = rising ?? (this.by === key ? !this.rising : true);
    this.by = key;
    this.headline();
    this.arrange();
  }

  /** @param {string | number | null} id */
  select(id) {
    this.current = id;
    this.draw();
  }

  arrange() {
    const column = this.columns.find((each) => each.key === this.by);
    this.rows = this.given.filter(this.keep);
    if (column) {
      const way = this.rising ? 1 : -1;
      const values = new Map(this.rows.map((row) => [row, column.sort(row)]));
      this.rows.sort((a, b) => {
        const [left, right] = [values.get(a) ?? null, values.get(b) ?? null];
        if (left === null || right === null) return left === right ? 0 : left === null ? 1 : -1; // unknown ones last
        if (typeof left === "string" || typeof right === "string")
          return way * String(left).localeCompare(String(right), "en", { numeric: true });
        return way * (Number(left) - Number(right));
      });
    }
    this.table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.draw();
  }

  headline() {
    replace(
      this.head,
      this.columns.map((column) => {
        const own = this.by === column.key;
        const arrow = own ? (this.rising ? " ↑" : " ↓") : "";
        return h(
          "th",
          {
            scope: "col",
            class: column.numeric ? "numeric" : "",
            "aria-sort": own ? (this.rising ? "ascending" : "descending") : "none",
          },
          h(
            "button",
            { type: "button", class: "bare", "data-key": `sort-${column.key}`, onclick: () => this.sort(column.key) },
            column.title,
            h("span", { "aria-hidden": "true" }, arrow),
          ),
        );
      }),
    );
  }

  draw() {
    const top = this.element.scrollTop;
    const first = Math.max(0, Math.floor(top / ROW) - SPARE);
    const last = Math.min(this.rows.length, Math.ceil((top + (this.element.clientHeight || 600)) / ROW) + SPARE);
    const known = this.rows.findIndex((row) => this.id(row) === this.current);
    const focusable = known >= first && known < last ? known : first;
    replace(
      this.body,
      this.space(first),
      this.rows.slice(first, last).map((row, place) => this.line(row, first + place, focusable)),
      this.space(this.rows.length - last),
    );
  }

  /** @param {number} count */
  space(count) {
    if (count <= 0) return null;
    const cell = h("td", { colspan: this.columns.length });
    cell.style.height = `${count * ROW}px`;
    return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
  }

  /**
   * @param {T} row
   * @param {number} place
   * @param {number} focusable
   */
  line(row, place, focusable) {
    const id = this.id(row);
    return h(
      "tr",
      {
        tabindex: place === focusable ? "0" : "-1",
        "data-place": place,
        "data-key": `row-${id}`,
        "aria-rowindex": place + 2,
        "aria-selected": String(id === this.current),
      },
      this.columns.map((column) => {
        const content = column.cell ? column.cell(row) : String(column.sort(row));
        return h("td", { class: column.numeric ? "numeric" : "", title: column.hint?.(row) }, content);
      }),
    );
  }

  /** @param {Event} event */
  click(event) {
    const line = /** @type {HTMLElement} */ (event.target).closest("tr[data-place]");
    if (line instanceof HTMLElement) this.choose(Number(line.dataset.place));
  }

  /** @param {number} place */
  choose(place) {
    const row = this.rows[place];
    if (!row) return;
    this.current = this.id(row);
    this.draw();
    this.chosen(row);
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    const line = /** @type {HTMLElement} */ (event.target).closest("tr[data-place]");
    if (!(line instanceof HTMLElement)) return;
    const place = Number(line.dataset.place);
    const page = Math.max(1, Math.floor(this.element.clientHeight / ROW) - 2);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowDown: place + 1,
      ArrowUp: place - 1,
      PageDown: place + page,
      PageUp: place - page,
      Home: 0,
      End: this.rows.length - 1,
      Enter: place,
      " ": place,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    const next = Math.min(Math.max(targets[event.key], 0), this.rows.length - 1);
    const seen = [next * ROW, (next + 2) * ROW]; // below the head
    if (seen[0] < this.element.scrollTop) this.element.scrollTop = seen[0];
    else if (seen[1] > this.element.scrollTop + this.element.clientHeight)
      this.element.scrollTop = seen[1] - this.element.clientHeight;
    this.choose(next);
    /** @type {HTMLElement | null} */ (this.body.querySelector(`tr[data-place="${next}"]`))?.focus({
      preventScroll: true,
    });
  }
}
