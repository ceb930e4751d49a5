// What charts share: axes, curves, areas, histograms and marks, in SVG with the colors of the theme.

import { s } from "./dom.js";
import { clipped } from "./fields.js";
import { linear, show, ticks } from "./numbers.js";

/** @typedef {import("./numbers.js").Scale} Scale */
/** @typedef {{left: number, top: number, right: number, bottom: number}} Box the edges of a drawing, in pixels */

export const N_SERIES = 8;

/**
 * The classes of a series: its own color and its own dash, so that color is never the only difference.
 * @param {number} place
 */
export const series = (place) => `c${place % N_SERIES} d${(place + Math.floor(place / N_SERIES)) % N_SERIES}`;

/**
 * The mark of a class, whose color is the same in all views, figures and reports; empty for what is no class.
 * @param {import("./types.js").State} state
 * @param {string} label
 */
export function classMark({ classes, positive }, label) {
  const place = classes?.indexOf(label) ?? -1;
  if (!classes || place < 0) return "";
  return classes.length > 2 ? `m${place % 10}` : label === (positive ?? classes[1]) ? "k1" : "k0";
}

/**
 * The points of a curve at equal steps from low to high, as the data of a path.
 * @param {(number | null)[]} degrees
 * @param {number} low
 * @param {number} high
 * @param {Scale} x
 * @param {Scale} y
 */
export function line(degrees, low, high, x, y) {
  const step = (high - low) / Math.max(degrees.length - 1, 1);
  let data = "";
  let pen = "M";
  degrees.forEach((degree, place) => {
    if (degree === null || degree === undefined) {
      pen = "M";
      return;
    }
    data += `${pen}${x(low + place * step).toFixed(1)} ${y(degree).toFixed(1)}`;
    pen = "L";
  });
  return data;
}

/**
 * The area between a curve and the zero line.
 * @param {(number | null)[]} degrees
 * @param {number} low
 * @param {number} high
 * @param {Scale} x
 * @param {Scale} y
 */
export function area(degrees, low, high, x, y) {
  const solid = degrees.map((degree) => degree ?? 0);
  return `M${x(low).toFixed(1)} ${y(0).toFixed(1)}L${line(solid, low, high, x, y).slice(1)}L${x(high).toFixed(1)} ${y(0).toFixed(1)}Z`;
}

/**
 * Points with their own x values as the data of a path.
 * @param {number[]} xs
 * @param {(number | null)[]} ys
 * @param {Scale} x
 * @param {Scale} y
 */
export function polyline(xs, ys, x, y) {
  let data = "";
  let pen = "M";
  xs.forEach((value, place) => {
    const height = ys[place];
    if (height === null || height === undefined) {
      pen = "M";
      return;
    }
    data += `${pen}${x(value).toFixed(1)} ${y(height).toFixed(1)}`;
    pen = "L";
  });
  return data;
}

/**
 * The axis below a drawing.
 * @param {Scale} x
 * @param {Box} box
 * @param {{label?: string, wanted?: number, grid?: boolean, names?: string[]}} [look] names: of categories
 */
export function bottomAxis(x, box, { label = "", wanted = 6, grid = false, names = [] } = {}) {
  const marks = names.length ? names.map((_, place) => place) : ticks(x.low, x.high, wanted);
  const fits = Math.max(Math.floor((box.right - box.left) / Math.max(names.length, 1) / 7), 3);
  return s(
    "g",
    { class: "axis", "aria-hidden": "true" },
    s("line", { x1: box.left, x2: box.right, y1: box.bottom, y2: box.bottom }),
    marks.map((value) => [
      grid && s("line", { class: "grid", x1: x(value), x2: x(value), y1: box.top, y2: box.bottom }),
      s("line", { x1: x(value), x2: x(value), y1: box.bottom, y2: box.bottom + 4 }),
      s("text", { x: x(value), y: box.bottom + 16, "text-anchor": "middle" }, names.length ? clipped(names[value], fits) : show(value)),
    ]),
    label &&
      s(
        "text",
        { class: "axis-label", x: (box.left + box.right) / 2, y: box.bottom + 33, "text-anchor": "middle" },
        label,
      ),
  );
}

/**
 * The axis to the left of a drawing.
 * @param {Scale} y
 * @param {Box} box
 * @param {{label?: string, wanted?: number, grid?: boolean, names?: string[]}} [look] names: of categories
 */
export function leftAxis(y, box, { label = "", wanted = 4, grid = true, names = [] } = {}) {
  const middle = (box.top + box.bottom) / 2;
  return s(
    "g",
    { class: "axis", "aria-hidden": "true" },
    (names.length
      ? names.map((_, place) => place)
      : ticks(Math.min(y.low, y.high), Math.max(y.low, y.high), wanted)
    ).map((value) => [
      grid && s("line", { class: "grid", x1: box.left, x2: box.right, y1: y(value), y2: y(value) }),
      s("text", { x: box.left - 7, y: y(value) + 4, "text-anchor": "end" }, names.length ? clipped(names[value], 7) : show(value)),
    ]),
    label &&
      s(
        "text",
        {
          class: "axis-label",
          x: box.left - 38,
          y: middle,
          "text-anchor": "middle",
          transform: `rotate(-90 ${box.left - 38} ${middle})`,
        },
        label,
      ),
  );
}

/**
 * Bars of counts, stacked.
 * @param {number[]} edges
 * @param {{mark: string, counts: number[]}[]} groups each with the mark of its class
 * @param {Scale} x
 * @param {Box} box
 * @param {number} [share] of the height that the tallest bar takes
 */
export function histogram(edges, groups, x, box, share = 0.6) {
  const totals = edges.slice(1).map((_, bin) => groups.reduce((sum, { counts }) => sum + counts[bin], 0));
  const top = Math.max(...totals, 1);
  const tall = (box.bottom - box.top) * share;
  const below = new Array(totals.length).fill(0);
  return s(
    "g",
    { class: "histogram", "aria-hidden": "true" },
    groups.map(({ mark, counts }) => {
      let data = "";
      counts.forEach((count, bin) => {
        if (!count) return;
        const [left, right] = [x(edges[bin]) + 0.5, x(edges[bin + 1]) - 0.5];
        const foot = box.bottom - (below[bin] / top) * tall;
        below[bin] += count;
        const head = box.bottom - (below[bin] / top) * tall;
        data += `M${left.toFixed(1)} ${foot.toFixed(1)}V${head.toFixed(1)}H${Math.max(right, left + 0.5).toFixed(1)}V${foot.toFixed(1)}Z`;
      });
      return s("path", { class: `bars ${mark}`, d: data });
    }),
  );
}

/**
 * A bar from zero, to the right if positive and to the left if negative.
 * @param {number} value
 * @param {number} low
 * @param {number} high
 * @param {number} width
 * @param {number} [height]
 */
export function signedBar(value, low, high, width, height = 10) {
  const x = linear(Math.min(low, 0), Math.max(high, 0), 1, width - 1);
  const [start, end] = [Math.min(x(0), x(value)), Math.max(x(0), x(value))];
  return s(
    "svg",
    { class: "bar", width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    s("rect", {
      class: value >= 0 ? "more" : "less",
      x: start,
      y: 1,
      width: Math.max(end - start, 0.5),
      height: height - 2,
    }),
    s("line", { x1: x(0), x2: x(0), y1: 0, y2: height }),
  );
}
