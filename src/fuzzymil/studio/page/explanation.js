// Why a bag was decided as it was: the sum, the witnesses of each rule, and the decision without an instance.

import { signedBar } from "./chart.js";
import { h } from "./dom.js";
import { clipped } from "./fields.js";
import { counted, degree, extent, show, signed } from "./numbers.js";
import { said } from "./viewer_parts.js";

/**
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 */
export function explanation(studio, answer) {
  const why = answer.explanation;
  const bounds = extent([
    0,
    why.additive ? why.baseline : 0,
    ...why.rules.map((/** @type {any} */ rule) => rule.contribution),
  ]);
  const chance =
    why.probability && why.classes
      ? why.probability[why.classes.findIndex((/** @type {any} */ each) => String(each) === String(why.prediction))]
      : null;
  return [
    h(
      "p",
      { class: "why-head" },
      why.classes
        ? [
            "Predicted ",
            h("b", null, clipped(String(why.prediction), 60)),
            chance !== null && chance !== undefined ? `, probability ${degree(chance)}. ` : ". ",
          ]
        : [`${clipped(why.outputs[why.target], 40)} = `, h("b", null, show(why.output[why.target], 5)), ". "],
      h(
        "span",
        { class: "soft" },
        counted(why.n_instances, "instance"),
        why.is_uncovered ? "; no rule fires, so the default decides." : ".",
      ),
    ),
    answer.committee &&
      h(
        "p",
        { class: "why-head" },
        h("b", null, `The ${said(studio, answer.committee)}.`),
        h("span", { class: "soft" }, ` Here is why member ${(studio.state.committee?.member ?? 0) + 1} says so:`),
      ),
    h(
      "ul",
      { class: "sums", "aria-label": "What adds up to the score" },
      why.additive &&
        h(
          "li",
          null,
          h("span", { class: "number amount" }, signed(why.baseline)),
          signedBar(why.baseline, bounds[0], bounds[1], 90),
          h("span", { class: "soft" }, "default"),
        ),
      why.rules.map((/** @type {any} */ rule) => ruleItem(rule, bounds)),
      h(
        "li",
        { class: "total" },
        h("span", { class: "number amount" }, signed(why.score, 4)),
        h("span"),
        h("b", null, why.classes ? why.scale : clipped(why.outputs[why.target], 40)),
      ),
    ),
    without(studio, answer),
    h(
      "details",
      null,
      h("summary", null, "As text"),
      h("pre", { class: "code as-text", tabindex: "0" }, clipped(answer.text, 8000)),
    ),
  ];
}

/**
 * @param {any} rule
 * @param {[number, number]} bounds
 */
function ruleItem(rule, bounds) {
  const parts = rule.parts.flatMap((/** @type {any} */ part) =>
    part.witnesses.slice(0, 3).map((/** @type {any} */ witness) =>
      h(
        "div",
        { class: "small witness-line" },
        h("span", { class: "soft" }, `instance ${witness.instance}: `),
        witness.conditions
          .slice(0, 8)
          .map((/** @type {any} */ each, /** @type {number} */ at) =>
            h(
              "span",
              { class: each.limiting ? "limiting" : "", title: each.limiting ? "This condition decides" : "" },
              at ? ", " : "",
              `${clipped(each.variable, 30)} = ${each.missing ? "unknown" : show(each.value, 4)} `,
              h("span", { class: "soft" }, `(${degree(each.membership)})`),
            ),
          ),
      ),
    ),
  );
  return h(
    "li",
    { class: Math.abs(rule.contribution) < 1e-9 ? "nothing" : "" },
    h("span", { class: "number amount" }, signed(rule.contribution)),
    signedBar(rule.contribution, bounds[0], bounds[1], 90),
    h(
      "div",
      null,
      h("b", null, clipped(rule.name, 40)),
      h("span", { class: "soft" }, ` fires at ${degree(rule.firing)}`),
      h("div", { class: "code wrap small" }, clipped(rule.text, 300)),
      parts,
    ),
  );
}

/**
 * @param {import("./studio.js").Studio} studio
 * @param {any} answer
 */
function without(studio, answer) {
  const rows = answer.without;
  if (!rows.length)
    return h(
      "p",
      { class: "soft small" },
      answer.explanation.n_instances === 1 ? "The bag has one instance only." : "",
    );
  const { output: now, target: k } = answer.explanation; // as above: of several outputs, the one that is explained
  const decided = studio.state.classes ? String(answer.explanation.prediction) : null;
  const order = [...rows].sort((a, b) => Math.abs(b.output[k] - now[k]) - Math.abs(a.output[k] - now[k])).slice(0, 40);
  return [
    h("h4", { class: "without-title" }, "Without an instance"),
    h(
      "table",
      { "aria-label": "Answer without each instance" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Without"),
          h("th", { scope: "col", class: "numeric wrap" }, clipped(answer.explanation.outputs[k], 20)),
          h("th", { scope: "col", class: "numeric" }, "Change"),
          decided !== null && h("th", { scope: "col" }, "Decision"),
        ),
      ),
      h(
        "tbody",
        null,
        order.map((row) => {
          const flips = decided !== null && String(row.decision) !== decided;
          return h(
            "tr",
            null,
            h("td", { class: "unbroken" }, `instance ${row.instance}`),
            h("td", { class: "numeric" }, show(row.output[k], 4)),
            h("td", { class: "numeric" }, row.output[k] === now[k] ? "–" : signed(row.output[k] - now[k])),
            decided !== null &&
              h(
                "td",
                null,
                flips
                  ? h("span", { class: "tag high wrap" }, `becomes ${clipped(String(row.decision), 30)}`)
                  : h("span", { class: "soft" }, "the same"),
              ),
          );
        }),
      ),
    ),
    rows.length > order.length &&
      h("p", { class: "soft small" }, `${counted(rows.length - order.length, "more instance")} change less.`),
  ];
}
