// One term of a variable: its name, shape and numbers, and what can be done with it.

import { h } from "./dom.js";
import { choice, clipped, field, numberField } from "./fields.js";
import { icon } from "./icons.js";
import { swatch } from "./set_chart.js";

/** @typedef {import("./types.js").Variable} Variable */
/** @typedef {import("./types.js").Term} Term */

/**
 * @param {import("./studio.js").Studio} studio
 * @param {Variable} variable
 * @param {Term} term
 * @param {number} place
 * @param {boolean} chosen
 * @param {object} act
 * @param {(variable: string, term: string | null) => void} act.choose
 * @param {(what: string, name: string, own: {variable: string, term: string}) => void} act.rename
 */
export function termRow(studio, variable, term, place, chosen, act) {
  const own = { variable: variable.name, term: term.name };
  const named = clipped(term.name, 60);
  const [low, high] = variable.axis;
  const families = studio.hello?.families ?? [];
  const known = families.some((each) => each.name === term.family);
  const used = term.used_by.length
    ? `used by ${term.used_by.length === 1 ? "rule" : "rules"} ${term.used_by.slice(0, 6).join(", ")}${term.used_by.length > 6 ? " …" : ""}`
    : "not used";
  return h(
    "li",
    { class: chosen ? "term chosen" : "term" },
    h(
      "button",
      {
        type: "button",
        class: "bare term-name",
        "aria-pressed": String(chosen),
        "data-key": `term-${term.name}`,
        onclick: () => act.choose(variable.name, chosen ? null : term.name),
      },
      swatch(place),
      h("b", { class: "cut", title: clipped(term.name, 300) }, clipped(term.name, 80)),
      h("span", { class: "soft small cut" }, used),
    ),
    choice({
      label: `Shape of ${named}`,
      key: `family-${term.name}`,
      value: term.family,
      options: [
        ...(known ? [] : [{ value: term.family, text: term.family.replaceAll("_", " ") }]),
        ...families.map((each) => ({ value: each.name, text: each.title })),
      ],
      disabled: term.category,
      changed: (family) => studio.edit("set_term", { ...own, family }),
    }),
    h(
      "div",
      { class: "row parameters" },
      term.parameters.length <= 6
        ? term.parameters.map((parameter, number) =>
            field(
              parameter.name.replaceAll("_", " "),
              numberField({
                label: `${parameter.name.replaceAll("_", " ")} of ${named}`,
                key: `parameter-${term.name}-${number}`,
                value: parameter.value,
                step: (high - low) / 100,
                disabled: term.category,
                changed: (value) =>
                  studio.edit("set_term", {
                    ...own,
                    parameters: term.parameters.map((each, at) => (at === number ? value : each.value)),
                  }),
              }),
            ),
          )
        : h("code", { class: "cut", title: clipped(term.shown, 300) }, clipped(term.shown, 90)),
    ),
    h(
      "div",
      { class: "row tight term-tools" },
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-pressed": String(term.frozen),
          "aria-label": `Lock ${named} against training`,
          title: term.frozen ? "Locked: training does not move this set" : "Lock: keep training from moving this set",
          "data-key": `lock-${term.name}`,
          onclick: () => studio.edit("freeze", { ...own, frozen: !term.frozen }),
        },
        icon(term.frozen ? "lock" : "unlock"),
      ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": `Rename ${named}`,
          title: "Rename",
          "data-key": `rename-${term.name}`,
          onclick: () => act.rename("term", term.name, own),
        },
        icon("edit"),
      ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": `Delete ${named}`,
          title: "Delete",
          "data-key": `delete-${term.name}`,
          onclick: () => studio.edit("delete_term", own),
        },
        icon("remove"),
      ),
    ),
  );
}
