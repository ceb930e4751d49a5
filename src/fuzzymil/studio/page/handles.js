// Points of a drawing that can be dragged, moved by keys, and read out: sliders on one axis.

import { s } from "./dom.js";
import { show } from "./numbers.js";

/** @typedef {{element: SVGGElement, place: (value: number, at: number) => void, readonly held: boolean}} Handle */

/**
 * A handle that moves along the x axis. While it is held it follows the pointer; otherwise it is where it is placed.
 * @param {object} given
 * @param {string} given.label what it moves, for readers of the screen
 * @param {string} given.key keeps the focus when the drawing is made anew
 * @param {string} [given.look] class of the mark
 * @param {number} given.value
 * @param {number} given.at height of the mark in pixels
 * @param {import("./numbers.js").Scale} given.x
 * @param {(value: number) => void} given.move called while it is dragged
 * @param {() => void} given.done called when the drag or the keys come to rest
 * @returns {Handle}
 */
export function handle({ label, key, look = "", value, at, x, move, done }) {
  const span = x.high - x.low;
  let [now, height, held, pressed] = [value, at, false, false];
  const element = s(
    "g",
    {
      class: `handle ${look}`,
      role: "slider",
      tabindex: "0",
      "data-key": key,
      "aria-label": label,
      "aria-valuemin": x.low,
      "aria-valuemax": x.high,
    },
    s("circle", { class: "handle-target", r: 13 }),
    s("circle", { class: "handle-mark", r: 5.5 }),
    s("path", { class: "handle-beyond", d: "M-4 -5.5L5 0L-4 5.5Z" }),
  );
  const inside = (/** @type {number} */ wanted) => Math.min(Math.max(wanted, x.low), x.high);
  const draw = () => {
    // What lies beyond the axis is an arrow at its end, where it can be reached; numbers beyond it can be typed.
    const beyond = now < x.low || now > x.high;
    const turned = now < x.low ? " scale(-1 1)" : "";
    element.setAttribute("transform", `translate(${x(inside(now)).toFixed(2)} ${height.toFixed(2)})${turned}`);
    element.classList.toggle("beyond", beyond);
    element.setAttribute("data-beyond", beyond ? show(now) : "");
    element.setAttribute("aria-valuenow", String(now));
    element.setAttribute("aria-valuetext", show(now));
  };
  const to = (/** @type {number} */ wanted) => {
    now = inside(wanted);
    draw();
    move(now);
  };
  draw();

  element.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    event.preventDefault();
    element.focus();
    const matrix = /** @type {SVGSVGElement} */ (element.ownerSVGElement).getScreenCTM();
    if (!matrix) return;
    const inverse = matrix.inverse();
    const across = (/** @type {PointerEvent} */ moved) =>
      new DOMPoint(moved.clientX, moved.clientY).matrixTransform(inverse).x;
    const off = across(event) - x(inside(now));
    let moved = false;
    const drag = (/** @type {PointerEvent} */ next) => {
      moved = true;
      to(x.invert(across(next) - off));
    };
    const end = () => {
      held = false;
      removeEventListener("pointermove", drag);
      removeEventListener("pointerup", end);
      removeEventListener("pointercancel", end);
      if (moved) done();
    };
    held = true;
    addEventListener("pointermove", drag);
    addEventListener("pointerup", end);
    addEventListener("pointercancel", end);
  });

  element.addEventListener("keydown", (event) => {
    const step = (span / 100) * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowLeft: now - step,
      ArrowDown: now - step,
      ArrowRight: now + step,
      ArrowUp: now + step,
      PageDown: now - span / 10,
      PageUp: now + span / 10,
      Home: x.low,
      End: x.high,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    event.stopPropagation();
    to(targets[event.key]);
    if (pressed) return;
    pressed = held = true; // a key that is held down is one step of the history, as a drag is
    addEventListener(
      "keyup",
      () => {
        pressed = held = false;
        done();
      },
      { once: true },
    );
  });

  return {
    element,
    place(wanted, where) {
      height = where;
      if (!held) now = wanted;
      draw();
    },
    get held() {
      return held;
    },
  };
}
