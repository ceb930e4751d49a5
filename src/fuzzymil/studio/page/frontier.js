// The frontier: the held-out score against the number of rules. Dragging along it shows the rules of that size in every view.

import { polyline } from "./chart.js";
import { h, replace, s } from "./dom.js";
import { counted, extent, linear, show } from "./numbers.js";

const [WIDTH, HEIGHT] = [142, 84];

/** @typedef {{n_rules: number, mean: number, error: number}} Point */
/** @typedef {{measure: string, chosen: number, shown: number | null, points: Point[]}} Curve */

/** @param {import("./studio.js").Studio} studio */
export function frontierCurve(studio) {
  const element = h("div", { class: "frontier", hidden: true });
  /** @type {Curve | null} */
  let curve = null;
  /** @type {number | null} where the drag is; changes follow as fast as the server makes them */
  let wanted = null;
  let moving = false;

  function update() {
    if (!studio.state.frontier) {
      element.hidden = true;
      curve = null;
      return;
    }
    studio.look("frontier", "frontier", {}, (answer) => {
      curve = answer.points.length ? answer : null;
      element.hidden = curve === null;
      draw();
    });
  }

  /** @param {number} place */
  async function go(place) {
    wanted = place;
    draw();
    if (moving) return;
    moving = true;
    while (wanted !== null && curve && wanted !== curve.shown) {
      const next = wanted;
      if (!(await studio.edit("use_point", { point: next }))) break;
      curve = { ...curve, shown: next };
    }
    moving = false;
    wanted = null;
    draw();
  }

  function draw() {
    if (!curve) return;
    const { points, measure, chosen } = curve;
    const place = wanted ?? curve.shown;
    const box = { left: 6, right: WIDTH - 8, top: 8, bottom: HEIGHT - 18 };
    const [low, high] = extent(points.flatMap(({ mean, error }) => [mean - error, mean + error]));
    const x = linear(0, Math.max(points.length - 1, 1), box.left, box.right); // sizes grow by factors: evenly apart
    const y = linear(low, high, box.bottom, box.top);
    const at = points.map((_, n) => n);
    const edge = (/** @type {1 | -1} */ way) => points.map(({ mean, error }) => mean + way * error);
    const band = polyline([...at, ...[...at].reverse()], [...edge(1), ...edge(-1).reverse()], x, y);
    const now = place === null ? null : points[place];
    const name = measure === "R2" ? "R²" : measure;
    const before = place ? points[place - 1] : null;
    const less = before && now ? now.mean - before.mean : 0;
    replace(
      element,
      h("div", { class: "row tight small" }, h("b", { class: "grow" }, "Rules"), h("span", { class: "soft" }, `${name}, held out`)),
      s(
        "svg",
        {
          class: "chart frontier-chart",
          width: WIDTH,
          height: HEIGHT,
          role: "slider",
          tabindex: "0",
          "data-key": "frontier",
          "aria-label": "Number of rules",
          "aria-valuemin": points[0].n_rules,
          "aria-valuemax": points.at(-1)?.n_rules,
          "aria-valuenow": now?.n_rules ?? points[chosen].n_rules,
          "aria-valuetext": now ? `${now.n_rules} rules, ${name} ${show(now.mean, 3)}` : "rules as edited",
          onpointerdown: drag,
          onkeydown: key,
        },
        s("path", { class: "frontier-band", d: `${band}Z` }),
        s("path", { class: "curve c0", d: polyline(at, points.map(({ mean }) => mean), x, y) }),
        points.map(({ mean }, n) => s("circle", { class: "frontier-point", cx: x(n), cy: y(mean), r: n === place ? 5 : 2.4 })),
        points.map(
          ({ n_rules }, n) =>
            (n === 0 || n === points.length - 1 || n === place) &&
            s("text", { x: x(n), y: HEIGHT - 3, "text-anchor": n === 0 ? "start" : n === points.length - 1 ? "end" : "middle" }, String(n_rules)),
        ),
      ),
      h(
        "p",
        { class: "small soft", "data-key": "frontier-said" },
        now ? `${counted(now.n_rules, "rule")}: ${now.mean.toFixed(3)} ± ${now.error.toFixed(3)}` : "edited: not on the curve",
      ),
      before &&
        h("p", { class: "small soft" }, `${counted(before.n_rules, "rule")} instead: ${less >= 0 ? "−" : "+"}${Math.abs(less).toFixed(3)}`),
    );
  }

  /** @param {PointerEvent} event */
  function drag(event) {
    event.preventDefault();
    const chart = /** @type {SVGSVGElement} */ (event.currentTarget);
    const frame = chart.getBoundingClientRect();
    const to = (/** @type {PointerEvent} */ moved) => {
      const last = (curve?.points.length ?? 1) - 1;
      const share = (moved.clientX - frame.left - 6) / (WIDTH - 14);
      const place = Math.min(Math.max(Math.round(share * last), 0), last);
      if (place !== (wanted ?? curve?.shown)) void go(place);
    };
    const end = () => {
      removeEventListener("pointermove", to);
      removeEventListener("pointerup", end);
    };
    addEventListener("pointermove", to);
    addEventListener("pointerup", end);
    to(event);
  }

  /** @param {KeyboardEvent} event */
  function key(event) {
    const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
    if (!curve || way === undefined) return;
    event.preventDefault();
    const next = (wanted ?? curve.shown ?? curve.chosen) + way;
    if (next >= 0 && next < curve.points.length) void go(next);
  }

  return { element, update };
}
