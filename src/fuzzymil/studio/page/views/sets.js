// Variables and their fuzzy sets: drag them, type their numbers, change, lock, add and remove them.

import { classMark } from "../chart.js";
import { h, replace } from "../dom.js";
import { choice, clipped, empty, field, numberField } from "../fields.js";
import { icon } from "../icons.js";
import { counted, show } from "../numbers.js";
import { SetChart, sparkline } from "../set_chart.js";
import { termRow } from "../term_row.js";

/** @typedef {import("../types.js").Variable} Variable */
/** @typedef {import("../types.js").Term} Term */

/** @param {import("../studio.js").Studio} studio */
export function setsView(studio) {
  const list = h("ul", { class: "variables", "aria-label": "Variables" });
  const terms = h("div", { class: "terms scroll" });
  const title = h("h3", { class: "cut" });
  const tools = h("div", { class: "row" });
  const legend = h("div", { class: "row legend small soft" });
  const chart = new SetChart({
    move: (variable, term, handle, x) => studio.drag({ variable, term, handle, x }),
    done: () => studio.drop(),
    choose: (variable, term) => choose(variable, term),
  });
  /** @type {Map<string, {edges: number[], counts: Record<string, number[]>}>} */
  let counts = new Map();
  /** @type {string} the data and variables that the histograms belong to */
  let known = "";

  const editor = h(
    "section",
    { class: "pane set-pane", "aria-label": "Fuzzy sets" },
    h("header", null, title, tools),
    h("div", { class: "body chart-body" }, chart.element, legend),
    terms,
  );
  const element = h(
    "section",
    null,
    h(
      "div",
      { class: "columns sets-columns" },
      h(
        "nav",
        { class: "pane", "aria-label": "Variables" },
        h(
          "header",
          null,
          h("h3", null, "Variables"),
          h(
            "button",
            {
              type: "button",
              class: "icon-button",
              "aria-label": "Add a variable",
              title: "Add a variable",
              onclick: () => void addVariable(),
            },
            icon("add"),
          ),
        ),
        h("div", { class: "scroll" }, list),
      ),
      editor,
    ),
  );

  /** @returns {Variable | undefined} */
  function current() {
    const { variables } = studio.state;
    return (
      variables.find((each) => each.name === studio.chosen?.variable) ??
      variables.find((each) => each.used_by.length && each.terms.length) ??
      variables.find((each) => each.terms.length) ??
      variables[0]
    );
  }

  function update() {
    const variable = current();
    if (!variable) {
      replace(
        terms,
        empty(
          icon("sets"),
          "No variables yet",
          "Open rules or a data file; its columns become variables.",
          h("button", { type: "button", class: "primary", onclick: () => studio.open("files") }, "Open a file"),
        ),
      );
      return;
    }
    askForHistograms();
    drawList(variable);
    drawEditor(variable);
  }

  function askForHistograms() {
    const { state } = studio;
    if (!state.data || state.data.problem) {
      known = "";
      counts = new Map();
      return;
    }
    const now = JSON.stringify([
      state.data_name,
      state.data.n_instances,
      state.data.labels,
      state.variables.map((each) => [each.name, each.axis]),
    ]);
    if (now === known) return;
    known = now;
    studio.look("histograms", "histograms", {}, (answer) => {
      // The positive class comes last, on top.
      const last = studio.state.positive;
      const ordered = (/** @type {Record<string, number[]>} */ groups) =>
        Object.fromEntries(Object.entries(groups).sort(([a], [b]) => Number(a === last) - Number(b === last)));
      counts = new Map(
        answer.histograms.map((/** @type {any} */ each) => [
          each.variable,
          { edges: each.edges, counts: ordered(each.counts) },
        ]),
      );
      const variable = current();
      if (variable && studio.view?.name === "sets") drawEditor(variable);
    });
  }

  /** @param {Variable} chosen */
  function drawList(chosen) {
    const { variables } = studio.state;
    const outputs = variables.filter((each) => !each.input);
    const item = (/** @type {Variable} */ each) =>
      h(
        "li",
        null,
        h(
          "button",
          {
            type: "button",
            class: "bare variable",
            "aria-current": each === chosen ? "true" : null,
            "data-key": `variable-${each.name}`,
            onclick: () => choose(each.name, null),
          },
          h("span", { class: "cut", title: clipped(each.title, 300) }, clipped(each.title, 80)),
          h("span", { class: "soft small" }, each.used_by.length ? counted(each.used_by.length, "rule") : "unused"),
          sparkline(each),
        ),
      );
    replace(
      list,
      variables.filter((each) => each.input).map(item),
      outputs.length > 0 && h("li", { class: "divider" }, "Outputs"),
      outputs.map(item),
    );
  }

  /** @param {Variable} variable */
  function drawEditor(variable) {
    const chosen = studio.chosen?.variable === variable.name ? studio.chosen.term : null;
    title.textContent = clipped(variable.title, 80);
    title.title = clipped(variable.title, 300);
    replace(tools, controls(variable));
    const found = counts.get(variable.name);
    const marked = (/** @type {string} */ label) => classMark(studio.state, label);
    const groups = Object.entries(found?.counts ?? {}).map(([label, counts]) => ({ mark: marked(label), counts }));
    chart.show(variable, chosen, found ? { edges: found.edges, groups } : null);
    replace(
      legend,
      found &&
        Object.keys(found.counts).map((label) =>
          h(
            "span",
            { class: "row tight" },
            h("span", { class: `key ${marked(label)}` }),
            label === "all" && Object.keys(found.counts).length === 1
              ? "instances"
              : `instances of bags labeled ${clipped(label, 40)}`,
          ),
        ),
      h("span", { class: "keys grow" }, variable.terms.length ? "Drag a point, or focus it and press ← →" : ""),
    );
    drawTerms(variable, chosen);
  }

  /** @param {Variable} variable */
  function controls(variable) {
    const rename = () => renaming("variable", variable.name, { variable: variable.name });
    const range = (/** @type {"low" | "high"} */ end, /** @type {string} */ text) =>
      h(
        "label",
        { class: "row tight small soft" },
        text,
        numberField({
          label: `${text} of the range of ${clipped(variable.name, 60)}`,
          key: `range-${end}`,
          value: variable[end],
          placeholder: String(Number(variable.axis[end === "low" ? 0 : 1].toPrecision(4))),
          changed: (value) => studio.edit("set_variable", { variable: variable.name, [end]: value }),
          cleared: () => studio.edit("set_variable", { variable: variable.name, [end]: null }),
        }),
      );
    return [
      range("low", "From"),
      range("high", "to"),
      variable.input &&
        variable.used_by.length === 0 &&
        h(
          "button",
          {
            type: "button",
            class: "icon-button",
            "aria-label": "Remove this variable",
            title: "Remove this variable",
            "data-key": "remove-variable",
            onclick: () => studio.edit("remove_variable", { variable: variable.name }),
          },
          icon("remove"),
        ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": "Rename this variable",
          title: "Rename this variable",
          "data-key": "rename-variable",
          onclick: rename,
        },
        icon("edit"),
      ),
      variable.input &&
        choice({
          label: "Divide into terms by quantiles of the data",
          key: "partition",
          value: "",
          options: [
            { value: "", text: "Divide into …" },
            { value: "3", text: "3 terms" },
            { value: "5", text: "5 terms" },
            { value: "7", text: "7 terms" },
          ],
          disabled: !studio.state.data,
          changed: (n) => n && partition(variable, Number(n)),
        }),
      h(
        "button",
        { type: "button", "data-key": "add-term", onclick: () => addTerm(variable) },
        icon("add"),
        "Add term",
      ),
    ];
  }

  /**
   * @param {Variable} variable
   * @param {string | null} chosen
   */
  function drawTerms(variable, chosen) {
    if (!variable.terms.length) {
      replace(
        terms,
        empty(
          icon("sets"),
          "No terms yet",
          studio.state.data && variable.input
            ? "Divide the variable into terms by the quantiles of your data, or add a term of your own."
            : "Add the first term: a name such as “high”, and a shape.",
        ),
      );
      return;
    }
    replace(
      terms,
      h(
        "ul",
        { "aria-label": `Terms of ${clipped(variable.name, 60)}` },
        variable.terms.map((term, place) =>
          termRow(studio, variable, term, place, term.name === chosen, { choose, rename: renaming }),
        ),
      ),
    );
  }

  /**
   * @param {string} what
   * @param {string} name
   * @param {Record<string, any>} own
   */
  async function renaming(what, name, own) {
    const wanted = await studio.askText({
      title: `Rename the ${what}`,
      label: "Name",
      value: name,
      confirm: "Rename",
      hint: "All rules follow.",
    });
    if (!wanted || wanted === name) return;
    const answer = await studio.edit("rename", { ...own, name: wanted });
    if (!answer) return;
    studio.chosen =
      own.term === undefined ? { variable: wanted, term: null } : { variable: own.variable, term: wanted };
    update();
  }

  /**
   * @param {Variable} variable
   * @param {number} n
   */
  async function partition(variable, n) {
    const used = variable.terms.filter((term) => term.used_by.length);
    if (used.length) {
      const sure = await studio.ask({
        title: `Divide ${clipped(variable.name, 60)} into ${n} terms?`,
        body: [
          h(
            "p",
            null,
            `${counted(used.length, "term")} of ${variable.terms.length} ${used.length === 1 ? "is" : "are"} used by rules: ${used.length === 1 ? "it stays" : "they stay"}, unless a new term has the same name and takes over. The others are replaced.`,
          ),
        ],
        confirm: "Divide",
      });
      if (!sure) return update();
    }
    await studio.edit("partition", { variable: variable.name, n });
    update();
  }

  /**
   * @param {string} variable
   * @param {string | null} term
   */
  function choose(variable, term) {
    studio.chosen = { variable, term };
    update();
  }

  /** @param {Variable} variable */
  async function addTerm(variable) {
    const term = await studio.askText({
      title: `Add a term to ${clipped(variable.name, 60)}`,
      label: "Name",
      confirm: "Add",
      hint: "It starts as a bell in the middle of the axis; drag it where it belongs.",
    });
    if (!term || !(await studio.edit("add_term", { variable: variable.name, term }))) return;
    choose(variable.name, term);
  }

  async function addVariable() {
    const known = new Set(studio.state.variables.map((each) => each.name));
    const options = (studio.state.data?.features ?? []).filter((name) => !known.has(name));
    const control = options.length
      ? choice({
          label: "Column of the data",
          key: "column",
          value: options[0],
          options: options.map((name) => ({ value: name, text: name })),
          changed: () => {},
        })
      : h("input", { autofocus: true, maxlength: "200" });
    const name = await studio.ask({
      title: "Add a variable",
      body: [
        field(options.length ? "Column of the data" : "Name", control),
        h(
          "p",
          { class: "soft" },
          options.length
            ? "It starts with three terms at the quantiles of its values."
            : "Every column of the data is a variable already; this one will have no data.",
        ),
      ],
      confirm: "Add",
      read: () => control.value.trim() || undefined,
    });
    if (!name || !(await studio.edit("add_variable", { name }))) return;
    choose(name, null);
  }

  return {
    name: "sets",
    title: "Sets",
    element,
    update,
    /**
     * @param {import("../studio.js").Drag} move
     * @param {{term: Term, axis: [number, number]}} moved
     */
    dragged(move, { term, axis }) {
      const variable = current();
      if (!variable || variable.name !== move.variable) return;
      chart.refresh(term, axis ?? variable.axis);
      // Only numbers change while a set is dragged: keep the fields, so that nothing flickers.
      term.parameters.forEach((parameter, number) => {
        const input = terms.querySelector(`[data-key="${CSS.escape(`parameter-${term.name}-${number}`)}"]`);
        if (input instanceof HTMLInputElement) input.value = show(parameter.value, 6);
      });
    },
  };
}
