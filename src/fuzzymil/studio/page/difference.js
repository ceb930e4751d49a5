// What distinguishes two versions: rules with old and new numbers, sets with their ghosts, and bags that flipped.

import { area, line } from "./chart.js";
import { h, s } from "./dom.js";
import { clipped } from "./fields.js";
import { counted, linear, percent, show } from "./numbers.js";

const [WIDE, TALL] = [190, 74];

/**
 * @typedef {object} Accept what can be accepted, and is
 * @property {Set<number>} chosen rules
 * @property {(number: number, on: boolean) => void} choose
 * @property {boolean} withDefault
 * @property {(on: boolean) => void} chooseDefault
 */

/**
 * @param {any} difference
 * @param {Accept | null} [accept]
 */
export function differenceParts(difference, accept = null) {
  const { rules, terms, flipped } = difference;
  const isDefault = (/** @type {any} */ each) => accept !== null && each.where === "default"; // it has its own tick
  const defaults = difference.settings.filter(isDefault);
  const settings = difference.settings.filter((/** @type {any} */ each) => !isDefault(each));
  const changed = rules.filter((/** @type {any} */ rule) => rule.changed);
  const same = rules.length - changed.length;
  const shown = new Set(
    changed.flatMap((/** @type {any} */ rule) =>
      (rule.terms ?? []).map((/** @type {string[]} */ pair) => pair.join("\u0000")),
    ),
  );
  const rest = terms.filter((/** @type {any} */ term) => !shown.has(`${term.variable}\u0000${term.term}`));
  const nothing = !changed.length && !rest.length && !difference.settings.length;
  return {
    summary: summary(difference),
    body: [
      nothing && h("p", { class: "soft" }, "The two are the same."),
      h(
        "ul",
        { class: "changes", "aria-label": "Changed rules" },
        changed.map((/** @type {any} */ rule) => ruleItem(rule, terms, accept)),
        accept && defaults.length > 0 && defaultItem(defaults, accept),
      ),
      same > 0 && changed.length > 0 && h("p", { class: "soft small" }, `${counted(same, "rule")} did not change.`),
      rest.length > 0 && [h("h4", null, "Other sets"), h("div", { class: "ghosts" }, rest.slice(0, 60).map(ghost))],
      settings.length > 0 && [
        h("h4", null, "Settings"),
        h(
          "ul",
          { class: "settings" },
          settings
            .slice(0, 60)
            .map((/** @type {any} */ each) =>
              h(
                "li",
                { class: "small wrap" },
                h(
                  "span",
                  { class: "soft" },
                  `${clipped(String(each.where ?? ""), 60)} ${clipped(String(each.what), 60)}: `,
                ),
                arrow(each.old, each.new),
              ),
            ),
        ),
      ],
    ].flat(),
    flipped: flippedTable(flipped),
  };
}

/**
 * @param {any} old
 * @param {any} now
 */
function arrow(old, now) {
  const text = (/** @type {any} */ value) =>
    value === null || value === undefined
      ? "none"
      : typeof value === "number"
        ? show(value, 4)
        : clipped(String(value), 120);
  return h("span", { class: "number" }, h("span", { class: "old" }, text(old)), " → ", h("b", null, text(now)));
}

/** @param {any} difference */
function summary({ accuracy, rmse, loss, flipped }) {
  const figure = (/** @type {string} */ name, /** @type {Node | string} */ value) =>
    h("div", null, h("dt", null, name), h("dd", null, value));
  const three = (/** @type {number} */ value) => show(value, 3);
  const pair = (/** @type {string[]} */ [old, now]) => h("span", null, h("span", { class: "soft" }, `${old} → `), now);
  return h(
    "dl",
    { class: "figures" },
    accuracy && figure("accuracy", pair(accuracy.map(percent))),
    rmse && figure("error (RMSE)", pair(rmse.map(three))),
    loss && figure("loss", pair(loss.map(three))),
    flipped &&
      !rmse &&
      figure("bags that flip", String(flipped.length)),
  );
}

/**
 * @param {{what: any, old: any, new: any}[]} changes
 */
const numbersList = (changes) =>
  h(
    "ul",
    { class: "numbers" },
    changes
      .slice(0, 20)
      .map((each) =>
        h(
          "li",
          { class: "small wrap" },
          h("span", { class: "soft" }, `${clipped(String(each.what), 60)}: `),
          arrow(each.old, each.new),
        ),
      ),
  );

/**
 * @param {string} name
 * @param {string} key
 * @param {boolean} checked
 * @param {(on: boolean) => void} choose
 */
const tick = (name, key, checked, choose) =>
  h(
    "label",
    { class: "check" },
    h("input", {
      type: "checkbox",
      checked,
      "data-key": `accept-${key}`,
      "aria-label": `Accept ${name}`,
      onchange: (/** @type {Event} */ event) => choose(/** @type {HTMLInputElement} */ (event.target).checked),
    }),
    h("b", null, name),
  );

/**
 * @param {any[]} changes
 * @param {Accept} accept
 */
const defaultItem = (changes, accept) =>
  h(
    "li",
    { class: "change" },
    h("div", { class: "row" }, tick("Default", "default", accept.withDefault, accept.chooseDefault)),
    numbersList(changes),
  );

/**
 * @param {any} rule
 * @param {any[]} terms
 * @param {Accept | null} accept
 */
function ruleItem(rule, terms, accept) {
  const own = (rule.terms ?? []).flatMap((/** @type {string[]} */ [variable, term]) =>
    terms.filter((each) => each.variable === variable && each.term === term),
  );
  const name = clipped(rule.name ?? "", 60);
  const what = rule.old === null ? "new" : rule.new === null ? "removed" : "";
  return h(
    "li",
    { class: "change" },
    h(
      "div",
      { class: "row" },
      accept && rule.new !== null
        ? tick(name, rule.new, accept.chosen.has(rule.new), (on) => accept.choose(rule.new, on))
        : h("b", null, name),
      what && h("span", { class: "tag high" }, what),
    ),
    h("div", { class: "code wrap small" }, clipped(rule.new_text ?? rule.old_text ?? "", 300)),
    rule.changes.length > 0 && numbersList(rule.changes),
    own.length > 0 && h("div", { class: "ghosts" }, own.slice(0, 12).map(ghost)),
  );
}

/**
 * A set as it was (dashed) and as it is.
 * @param {any} term
 */
function ghost(term) {
  const [low, high] = term.axis;
  const [x, y] = [linear(low, high, 4, WIDE - 4), linear(0, 1, TALL - 16, 6)];
  const old = term.old?.shown ?? "none";
  const now = term.new?.shown ?? "none";
  return h(
    "figure",
    { class: "ghost-figure" },
    s(
      "svg",
      {
        width: WIDE,
        height: TALL,
        viewBox: `0 0 ${WIDE} ${TALL}`,
        role: "img",
        "aria-label": `${clipped(term.variable, 40)} ${clipped(term.term, 40)}: ${clipped(old, 60)} became ${clipped(now, 60)}`,
      },
      s("line", { class: "walk-base", x1: 4, x2: WIDE - 4, y1: TALL - 16, y2: TALL - 16 }),
      term.new && s("path", { class: "shade c0", d: area(term.new.curve, low, high, x, y) }),
      term.old && s("path", { class: "ghost", d: line(term.old.curve, low, high, x, y) }),
      term.new && s("path", { class: "curve c0", d: line(term.new.curve, low, high, x, y) }),
      s("text", { x: 4, y: TALL - 3 }, show(low, 3)),
      s("text", { x: WIDE - 4, y: TALL - 3, "text-anchor": "end" }, show(high, 3)),
    ),
    h(
      "figcaption",
      { class: "small wrap" },
      h("b", null, `${clipped(term.variable, 30)}.${clipped(term.term, 30)} `),
      h("span", { class: "old" }, clipped(old, 60)),
      " → ",
      clipped(now, 60),
    ),
  );
}

/** @param {any[] | null | undefined} flipped */
function flippedTable(flipped) {
  if (!flipped) return h("p", { class: "soft" }, "Open bags with labels to see which of them change their decision.");
  if (!flipped.length) return h("p", { class: "soft" }, "No bag changes its decision.");
  return h(
    "table",
    { "aria-label": "Bags that change their decision" },
    h(
      "thead",
      null,
      h(
        "tr",
        null,
        h("th", { scope: "col" }, "Bag"),
        h("th", { scope: "col" }, "Label"),
        h("th", { scope: "col" }, "Decision"),
        h("th", { scope: "col", class: "numeric" }, "Score"),
      ),
    ),
    h(
      "tbody",
      null,
      flipped.slice(0, 200).map((bag) => {
        const better = bag.label === null ? "" : String(bag.new) === String(bag.label) ? "good" : "bad";
        return h(
          "tr",
          null,
          h("td", { class: "cut", title: clipped(bag.id, 300) }, clipped(bag.id, 40)),
          h("td", null, bag.label === null ? "–" : clipped(String(bag.label), 24)),
          h(
            "td",
            { class: "wrap" },
            `${clipped(String(bag.old), 20)} → `,
            h(
              "b",
              { class: better },
              clipped(String(bag.new), 20),
              better === "good" ? " ✓" : better === "bad" ? " ✗" : "",
            ),
          ),
          h("td", { class: "numeric" }, `${show(bag.old_score, 2)} → ${show(bag.new_score, 2)}`),
        );
      }),
    ),
  );
}
