// The fuzzy sets of one variable over the histogram of its values, with handles to drag them.

import { area, bottomAxis, histogram, leftAxis, line, series } from "./chart.js";
import { h, replace, s } from "./dom.js";
import { clipped } from "./fields.js";
import { handle } from "./handles.js";
import { linear } from "./numbers.js";

/** @typedef {import("./types.js").Variable} Variable */
/** @typedef {import("./types.js").Term} Term */
/** @typedef {{edges: number[], groups: {mark: string, counts: number[]}[]}} Bars */

const MARGIN = { left: 46, top: 26, right: 16, bottom: 40 };

/** @param {number} place */
export const swatch = (place) =>
  s(
    "svg",
    { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" },
    s("line", { class: series(place), x1: 1, x2: 25, y1: 5, y2: 5 }),
  );

/**
 * All sets of a variable, small.
 * @param {Variable} variable
 */
export function sparkline(variable) {
  const [low, high] = variable.axis;
  const [x, y] = [linear(low, high, 0, 100), linear(0, 1, 23, 2)];
  return s(
    "svg",
    { class: "sparkline", viewBox: "0 0 100 24", preserveAspectRatio: "none", "aria-hidden": "true" },
    variable.terms
      .slice(0, 12)
      .map((term, place) => s("path", { class: `curve ${series(place)}`, d: line(term.curve, low, high, x, y) })),
  );
}

export class SetChart {
  /**
   * @param {object} given
   * @param {(variable: string, term: string, handle: string, x: number) => void} given.move
   * @param {() => void} given.done
   * @param {(variable: string, term: string) => void} given.choose
   */
  constructor({ move, done, choose }) {
    this.given = { move, done, choose };
    this.element = h("div", { class: "set-chart" });
    /** @type {{variable: Variable, chosen: string | null, bars: Bars | null} | null} */
    this.shown = null;
    /** @type {Map<string, {curve: SVGPathElement, shade: SVGPathElement, handles: Map<string, import("./handles.js").Handle>}>} */
    this.parts = new Map();
    this.x = linear(0, 1, 0, 1);
    this.y = linear(0, 1, 1, 0);
    new ResizeObserver(() => this.draw()).observe(this.element);
  }

  /**
   * @param {Variable} variable
   * @param {string | null} chosen the term whose handles are in front
   * @param {Bars | null} bars
   */
  show(variable, chosen, bars) {
    this.shown = { variable, chosen, bars };
    this.draw();
  }

  /**
   * Show a term with other numbers, in the middle of a drag.
   * @param {Term} term
   * @param {[number, number]} axis
   */
  refresh(term, [low, high]) {
    const part = this.parts.get(term.name);
    if (!part) return;
    part.curve.setAttribute("d", line(term.curve, low, high, this.x, this.y));
    part.shade.setAttribute("d", area(term.curve, low, high, this.x, this.y));
    for (const each of this.needed(term)) part.handles.get(each.name)?.place(each.x, this.y(each.y));
  }

  draw() {
    if (!this.shown || !this.element.clientWidth) return;
    if ([...this.parts.values()].some((part) => [...part.handles.values()].some((each) => each.held))) {
      const { terms, axis } = this.shown.variable;
      for (const term of terms) this.refresh(term, axis); // the drawing stays while a handle is held
      return;
    }
    const { variable, chosen, bars } = this.shown;
    const [width, height] = [this.element.clientWidth, Math.max(this.element.clientHeight, 160)];
    const box = { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    const [low, high] = variable.axis;
    this.x = linear(low, high, box.left + 7, box.right - 7); // room for handles at the ends
    this.y = linear(0, 1, box.bottom, box.top);
    this.parts.clear();
    const order = variable.terms
      .map((term, place) => ({ term, place }))
      .sort((a, b) => Number(a.term.name === chosen) - Number(b.term.name === chosen));
    const drawing = s(
      "svg",
      { class: "chart", width, height, role: "group", "aria-label": `Fuzzy sets of ${clipped(variable.name, 60)}` },
      bars && histogram(bars.edges, bars.groups, this.x, box, 0.62),
      leftAxis(this.y, box, { label: "membership", wanted: 4 }),
      bottomAxis(this.x, box, { label: clipped(variable.title, 60), wanted: Math.round(width / 110), names: variable.categories }),
    );
    const marks = [];
    for (const { term, place } of order) {
      const look = series(place);
      const own = term.name === chosen;
      const state = own ? "chosen" : chosen ? "dim" : "";
      const shade = s("path", {
        class: `shade c${place % 8} ${state}`,
        d: area(term.curve, low, high, this.x, this.y),
      });
      const curve = s("path", { class: `curve ${look} ${state}`, d: line(term.curve, low, high, this.x, this.y) });
      const target = s("path", {
        class: "curve-target",
        d: curve.getAttribute("d"),
        onclick: () => this.given.choose(variable.name, term.name),
      });
      target.append(s("title", null, `${clipped(term.name, 80)} = ${clipped(term.shown, 80)}`));
      drawing.append(shade, curve, target);
      /** @type {Map<string, import("./handles.js").Handle>} */
      const handles = new Map();
      this.parts.set(term.name, { curve, shade, handles });
      if (term.frozen || term.category) continue;
      for (const each of this.needed(term)) {
        const made = handle({
          label: `${clipped(term.name, 60)}: ${each.title}`,
          key: `handle-${term.name}-${each.name}`,
          look: `c${place % 8} ${each.role === "move" ? "whole" : ""}`,
          value: each.x,
          at: this.y(each.y),
          x: this.x,
          move: (x) => this.given.move(variable.name, term.name, each.name, x),
          done: () => this.given.done(),
        });
        handles.set(each.name, made);
        marks.push(made.element);
      }
    }
    drawing.append(...this.labels(box), ...marks);
    replace(this.element, drawing);
  }

  /**
   * The handles of a term. A single location only moves the set, as the first handle does, and is left out. A width or
   * an exponent is the same on both sides: if its handle lies beyond the axis, it is shown on the other side.
   * @param {Term} term
   */
  needed(term) {
    const locations = term.handles.filter((each) => each.role === "location");
    if (locations.length !== 1) return term.handles;
    const center = locations[0].x;
    const beyond = (/** @type {number} */ x) => x < this.x.low || x > this.x.high;
    return term.handles
      .filter((each) => each.role !== "location")
      .map((each) =>
        ["width", "shape"].includes(each.role) && beyond(each.x) && !beyond(2 * center - each.x)
          ? { ...each, x: 2 * center - each.x }
          : each,
      );
  }

  /** @param {import("./chart.js").Box} box */
  labels(box) {
    if (!this.shown) return [];
    const { variable } = this.shown;
    // The name of a term stands above its peak; names that would touch are shifted to the right or left out.
    let free = -Infinity;
    return variable.terms
      .map((term, place) => {
        const best = term.curve.indexOf(Math.max(...term.curve));
        return {
          term,
          place,
          at: this.x(variable.axis[0] + (best / (term.curve.length - 1)) * (variable.axis[1] - variable.axis[0])),
        };
      })
      .sort((a, b) => a.at - b.at)
      .flatMap(({ term, place, at }) => {
        const text = clipped(term.name, 22);
        const half = text.length * 3.4 + 4;
        const middle = Math.min(Math.max(at, box.left + half, free + half), box.right - half);
        if (middle - half < free - 1) return [];
        free = middle + half;
        return [
          s(
            "text",
            {
              class: `set-name t${place % 8}`,
              x: middle,
              y: box.top - 12,
              "text-anchor": "middle",
              "aria-hidden": "true",
            },
            text,
          ),
        ];
      });
  }
}
