// The surface as colors on a canvas, with hatching where all rules fire weakly, the threshold as a line, and the instances.

import { bottomAxis, leftAxis } from "./chart.js";
import { h, replace, s } from "./dom.js";
import { clipped } from "./fields.js";
import { linear, show } from "./numbers.js";
import { color } from "./theme.js";

const MARGIN = { left: 58, top: 10, right: 14, bottom: 44 };

/**
 * The ends of the color scale and what lies in its middle: the threshold, if there is one within reach.
 * @param {any} answer
 * @param {number | null} threshold
 */
function ends(answer, threshold) {
  const inside = threshold !== null && threshold > answer.low && threshold < answer.high;
  const middle = inside ? threshold : (answer.low + answer.high) / 2;
  const reach = Math.max(answer.high - middle, middle - answer.low) || 1;
  return { middle, low: middle - reach, high: middle + reach };
}

/** @param {string} text such as #1b2229 */
const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

/**
 * @param {number[]} from
 * @param {number[]} to
 * @param {number} share
 */
const mixed = (from, to, share) => from.map((value, place) => Math.round(value + (to[place] - value) * share));

/**
 * @param {any} answer
 * @param {number | null} threshold
 * @param {(label: string) => string} mark that of a class
 */
export function scaleBar(answer, threshold, mark) {
  const { low, high, middle } = ends(answer, threshold);
  return [
    h("span", null, `${clipped(answer.output, 30)}:`),
    h("span", { class: "number" }, show(Math.max(low, answer.low), 3)),
    h("span", {
      class: "scale-bar",
      role: "img",
      "aria-label": `Colors from ${show(low, 3)}, blue, to ${show(high, 3)}, orange`,
    }),
    h("span", { class: "number" }, show(Math.min(high, answer.high), 3)),
    threshold !== null &&
      middle === threshold &&
      h("span", null, `· line: ${show(threshold, 3)}, where the decision changes`),
    answer.uncovered?.some((/** @type {boolean[]} */ row) => row.some(Boolean)) && [
      h("span", { class: "hatch-key", "aria-hidden": "true" }),
      h("span", null, "all rules fire below 0.05"),
    ],
    answer.instances?.labels && labelKey(answer.instances.labels, mark),
    numeric(answer.instances?.labels) && h("span", null, "· instances: the label of their bag, in the same colors"),
  ].flat();
}

/**
 * Whether labels are quantities; classes come as text.
 * @param {any[] | null | undefined} labels
 */
const numeric = (labels) => typeof labels?.find((label) => label !== null) === "number";

/**
 * The classes among labels; none if they are numbers, or too many to tell apart.
 * @param {any[] | null} labels
 * @returns {string[]}
 */
function groups(labels) {
  if (numeric(labels)) return [];
  const known = [...new Set((labels ?? []).map(String))].sort();
  return known.length <= 6 ? known : [];
}

/**
 * @param {any[]} labels
 * @param {(label: string) => string} mark
 */
function labelKey(labels, mark) {
  return groups(labels).map((label, place) =>
    h(
      "span",
      { class: "row tight" },
      s(
        "svg",
        { class: `mark ${mark(label)}`, viewBox: "0 0 10 10", width: 10, height: 10, "aria-hidden": "true" },
        place % 2 ? s("rect", { x: 2, y: 2, width: 6, height: 6 }) : s("circle", { cx: 5, cy: 5, r: 3.4 }),
      ),
      clipped(label, 24),
    ),
  );
}

export class SurfaceMap {
  /**
   * @param {(x: number, y: number) => void} picked the crosshair was put somewhere
   * @param {(label: string) => string} mark that of a class
   */
  constructor(picked, mark) {
    this.mark = mark;
    this.canvas = h("canvas", { "aria-hidden": "true" });
    this.over = s("svg", { class: "chart surface-over", role: "img", "aria-label": "Surface" });
    this.element = h("div", { class: "surface-map" }, this.canvas, this.over);
    /** @type {{answer: any, points: boolean, threshold: number | null, at: Record<string, number>} | null} */
    this.shown = null;
    this.box = { left: 0, top: 0, right: 1, bottom: 1 };
    new ResizeObserver(() => this.draw()).observe(this.element);
    const put = (/** @type {PointerEvent} */ event) => {
      if (!this.shown || event.buttons !== 1) return;
      const frame = this.element.getBoundingClientRect();
      const clamp = (/** @type {number} */ value, /** @type {number} */ low, /** @type {number} */ high) =>
        Math.min(Math.max(value, low), high);
      const { x, y } = this.scales();
      picked(
        x.invert(clamp(event.clientX - frame.left, this.box.left, this.box.right)),
        y.invert(clamp(event.clientY - frame.top, this.box.top, this.box.bottom)),
      );
    };
    this.element.addEventListener("pointerdown", put);
    this.element.addEventListener("pointermove", put);
  }

  scales() {
    const answer = this.shown?.answer;
    return {
      x: linear(answer.x[0], answer.x.at(-1), this.box.left, this.box.right),
      y: linear(answer.y[0], answer.y.at(-1), this.box.bottom, this.box.top),
    };
  }

  /**
   * @param {any} answer
   * @param {boolean} points whether instances are drawn
   * @param {number | null} threshold
   * @param {Record<string, number>} at the crosshair
   */
  show(answer, points, threshold, at) {
    this.shown = { answer, points, threshold, at };
    this.draw();
  }

  draw() {
    const [width, height] = [this.element.clientWidth, this.element.clientHeight];
    if (!this.shown || !width || !height) return;
    const { answer, points, threshold, at } = this.shown;
    this.box = { left: MARGIN.left, top: MARGIN.top, right: width - MARGIN.right, bottom: height - MARGIN.bottom };
    const { x, y } = this.scales();
    const ratio = devicePixelRatio || 1;
    this.canvas.width = width * ratio;
    this.canvas.height = height * ratio;
    const pen = /** @type {CanvasRenderingContext2D} */ (this.canvas.getContext("2d"));
    pen.scale(ratio, ratio);
    this.paint(pen, answer, threshold);
    if (points && answer.instances) this.dots(pen, answer.instances, x, y, this.shades(answer, threshold));
    const [name, other] = answer.names;
    this.over.setAttribute("width", String(width));
    this.over.setAttribute("height", String(height));
    this.over.setAttribute(
      "aria-label",
      `${clipped(answer.output, 40)} over ${clipped(name, 40)} and ${clipped(other, 40)}: from ${show(answer.low)} to ${show(answer.high)}`,
    );
    replace(
      this.over,
      leftAxis(y, this.box, { label: clipped(answer.titles[1], 40), grid: false, wanted: 6, names: answer.categories[1] }),
      bottomAxis(x, this.box, { label: clipped(answer.titles[0], 40), wanted: 7, names: answer.categories[0] }),
      s("line", { class: "crosshair", x1: x(at[name]), x2: x(at[name]), y1: this.box.top, y2: this.box.bottom }),
      s("line", { class: "crosshair", x1: this.box.left, x2: this.box.right, y1: y(at[other]), y2: y(at[other]) }),
    );
  }

  /**
   * The color of each value: from blue over that of the paper to orange.
   * @param {any} answer
   * @param {number | null} threshold
   */
  shades(answer, threshold) {
    const [low, middle, high] = ["low-mark", "paper", "high-mark"].map((name) => rgb(color(this.element, name)));
    const scale = ends(answer, threshold);
    return (/** @type {number} */ value) => {
      const share = (value - scale.middle) / (scale.high - scale.middle);
      return mixed(middle, share < 0 ? low : high, Math.min(Math.abs(share), 1) * 0.85);
    };
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {any} answer
   * @param {number | null} threshold
   */
  paint(pen, answer, threshold) {
    const { left, top, right, bottom } = this.box;
    const shades = this.shades(answer, threshold);
    const [rows, columns] = [answer.y.length, answer.x.length];
    // A small picture with one pixel per value, enlarged smoothly.
    const small = new OffscreenCanvas(columns, rows);
    const brush = /** @type {OffscreenCanvasRenderingContext2D} */ (small.getContext("2d"));
    const image = brush.createImageData(columns, rows);
    for (let r = 0; r < rows; r++)
      for (let c = 0; c < columns; c++) {
        image.data.set([...shades(answer.z[r][c]), 255], 4 * ((rows - 1 - r) * columns + c));
      }
    brush.putImageData(image, 0, 0);
    pen.imageSmoothingEnabled = true;
    pen.imageSmoothingQuality = "high";
    pen.drawImage(small, 0.5, 0.5, columns - 1, rows - 1, left, top, right - left, bottom - top);
    if (answer.uncovered) this.hatch(pen, answer.uncovered);
    if (threshold !== null) this.border(pen, answer.z, threshold);
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {boolean[][]} uncovered
   */
  hatch(pen, uncovered) {
    const { left, top, right, bottom } = this.box;
    const [rows, columns] = [uncovered.length, uncovered[0].length];
    const [wide, tall] = [(right - left) / (columns - 1), (bottom - top) / (rows - 1)];
    pen.save();
    pen.beginPath();
    uncovered.forEach((row, r) =>
      row.forEach((open, c) => {
        if (!open) return;
        const [x0, y0] = [Math.max(left, left + (c - 0.5) * wide), Math.max(top, bottom - (r + 0.5) * tall)];
        pen.rect(
          x0,
          y0,
          Math.min(right, left + (c + 0.5) * wide) - x0,
          Math.min(bottom, bottom - (r - 0.5) * tall) - y0,
        );
      }),
    );
    pen.clip();
    pen.fillStyle = color(this.element, "paper"); // pale: what is said here is the default, not a rule
    pen.globalAlpha = 0.6;
    pen.fillRect(left, top, right - left, bottom - top);
    pen.globalAlpha = 1;
    pen.beginPath();
    for (let at = left - (bottom - top); at < right; at += 8) {
      pen.moveTo(at, bottom);
      pen.lineTo(at + (bottom - top), top);
    }
    pen.strokeStyle = color(this.element, "soft");
    pen.lineWidth = 1;
    pen.stroke();
    pen.restore();
  }

  /**
   * The line along which the output equals the threshold, cell by cell.
   * @param {CanvasRenderingContext2D} pen
   * @param {number[][]} z
   * @param {number} threshold
   */
  border(pen, z, threshold) {
    const { left, top, right, bottom } = this.box;
    const [wide, tall] = [(right - left) / (z[0].length - 1), (bottom - top) / (z.length - 1)];
    pen.beginPath();
    for (let r = 0; r + 1 < z.length; r++)
      for (let c = 0; c + 1 < z[0].length; c++) {
        const corners = [
          [c, r, z[r][c]],
          [c + 1, r, z[r][c + 1]],
          [c + 1, r + 1, z[r + 1][c + 1]],
          [c, r + 1, z[r + 1][c]],
        ];
        const cuts = corners.flatMap(([cx, cy, value], place) => {
          const [nx, ny, next] = corners[(place + 1) % 4];
          if (value > threshold === next > threshold) return [];
          const share = (threshold - value) / (next - value);
          return [[left + (cx + (nx - cx) * share) * wide, bottom - (cy + (ny - cy) * share) * tall]];
        });
        for (let place = 0; place + 1 < cuts.length; place += 2) {
          pen.moveTo(cuts[place][0], cuts[place][1]);
          pen.lineTo(cuts[place + 1][0], cuts[place + 1][1]);
        }
      }
    pen.strokeStyle = color(this.element, "ink");
    pen.lineWidth = 1.4;
    pen.stroke();
  }

  /**
   * @param {CanvasRenderingContext2D} pen
   * @param {{values: (number | null)[][], labels: any[] | null}} instances
   * @param {import("./numbers.js").Scale} x
   * @param {import("./numbers.js").Scale} y
   * @param {(value: number) => number[]} shades
   */
  dots(pen, instances, x, y, shades) {
    const [xs, ys] = instances.values;
    const { labels } = instances;
    const known = groups(labels);
    const quantities = numeric(labels);
    const size = (xs.length > 2000 ? 1.6 : 2.4) + (quantities ? 1.2 : 0);
    pen.lineWidth = 0.8;
    pen.strokeStyle = color(this.element, "ink"); // dots in the colors below them need an edge
    const colors = (known.length ? known : [""]).map((label) => color(this.element, this.mark(label) || "soft"));
    xs.forEach((across, place) => {
      const up = ys[place];
      if (across === null || up === null) return;
      const [left, top] = [x(across), y(up)];
      if (left < this.box.left || left > this.box.right || top < this.box.top || top > this.box.bottom) return;
      const group = labels && known.length ? known.indexOf(String(labels[place])) : 0;
      pen.fillStyle = quantities ? `rgb(${shades(labels?.[place])})` : colors[group];
      pen.beginPath();
      if (group % 2) pen.rect(left - size, top - size, 2 * size, 2 * size);
      else pen.arc(left, top, size, 0, 7);
      pen.fill();
      if (size > 2) pen.stroke();
    });
  }
}
