// The output over two inputs, the others on sliders; below, slices through the crosshair.

import { classMark } from "../chart.js";
import { h, replace } from "../dom.js";
import { choice, clipped, empty, field, numberField } from "../fields.js";
import { icon } from "../icons.js";
import { show } from "../numbers.js";
import { sliceChart } from "../slice_chart.js";
import { SurfaceMap, scaleBar } from "../surface_map.js";
import { unreadable } from "../unreadable.js";

/** @typedef {import("../types.js").Variable} Variable */

/** @param {import("../studio.js").Studio} studio */
export function surfaceView(studio) {
  /** @type {{x: string, y: string, output: string}} */
  const axes = { x: "", y: "", output: "" };
  /** @type {Record<string, number>} where the crosshair and the other inputs are */
  let held = {};
  let points = true;
  /** @type {number | null} equal instances in each bag; null: as many as the rules need */
  let equal = null;
  /** @type {any} */
  let seen = null;

  const mark = (/** @type {string} */ label) => classMark(studio.state, label);
  const map = new SurfaceMap((x, y) => {
    held = { ...held, [axes.x]: x, [axes.y]: y };
    drawSliders();
    ask();
  }, mark);
  const choices = h("div", { class: "surface-choices" });
  const sliders = h("div", { class: "stack surface-sliders" });
  const slices = h("div", { class: "surface-slices" });
  const legend = h("div", { class: "row small soft" });
  const content = h(
    "div",
    { class: "columns surface-columns" },
    h(
      "section",
      { class: "pane", "aria-label": "Surface" },
      h("div", { class: "body surface-body" }, map.element),
      h("div", { class: "body surface-legend" }, legend),
    ),
    h(
      "section",
      { class: "pane", "aria-label": "Inputs and slices" },
      h("div", { class: "body" }, choices),
      h("div", { class: "body scroll" }, sliders),
      h("div", { class: "body scroll grow" }, slices),
    ),
  );
  const nothing = h("div", { class: "grow" });
  const element = h("section", null, content, nothing);

  /** @returns {Variable[]} */
  const inputs = () => studio.state.variables.filter((each) => each.input);

  function update() {
    const all = inputs();
    const used = [...all.filter((each) => each.used_by.length), ...all.filter((each) => !each.used_by.length)];
    const names = all.map((each) => each.name);
    const problem = studio.state.data?.problem;
    content.hidden = Boolean(problem) || used.length < 2;
    nothing.hidden = !content.hidden;
    if (problem) return replace(nothing, unreadable(studio, "surface"));
    if (used.length < 2) {
      replace(
        nothing,
        empty(
          icon("surface"),
          "A surface needs two inputs",
          used.length
            ? "These rules have one variable. Add another in Sets, or look at the rules in the viewer."
            : "Open rules or data first.",
        ),
      );
      return;
    }
    if (!names.includes(axes.x)) axes.x = used[0].name;
    if (!names.includes(axes.y) || axes.y === axes.x) axes.y = used.find((each) => each.name !== axes.x)?.name ?? "";
    if (!studio.state.outputs.includes(axes.output)) axes.output = studio.state.outputs[0];
    for (const name of Object.keys(held)) if (!names.includes(name)) delete held[name];
    drawChoices(all);
    drawSliders();
    ask();
  }

  /** @param {Variable[]} all */
  function drawChoices(all) {
    const options = all.map((each) => ({ value: each.name, text: each.title }));
    const pick = (/** @type {"x" | "y"} */ axis, /** @type {string} */ name) => {
      const other = axis === "x" ? "y" : "x";
      if (axes[other] === name) axes[other] = axes[axis];
      axes[axis] = name;
      update();
    };
    replace(
      choices,
      field(
        "Across",
        choice({ label: "Across", key: "axis-x", value: axes.x, options, changed: (name) => pick("x", name) }),
      ),
      field("Up", choice({ label: "Up", key: "axis-y", value: axes.y, options, changed: (name) => pick("y", name) })),
      studio.state.outputs.length > 1 &&
        field(
          "Output",
          choice({
            label: "Output",
            key: "output",
            value: axes.output,
            options: studio.state.outputs.map((name) => ({ value: name, text: name })),
            changed: (name) => {
              axes.output = name;
              ask();
            },
          }),
        ),
      field(
        "Equal instances",
        numberField({
          label: "Equal instances in the bag of each point",
          key: "n-equal",
          value: equal ?? seen?.n_equal ?? null,
          placeholder: "auto",
          step: 1,
          changed: (value) => {
            equal = Math.min(Math.max(Math.round(value), 1), 50);
            ask();
          },
          cleared: () => {
            equal = null;
            ask();
          },
        }),
      ),
      studio.state.data &&
        h(
          "label",
          { class: "check" },
          h("input", {
            type: "checkbox",
            checked: points,
            onchange: () => {
              points = !points;
              if (seen) map.show(seen, points, studio.threshold, held);
            },
          }),
          "instances",
        ),
    );
  }

  function drawSliders() {
    const order = [
      axes.x,
      axes.y,
      ...inputs()
        .map((each) => each.name)
        .filter((name) => name !== axes.x && name !== axes.y),
    ];
    const used = order.filter(
      (name, place) => place < 2 || inputs().find((each) => each.name === name)?.used_by.length,
    );
    replace(
      sliders,
      used.slice(0, 30).map((name) => {
        const variable = /** @type {Variable} */ (inputs().find((each) => each.name === name));
        const [low, high] = variable.axis;
        const value = held[name] ?? seen?.others[name] ?? (low + high) / 2;
        const output = h("output", { class: "number" }, show(value, 4));
        return h(
          "label",
          { class: "slider" },
          h(
            "span",
            { class: "cut", title: clipped(name, 300) },
            clipped(variable.title, 40),
            (name === axes.x || name === axes.y) && h("span", { class: "soft" }, " (crosshair)"),
          ),
          h("input", {
            type: "range",
            min: low,
            max: high,
            step: (high - low) / 200,
            value,
            "aria-label": clipped(variable.title, 60),
            "data-key": `held-${name}`,
            oninput: (/** @type {Event} */ event) => {
              held = { ...held, [name]: Number(/** @type {HTMLInputElement} */ (event.target).value) };
              output.textContent = show(held[name], 4);
              ask();
            },
          }),
          output,
        );
      }),
    );
  }

  const bag = () => (equal === null ? {} : { n_equal: equal });

  function request() {
    const others = Object.fromEntries(Object.entries(held).filter(([name]) => name !== axes.x && name !== axes.y));
    return { type: "surface", x: axes.x, y: axes.y, others, output: axes.output, n: 61, ...bag() };
  }

  function ask() {
    const { type, ...fields } = request();
    studio.look("surface", type, fields, draw);
    for (const name of [axes.x, axes.y]) {
      const { [name]: at, ...others } = /** @type {Record<string, number>} */ (crosshair());
      studio.look(`slice-${name}`, "slice", { variable: name, others, at, output: axes.output, n: 101, ...bag() }, (answer) => drawSlice(name, answer));
    }
  }

  function crosshair() {
    const middle = Object.fromEntries(
      [axes.x, axes.y]
        .map((name) => [name, inputs().find((each) => each.name === name)?.axis ?? [0, 1]])
        .map(([name, ends]) => [name, (Number(ends[0]) + Number(ends[1])) / 2]),
    );
    for (const each of inputs())
      if (each.categories.length && each.name in middle) middle[each.name] = 0; // there is nothing between categories
    return { ...middle, ...held };
  }

  /** @param {any} answer */
  function draw(answer) {
    const [known, usual] = [seen?.n_equal, seen?.usual];
    seen = answer;
    if (known !== answer.n_equal || usual !== answer.usual) drawChoices(inputs());
    map.show(answer, points, studio.threshold, crosshair());
    const which = answer.n_equal === 1 ? "one instance" : `${answer.n_equal} equal instances`;
    replace(legend, h("span", null, `Each point is a bag with ${which}.`), scaleBar(answer, studio.threshold, mark));
  }

  /** @type {Map<string, any>} */
  const sliced = new Map();
  /**
   * @param {string} name
   * @param {any} answer
   */
  function drawSlice(name, answer) {
    sliced.set(name, answer);
    replace(
      slices,
      [axes.x, axes.y].flatMap((each) => {
        const found = sliced.get(each);
        if (!found) return [];
        return [sliceChart(found, axes.output, studio.threshold, slices.clientWidth || 320)];
      }),
    );
  }

  return {
    name: "surface",
    title: "Surface",
    element,
    update,
    themed: () => {
      if (seen) draw(seen);
    },
  };
}
