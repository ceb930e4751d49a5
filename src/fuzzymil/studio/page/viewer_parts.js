// What stands around the walk-through: the verdict on the bag, and its instances as a table.

import { h } from "./dom.js";
import { clipped, numberField } from "./fields.js";
import { icon } from "./icons.js";
import { counted, degree, show } from "./numbers.js";

/**
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 * @param {boolean} changed whether the bag is not as in the data
 */
export function verdict(studio, answer, changed) {
  const classes = studio.state.data ? studio.state.classes : null; // without bags there is nothing to tell apart
  const right = answer.label !== null && classes ? String(answer.decision) === answer.label : null;
  const chance = classes && answer.probability && answer.probability[answer.decision];
  return [
    answer.label !== null &&
      h("span", { class: "tag", title: "Label in the data" }, `label ${clipped(answer.label, 30)}`),
    classes &&
      h(
        "span",
        { class: `tag ${right === null ? "low" : right ? "good" : "bad"}` },
        `predicted ${clipped(String(answer.decision), 30)}${right === null ? "" : right ? " ✓" : " ✗"}`,
      ),
    answer.outputs.map((/** @type {string} */ name, /** @type {number} */ k) =>
      h(
        "span",
        { class: "number", "data-output": name },
        h("span", { class: "soft" }, `${clipped(name, 20)} = `),
        h("b", null, show(answer.output[k], 5)),
      ),
    ),
    chance !== null && chance !== undefined && h("span", { class: "soft number" }, `probability ${degree(chance)}`),
    answer.uncovered && h("span", { class: "tag high" }, "no rule fires: the default decides"),
    answer.committee && h("span", { class: "tag", "data-key": "committee-says", title: "What all members say together, with its probability" }, said(studio, answer.committee)),
    changed && h("span", { class: "tag high" }, "what if: not as in the data"),
    h("span", { class: "soft small" }, counted(answer.instances.length, "instance")),
  ];
}

/**
 * What a committee says about a bag, in a few words.
 * @param {import("./studio.js").Studio} studio
 * @param {any} committee
 */
export function said(studio, { output, decision, probability, members }) {
  const classes = studio.state.data ? studio.state.classes : null;
  if (!classes) return `committee says ${show(output[0], 5)}`;
  const agree = members.filter((/** @type {any} */ each) => each.decision === decision).length;
  const chance = probability ? ` (${degree(probability[decision])})` : "";
  return `committee says ${clipped(String(decision), 30)}${chance}, ${agree} of ${members.length} agree`;
}

/**
 * @param {any} answer
 * @param {number | null} chosen
 * @param {{choose: (row: number) => void, remove: (row: number) => void, set: (row: number, variable: string, value: number) => void}} act
 */
export function instanceTable(answer, chosen, act) {
  const most = 200;
  const columns = answer.columns.map((/** @type {string} */ name) => answer.variables.indexOf(name));
  const witnesses = new Set(answer.rows.map((/** @type {any} */ row) => row.witness));
  const rows = answer.instances.slice(0, most);
  return h(
    "table",
    { "aria-label": "Instances" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "Instance"),
        answer.columns.map((/** @type {string} */ name) =>
          h(
            "th",
            { scope: "col", class: "numeric", title: clipped(name, 300) },
            h("div", { class: "cut" }, clipped(name, 30)),
          ),
        ),
        h("th", { scope: "col" }, h("span", { class: "unseen" }, "Remove")),
      ),
    ),
    h(
      "tbody",
      null,
      rows.map((/** @type {(number | null)[]} */ values, /** @type {number} */ row) => {
        const name = answer.places[row] === null ? "what if" : String(answer.places[row]);
        return h(
          "tr",
          { class: row === chosen ? "chosen" : "" },
          h(
            "td",
            null,
            h(
              "button",
              {
                type: "button",
                class: "bare row tight",
                "aria-pressed": String(row === chosen),
                "data-key": `instance-${row}`,
                onclick: () => act.choose(row),
              },
              h("b", null, name),
              witnesses.has(row) && h("span", { class: "tag high" }, "witness"),
            ),
          ),
          columns.map((/** @type {number} */ d) =>
            h(
              "td",
              { class: "numeric" },
              numberField({
                label: `${clipped(answer.variables[d], 40)} of instance ${name}`,
                key: `value-${row}-${d}`,
                value: values[d],
                placeholder: "unknown",
                changed: (value) => act.set(row, answer.variables[d], value),
              }),
            ),
          ),
          h(
            "td",
            null,
            h(
              "button",
              {
                type: "button",
                class: "icon-button",
                "aria-label": `Leave out instance ${name}`,
                title: "Leave out",
                "data-key": `without-${row}`,
                onclick: () => act.remove(row),
              },
              icon("remove"),
            ),
          ),
        );
      }),
      answer.instances.length > most &&
        h(
          "tr",
          null,
          h(
            "td",
            { colspan: columns.length + 2, class: "soft" },
            `and ${counted(answer.instances.length - most, "more instance")}, drawn above`,
          ),
        ),
    ),
  );
}
