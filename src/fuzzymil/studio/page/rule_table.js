// The rules as a table: one row per rule, one column per variable, the conclusion, the weight and a switch.

import { h, replace } from "./dom.js";
import { choice, clipped, numberField } from "./fields.js";
import { icon } from "./icons.js";
import { percent, signed } from "./numbers.js";

/** @typedef {import("./types.js").Rule} Rule */
/** @typedef {import("./types.js").Variable} Variable */

const COST = "How accuracy, or the error, on the open bags would change without this rule";
const MOST_COLUMNS = 5; // more variables than this are shown as the text of the premise

/**
 * @param {import("./studio.js").Studio} studio
 * @param {(line: number) => void} show brings a line of the text into sight
 */
export function ruleTable(studio, show) {
  const body = h("tbody");
  const head = h("thead");
  const element = h("table", { class: "rule-table", "aria-label": "Rules" }, head, body);
  /** @type {Map<number, string[]>} */
  let flags = new Map();
  /** @type {Record<string, number>[]} what would change without each rule */
  let costs = [];

  /** @returns {Variable[]} */
  function columns() {
    const used = studio.state.variables.filter((each) => each.input && each.used_by.length);
    const shown = studio.state.rules.every((rule) => rule.conditions.length && !rule.plain) ? [] : used;
    return shown.length <= MOST_COLUMNS ? shown : [];
  }

  /**
   * Variables that no rule uses yet.
   * @param {Variable[]} shown
   */
  const others = (shown) =>
    studio.state.variables.filter(
      (each) => each.input && each.terms.length > 0 && !each.used_by.length && !shown.includes(each),
    );

  function update() {
    draw();
    const { data } = studio.state;
    if (!data?.labeled || data.problem) costs = [];
    else
      studio.look("costs", "costs", {}, (answer) => {
        costs = answer.rules;
        draw();
      });
  }

  function draw() {
    const shown = columns();
    replace(
      head,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "On")),
        h("th", { scope: "col" }, "Rule"),
        shown.length
          ? shown.map((each) =>
              h(
                "th",
                { scope: "col", title: clipped(each.title, 300) },
                h("div", { class: "cut" }, clipped(each.title, 40)),
              ),
            )
          : h("th", { scope: "col", class: "wide" }, "If"),
        others(shown).length > 0 && h("th", { scope: "col" }, "And"),
        h("th", { scope: "col" }, "Then"),
        h("th", { scope: "col", class: "numeric" }, "Weight"),
        costs.length > 0 && h("th", { scope: "col", class: "numeric", title: COST }, "Without"),
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "Order and removal")),
      ),
    );
    replace(
      body,
      studio.state.rules.map((rule) => row(rule, shown)),
    );
  }

  /** @param {Record<string, number> | undefined} change */
  const cost = (change) => {
    if (!change) return "–";
    if (change.accuracy === undefined) return change.rmse === undefined ? "–" : signed(change.rmse, 2);
    return Math.abs(change.accuracy) < 0.0005 ? "±0%" : `${change.accuracy > 0 ? "+" : "−"}${percent(Math.abs(change.accuracy))}`;
  };

  /**
   * @param {Rule} rule
   * @param {Variable[]} shown
   */
  function row(rule, shown) {
    const { number } = rule;
    const last = studio.state.rules.length;
    const flagged = flags.get(number);
    const name = clipped(rule.name, 40);
    const button = (
      /** @type {string} */ drawing,
      /** @type {string} */ label,
      /** @type {() => void} */ run,
      disabled = false,
    ) =>
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": `${label} ${name}`,
          title: label,
          "data-key": `${drawing}-${number}`,
          disabled,
          onclick: run,
        },
        icon(drawing),
      );
    return h(
      "tr",
      { class: rule.on ? "" : "off" },
      h(
        "td",
        null,
        h("input", {
          type: "checkbox",
          checked: rule.on,
          "aria-label": `${name} counts`,
          title: rule.on ? "Switch this rule off" : "Switch this rule on",
          "data-key": `on-${number}`,
          onchange: () => studio.edit("set_rule", { number, on: !rule.on }),
        }),
      ),
      h(
        "td",
        null,
        h(
          "button",
          {
            type: "button",
            class: "bare cut rule-name",
            title: clipped(rule.text, 400),
            "data-key": `rule-${number}`,
            onclick: () => rule.line && show(rule.line),
          },
          rule.label ? clipped(rule.label, 40) : String(number),
        ),
        flagged &&
          h(
            "span",
            { class: "flag", title: clipped(flagged.join("\n"), 400) },
            icon("warning"),
            h("span", { class: "unseen" }, clipped(flagged.join("; "), 200)),
          ),
      ),
      shown.length
        ? cells(rule, shown)
        : [h("td", { class: "wrap code" }, clipped(rule.premise, 400)), rule.plain ? more(rule, shown) : spare(shown)],
      h("td", null, conclusion(rule)),
      h(
        "td",
        { class: "numeric" },
        numberField({
          label: `Weight of ${name}`,
          key: `weight-${number}`,
          value: rule.weight,
          step: 0.05,
          changed: (weight) => studio.edit("set_rule", { number, weight }),
        }),
      ),
      costs.length > 0 && h("td", { class: "numeric", title: COST, "data-cost": number }, cost(costs[number - 1])),
      h(
        "td",
        { class: "row-tools" },
        h(
          "div",
          null,
          button("up", "Move up", () => studio.edit("move_rule", { number, to: number - 1 }), number === 1),
          button("down", "Move down", () => studio.edit("move_rule", { number, to: number + 1 }), number === last),
          button("edit", "Label", () => void label(rule)),
          button("remove", "Remove", () => studio.edit("remove_rule", { number })),
        ),
      ),
    );
  }

  /**
   * @param {Rule} rule
   * @param {Variable[]} shown
   */
  function cells(rule, shown) {
    if (!rule.plain && rule.conditions.length)
      return [
        h(
          "td",
          { class: "wrap code", colspan: shown.length + (others(shown).length ? 1 : 0) },
          clipped(rule.premise, 400),
        ),
      ];
    const own = shown.map((variable) => {
      const own = rule.conditions.find((each) => each.variable === variable.name);
      return h(
        "td",
        null,
        choice({
          label: `${clipped(variable.name, 40)} in ${clipped(rule.name, 40)}`,
          key: `cell-${rule.number}-${variable.name}`,
          value: own?.term ?? "",
          options: [
            { value: "", text: "any" },
            ...variable.terms.map((term) => ({
              value: term.name,
              text: own?.term === term.name && own.hedges.length ? `${own.hedges.join(" ")} ${term.name}` : term.name,
            })),
          ],
          changed: (term) =>
            studio.edit("set_condition", {
              number: rule.number,
              variable: variable.name,
              term: term || null,
              hedges: term === own?.term ? own.hedges : [],
            }),
        }),
      );
    });
    return [...own, more(rule, shown)];
  }

  /** @param {Variable[]} shown */
  const spare = (shown) => others(shown).length > 0 && h("td", null);

  /**
   * A choice of variables that the rule could ask about, too.
   * @param {Rule} rule
   * @param {Variable[]} shown
   */
  function more(rule, shown) {
    const free = others(shown);
    if (!free.length) return null;
    return h(
      "td",
      null,
      choice({
        label: `Another condition in ${clipped(rule.name, 40)}`,
        key: `more-${rule.number}`,
        value: "",
        options: [{ value: "", text: "+" }, ...free.map((each) => ({ value: each.name, text: each.title }))],
        changed: (name) => {
          const term = free.find((each) => each.name === name)?.terms[0].name;
          if (term) void studio.edit("set_condition", { number: rule.number, variable: name, term, hedges: [] });
        },
      }),
    );
  }

  /** @param {Rule} rule */
  function conclusion(rule) {
    const entries = Object.entries(rule.conclusions);
    const [output, said] = entries[0] ?? ["", null];
    const { number } = rule;
    if (entries.length === 1 && said && said.term !== undefined) {
      const variable = studio.state.variables.find((each) => each.name === output);
      if (variable && !(said.hedges ?? []).length)
        return h(
          "label",
          { class: "row tight" },
          h("span", { class: "soft cut conclusion-name" }, `${clipped(output, 14)} is`),
          choice({
            label: `Conclusion of ${clipped(rule.name, 40)}`,
            key: `then-${number}`,
            value: said.term,
            options: variable.terms.map((term) => ({ value: term.name, text: term.name })),
            changed: (term) => studio.edit("set_conclusion", { number, output, term }),
          }),
        );
    }
    if (entries.length === 1 && said && said.constant !== undefined && !Object.keys(said.slopes ?? {}).length)
      return h(
        "label",
        { class: "row tight" },
        h(
          "span",
          { class: "soft cut conclusion-name", title: clipped(output, 300) },
          `${clipped(output, 14)} ${studio.state.additive ? "+=" : "="}`,
        ),
        numberField({
          label: `Conclusion of ${clipped(rule.name, 40)}`,
          key: `then-${number}`,
          value: rule.points ?? said.constant,
          step: rule.points === null ? 0.1 : 1,
          changed: (value) =>
            studio.edit("set_conclusion", { number, output, value: rule.points === null ? value : value * (studio.state.unit ?? 1) }),
        }),
        rule.points === null ? "" : h("span", { class: "soft" }, "points"),
      );
    return h("span", { class: "code wrap" }, clipped(rule.conclusion, 200));
  }

  /** @param {Rule} rule */
  async function label(rule) {
    const text = h("input", { value: rule.label, autofocus: true, maxlength: "200" });
    const wanted = await studio.ask({
      title: `Label of rule ${rule.number}`,
      body: [
        h("label", { class: "field" }, h("span", null, "Label"), text),
        h("p", { class: "soft" }, "A label names the rule for readers. Leave it empty for none."),
      ],
      confirm: "Save",
      read: () => text.value.trim(),
    });
    if (wanted !== null && wanted !== rule.label) await studio.edit("set_rule", { number: rule.number, label: wanted });
  }

  return {
    element,
    update,
    /** @param {{rules: number[], message: string}[]} findings */
    flag(findings) {
      const next = new Map();
      for (const finding of findings)
        for (const number of finding.rules) next.set(number, [...(next.get(number) ?? []), finding.message]);
      const same = JSON.stringify([...flags]) === JSON.stringify([...next]);
      flags = next;
      if (!same) draw();
    },
  };
}
