// The loss of each epoch as it falls while training runs.

import { bottomAxis, leftAxis, polyline } from "./chart.js";
import { h, s } from "./dom.js";
import { extent, linear, show } from "./numbers.js";

/**
 * @param {any} progress as it was last pushed, or null
 * @param {number} width
 */
export function lossChart(progress, width) {
  if (!progress || (!progress.loss?.length && !progress.running))
    return h(
      "p",
      { class: "soft" },
      "The loss of each epoch appears here while training runs. Nothing changes in your rules until you accept it.",
    );
  const at = (progress.loss ?? []).map((/** @type {[number, number]} */ [epoch]) => epoch);
  const values = (progress.loss ?? []).map((/** @type {[number, number]} */ [, value]) => value);
  const box = { left: 58, top: 8, right: width - 10, bottom: 92 };
  const [low, high] = extent(values.length ? values : [0, 1]);
  const pad = (high - low || 1) * 0.08;
  const x = linear(1, Math.max(progress.epochs ?? values.length, 2), box.left, box.right);
  const y = linear(low - pad, high + pad, box.bottom, box.top);
  return [
    s(
      "svg",
      {
        class: "chart",
        width,
        height: 132,
        role: "img",
        "aria-label": `Loss after epoch ${progress.epoch}: ${show(values.at(-1))}`,
      },
      leftAxis(y, box, { wanted: 4 }),
      bottomAxis(x, box, { label: "epoch", wanted: 6 }),
      s("path", { class: "curve c0", d: polyline(at, values, x, y) }),
      values.length > 0 && s("circle", { class: "roc-point", cx: x(at.at(-1)), cy: y(values.at(-1)), r: 4 }),
    ),
    h(
      "p",
      { class: "small soft", role: "status" },
      values.length
        ? `Epoch ${progress.epoch} of ${progress.epochs ?? "?"}, loss ${show(values.at(-1), 4)}, ${show(progress.seconds, 2)} s${progress.running ? "" : progress.epoch < progress.epochs ? ": stopped" : ": finished"}`
        : "Preparing …",
    ),
  ];
}
