// The walk-through: rules by variables, then truth, firing, share and contribution, down to the output.

import { area, line, series, signedBar } from "./chart.js";
import { h, s } from "./dom.js";
import { clipped } from "./fields.js";
import { handle } from "./handles.js";
import { degree, extent, linear, show, signed } from "./numbers.js";

// Size of a cell in pixels: as large as the pane allows, so that few variables and few rules are easy to see.
let [WIDE, TALL, FOOT] = [132, 62, 57];
const FIXED = 556; // pixels of the columns that are not variables

/**
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 * @param {number | null} chosen row of the instance whose values can be dragged
 * @param {(row: number, variable: string, value: number) => void} move
 * @param {number} room pixels across
 */
export function walkThrough(studio, answer, chosen, move, room) {
  const k = answer.target; // the output that the steps lead to
  WIDE = Math.round(Math.min(Math.max((room - FIXED) / Math.max(answer.columns.length, 1) - 14, 84), 260));
  TALL = answer.rows.length + (answer.joined ? 2 : 0) <= 3 ? 84 : answer.rows.length <= 8 ? 62 : 54;
  FOOT = TALL - 5;
  const additive = studio.state.additive;
  const bounds = extent([
    0,
    additive ? answer.default[k] : 0,
    ...answer.rows.map((/** @type {any} */ row) => row.contribution[k]),
  ]);
  const mamdani = answer.joined !== null;
  return h(
    "table",
    { class: "walk-table", "aria-label": "Rules on this bag" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "Rule"),
        answer.columns.map((/** @type {string} */ name) =>
          h(
            "th",
            { scope: "col", title: clipped(name, 300) },
            h("div", { class: "cut walk-name" }, clipped(name, 24)),
            slider(answer, name, chosen, move),
          ),
        ),
        h("th", { scope: "col" }, "Truth by instance"),
        h("th", { scope: "col", class: "numeric" }, "Fires at"),
        !additive && h("th", { scope: "col", class: "numeric" }, "Share"),
        h("th", { scope: "col" }, mamdani ? "Cut set" : "Says"),
        !mamdani && h("th", { scope: "col" }, additive ? "Adds" : "Contributes"),
      ),
    ),
    h(
      "tbody",
      null,
      answer.rows.map((/** @type {any} */ row) => ruleRow(studio, answer, row, additive, mamdani, bounds, chosen, k)),
    ),
    h("tfoot", null, sum(studio, answer, additive, mamdani, bounds, k)),
  );
}

/**
 * The axis of a variable with the chosen instance on it.
 * @param {any} answer
 * @param {string} name
 * @param {number | null} chosen
 * @param {(row: number, variable: string, value: number) => void} move
 */
function slider(answer, name, chosen, move) {
  const [low, high] = answer.axes[name];
  const x = linear(low, high, 8, WIDE - 8);
  const value = chosen === null ? null : answer.instances[chosen][answer.variables.indexOf(name)];
  const which =
    chosen === null || answer.places[chosen] === null ? "the what-if instance" : `instance ${answer.places[chosen]}`;
  return s(
    "svg",
    {
      class: "walk-slider",
      width: WIDE,
      height: 30,
      viewBox: `0 0 ${WIDE} 30`,
      role: "group",
      "aria-label": clipped(name, 60),
    },
    s(
      "g",
      { class: "axis" },
      s("line", { x1: 8, x2: WIDE - 8, y1: 12, y2: 12 }),
      WIDE > 110 && [
        s("text", { x: 2, y: 28 }, show(low, 3)),
        s("text", { x: WIDE - 2, y: 28, "text-anchor": "end" }, show(high, 3)),
      ],
    ),
    value !== null &&
      chosen !== null && [
        s("text", { class: "walk-value", x: WIDE / 2, y: 28, "text-anchor": "middle" }, show(value, 4)),
        handle({
          label: `${clipped(name, 60)} of ${which}`,
          key: `whatif-${name}`,
          look: "whatif-handle",
          value,
          at: 12,
          x,
          move: (wanted) => move(chosen, name, wanted),
          done: () => {},
        }).element,
      ],
  );
}

/**
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 * @param {any} row
 * @param {boolean} additive
 * @param {boolean} mamdani
 * @param {[number, number]} bounds
 * @param {number | null} chosen
 * @param {number} k
 */
function ruleRow(studio, answer, row, additive, mamdani, bounds, chosen, k) {
  const high = row.contribution[k] > 0 || (row.contribution[k] === 0 && row.conclusion[k] > 0);
  return h(
    "tr",
    { class: row.on ? "" : "off" },
    h(
      "th",
      { scope: "row", class: "walk-rule", title: clipped(row.text, 400) },
      h("div", { class: "cut" }, clipped(row.name, 40)),
      row.weight !== 1 && h("div", { class: "soft small" }, `weight ${show(row.weight, 3)}`),
      !row.on && h("div", { class: "soft small" }, "switched off"),
    ),
    answer.columns.map((/** @type {string} */ name) => h("td", null, cell(answer, row, name, high, chosen))),
    h("td", null, truths(row, chosen)),
    h("td", { class: "numeric" }, h("b", { "data-firing": row.rule }, degree(row.firing)), meter(row.firing)),
    !additive && h("td", { class: "numeric" }, degree(row.share), meter(row.share)),
    mamdani
      ? h("td", null, cutSet(studio, answer, row))
      : [
          h("td", { class: "number" }, row.concluded ? clipped(String(row.concluded), 24) : show(row.conclusion[k], 4)),
          h("td", null, adds(row.contribution[k], bounds)),
        ],
  );
}

/**
 * The sets of a rule on one variable, with a tick for every instance as high as it belongs to the set.
 * @param {any} answer
 * @param {any} row
 * @param {string} name
 * @param {boolean} high
 * @param {number | null} chosen
 */
function cell(answer, row, name, high, chosen) {
  const own = row.cells.filter((/** @type {any} */ each) => each.variable === name);
  if (!own.length) return h("div", { class: "soft small walk-any" }, "any");
  const [low, top] = answer.axes[name];
  const [x, y] = [linear(low, top, 4, WIDE - 4), linear(0, 1, FOOT, 14)];
  const d = answer.variables.indexOf(name);
  const said = own
    .map(
      (/** @type {any} */ each) =>
        `${each.negated ? "not " : ""}${each.hedges.join(" ")}${each.hedges.length ? " " : ""}${each.term}`,
    )
    .join(", ");
  const witnesses = new Set(row.parts.flatMap((/** @type {any} */ part) => part.witnesses));
  return s(
    "svg",
    {
      class: `walk-cell ${high ? "raises" : "lowers"}`,
      width: WIDE,
      height: TALL,
      viewBox: `0 0 ${WIDE} ${TALL}`,
      role: "img",
      "aria-label": `${clipped(name, 60)} is ${clipped(said, 60)}: ${own.map((/** @type {any} */ each) => `${degree(Math.max(...each.degrees))} at most`).join(", ")}`,
    },
    s("line", { class: "walk-base", x1: 4, x2: WIDE - 4, y1: FOOT, y2: FOOT }),
    own.map((/** @type {any} */ each) => [
      s("path", { class: "walk-area", d: area(each.curve, low, top, x, y) }),
      s("path", { class: "walk-curve", d: line(each.curve, low, top, x, y) }),
      ticks(answer, each.degrees, d, x, y, witnesses, chosen),
    ]),
    s("text", { x: 4, y: 10 }, clipped(said, Math.round(WIDE / 6.4))),
  );
}

/**
 * @param {any} answer
 * @param {number[]} degrees
 * @param {number} d
 * @param {import("./numbers.js").Scale} x
 * @param {import("./numbers.js").Scale} y
 * @param {Set<number>} witnesses
 * @param {number | null} chosen
 */
function ticks(answer, degrees, d, x, y, witnesses, chosen) {
  let plain = "";
  const marks = [];
  const inside = (/** @type {number} */ value) => Math.min(Math.max(x(value), 4), WIDE - 4);
  for (let row = 0; row < answer.instances.length; row++) {
    const value = answer.instances[row][d];
    if (value === null) continue;
    const [left, up] = [inside(value).toFixed(1), Math.min(y(degrees[row]), FOOT - 3).toFixed(1)];
    if (witnesses.has(row) || row === chosen) {
      const look = witnesses.has(row) ? "witness" : "whatif";
      marks.push(
        s("line", { class: look, x1: left, x2: left, y1: FOOT, y2: up }),
        s("circle", { class: `${look}-dot`, cx: left, cy: up, r: 3.4 }),
      );
    } else plain += `M${left} ${FOOT}V${up}`;
  }
  return [s("path", { class: "tick", d: plain }), ...marks];
}

/**
 * How true the parts of a premise are for each instance, and what the bag makes of it.
 * @param {any} row
 * @param {number | null} chosen
 */
function truths(row, chosen) {
  const width = 118;
  const x = linear(0, 1, 6, width - 6);
  const height = Math.max(TALL, row.parts.length * 30);
  const band = height / Math.max(row.parts.length, 1);
  return s(
    "svg",
    {
      class: "walk-truth",
      width,
      height,
      viewBox: `0 0 ${width} ${height}`,
      role: "img",
      "aria-label": row.parts
        .map((/** @type {any} */ part) => `${clipped(part.text ?? "", 60)}: ${degree(part.degree)}`)
        .join("; "),
    },
    row.parts.flatMap((/** @type {any} */ part, /** @type {number} */ place) => {
      const middle = band * (place + 0.5) + 4;
      const witnesses = new Set(part.witnesses);
      let plain = "";
      /** @type {Node[]} */
      const marks = [];
      part.truth.forEach((/** @type {number} */ truth, /** @type {number} */ at) => {
        const left = x(truth).toFixed(1);
        if (witnesses.has(at) || at === chosen)
          marks.push(
            s("circle", { class: witnesses.has(at) ? "witness-dot" : "whatif-dot", cx: left, cy: middle, r: 4 }),
          );
        else plain += `M${left} ${middle - 5}V${middle + 5}`;
      });
      const name = [
        part.negated ? "NOT" : "",
        part.quantifier ? `${part.quantifier}${part.count ? ` ${part.count}` : ""}`.toUpperCase() : "",
      ]
        .join(" ")
        .trim();
      return [
        s("line", { class: "walk-base", x1: 6, x2: width - 6, y1: middle, y2: middle }),
        s("path", { class: "tick", d: plain }),
        ...marks,
        name && s("text", { x: 6, y: middle - 9 }, clipped(name, 14)),
        s("text", { x: width - 6, y: middle - 9, "text-anchor": "end" }, degree(part.degree)),
      ];
    }),
  );
}

/**
 * @param {number} value
 * @param {[number, number]} bounds
 */
const adds = (value, bounds) =>
  h(
    "div",
    { class: "adds" },
    signedBar(value, bounds[0], bounds[1], 64, 12),
    h("span", { class: "number" }, signed(value, 2)),
  );

/** @param {number} value from 0 to 1 */
function meter(value) {
  return s(
    "svg",
    { class: "bar meter", width: 56, height: 5, viewBox: "0 0 56 5", "aria-hidden": "true" },
    s("rect", { class: "back", width: 56, height: 5, rx: 2 }),
    s("rect", { class: "plain", width: 56 * Math.min(Math.max(value, 0), 1), height: 5, rx: 2 }),
  );
}

/**
 * The set that a Mamdani rule concludes, cut off at its strength.
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 * @param {any} row
 */
function cutSet(studio, answer, row) {
  const output = studio.state.variables.find((each) => each.name === answer.joined.output);
  const concluded = studio.state.rules[row.rule - 1]?.conclusions[answer.joined.output];
  if (!concluded) return h("div", { class: "soft small walk-any" }, `nothing about ${clipped(answer.joined.output, 24)}`);
  const said = concluded.term;
  const text = clipped([answer.joined.output, "is", ...concluded.hedges, said].join(" "), 60);
  const whole = output?.terms.find((term) => term.name === said);
  const { values, cuts } = answer.joined;
  const cut = cuts[String(row.rule - 1)];
  const [low, high] = [values[0], values.at(-1)];
  const [x, y] = [linear(low, high, 4, 176), linear(0, 1, FOOT, 12)];
  return s(
    "svg",
    {
      class: "walk-cut",
      width: 180,
      height: TALL,
      viewBox: `0 0 180 ${TALL}`,
      role: "img",
      "aria-label": `Concludes ${text}, cut at ${degree(row.firing)}`,
    },
    s("line", { class: "walk-base", x1: 4, x2: 176, y1: FOOT, y2: FOOT }),
    whole && output && s("path", { class: "ghost", d: line(whole.curve, output.axis[0], output.axis[1], x, y) }),
    cut && s("path", { class: `cut-set ${series(row.rule - 1)}`, d: area(cut, low, high, x, y) }),
    s("text", { x: 4, y: 10 }, clipped(text, 28)),
  );
}

/**
 * The last row: the default and the sum, or the joined set with its point.
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 * @param {boolean} additive
 * @param {boolean} mamdani
 * @param {[number, number]} bounds
 * @param {number} k
 */
function sum(studio, answer, additive, mamdani, bounds, k) {
  const before = 1 + answer.columns.length + 1;
  const output = clipped(answer.outputs[k], 24);
  if (mamdani) {
    const { values, membership, point } = answer.joined;
    const [low, high] = [values[0], values.at(-1)];
    const [x, y] = [linear(low, high, 4, 176), linear(0, 1, 66, 12)];
    return h(
      "tr",
      null,
      h("th", { scope: "row", colspan: before + 2, class: "numeric" }, `Joined set of ${output} and its point`),
      h(
        "td",
        null,
        s(
          "svg",
          {
            class: "walk-cut",
            width: 180,
            height: 84,
            viewBox: "0 0 180 84",
            role: "img",
            "aria-label": `Joined set, ${output} = ${show(point)}`,
          },
          s("path", { class: "joined", "data-output": answer.joined.output, "data-point": point, d: area(membership, low, high, x, y) }),
          point !== null && s("line", { class: "point", x1: x(point), x2: x(point), y1: 8, y2: 66 }),
          s("text", { x: 4, y: 80 }, show(low, 3)),
          s("text", { x: 176, y: 80, "text-anchor": "end" }, show(high, 3)),
          s(
            "text",
            { class: "walk-value", x: Math.min(Math.max(x(point ?? low), 26), 150), y: 80, "text-anchor": "middle" },
            show(point, 4),
          ),
        ),
      ),
    );
  }
  const start = answer.default[k];
  return [
    additive &&
      h(
        "tr",
        null,
        h("td", { colspan: before + 2, class: "numeric soft" }, "default"),
        h("td", null, adds(start, bounds)),
      ),
    h(
      "tr",
      { class: "total" },
      h(
        "th",
        { scope: "row", colspan: before + (additive ? 2 : 3), class: "numeric" },
        additive
          ? `${output} = default + what the rules add`
          : `${output} = mean of what the rules say, by their shares`,
      ),
      h(
        "td",
        { class: "adds-total" },
        studio.threshold !== null &&
          h(
            "span",
            { class: "soft small" },
            answer.output[k] > studio.threshold
              ? `above ${show(studio.threshold, 3)}:`
              : `not above ${show(studio.threshold, 3)}:`,
          ),
        h("b", { class: "number" }, show(answer.output[k], 5)),
      ),
    ),
  ];
}
