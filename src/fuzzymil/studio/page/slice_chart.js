// The output along one input, the others held.

import { bottomAxis, leftAxis, polyline } from "./chart.js";
import { s } from "./dom.js";
import { clipped } from "./fields.js";
import { extent, linear, show } from "./numbers.js";

const HEIGHT = 168;

/**
 * @param {any} answer
 * @param {string} output
 * @param {number | null} threshold
 * @param {number} width
 */
export function sliceChart(answer, output, threshold, width) {
  const values = answer.y[output] ?? Object.values(answer.y)[0];
  const { at } = answer;
  const here = answer.here[output] ?? Object.values(answer.here)[0];
  const box = { left: 52, top: 12, right: width - 14, bottom: HEIGHT - 40 };
  const [low, high] = extent([...values, ...(threshold === null ? [] : [threshold])]);
  const pad = (high - low || 1) * 0.06;
  const x = linear(answer.x[0], answer.x.at(-1), box.left, box.right);
  const y = linear(low - pad, high + pad, box.bottom, box.top);
  const open = answer.uncovered
    ? values.map((/** @type {number} */ value, /** @type {number} */ place) => (answer.uncovered[place] ? null : value))
    : values;
  return s(
    "svg",
    {
      class: "chart",
      width,
      height: HEIGHT,
      role: "img",
      "aria-label": `${clipped(output, 40)} along ${clipped(answer.variable, 40)}: from ${show(low)} to ${show(high)}`,
    },
    leftAxis(y, box, { label: clipped(output, 18), wanted: 3 }),
    bottomAxis(x, box, { label: clipped(answer.variable, 40), wanted: 5, names: answer.categories }),
    threshold !== null &&
      threshold >= low - pad &&
      threshold <= high + pad &&
      s("line", { class: "threshold", x1: box.left, x2: box.right, y1: y(threshold), y2: y(threshold) }),
    s("path", { class: "curve c5 d5", d: polyline(answer.x, values, x, y) }),
    s("path", { class: "curve c0", d: polyline(answer.x, open, x, y) }),
    s("line", { class: "crosshair", x1: x(at), x2: x(at), y1: box.top, y2: box.bottom }),
    here !== null && [
      s("circle", { class: "slice-point", cx: x(at), cy: y(here), r: 4, "data-value": here }),
      s(
        "text",
        { x: box.right, y: box.top - 2, "text-anchor": "end" },
        `${clipped(output, 18)} = ${show(here, 4)} at ${show(at, 4)}`,
      ),
    ],
  );
}
