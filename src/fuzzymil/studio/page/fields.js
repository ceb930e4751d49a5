// Fields that are taken over when they are left or when Enter is pressed, and small things around them.

import { h } from "./dom.js";
import { show, typed } from "./numbers.js";

/**
 * A number that fits into a field; whole ones keep all their digits.
 * @param {number} value
 */
const short = (value) => show(value, Number.isInteger(value) && Math.abs(value) < 1e15 ? 16 : 5);

/**
 * A field for a number: Enter or leaving takes it over, Escape brings back the old one, arrow keys change it a little.
 * @param {object} given
 * @param {string} given.label
 * @param {string} given.key
 * @param {number | null} given.value
 * @param {(value: number) => void} given.changed
 * @param {(() => void) | null} [given.cleared] what an empty field means; without it an empty field is a mistake
 * @param {number} [given.step] of the arrow keys
 * @param {boolean} [given.disabled]
 * @param {string} [given.placeholder]
 */
export function numberField({
  label,
  key,
  value,
  changed,
  cleared = null,
  step = 0,
  disabled = false,
  placeholder = "",
}) {
  const full = value === null ? "" : String(value);
  const field = h("input", {
    class: "number-field",
    value: value === null ? "" : short(value),
    inputmode: "decimal",
    "aria-label": label,
    "data-key": key,
    title: full,
    disabled,
    placeholder,
  });
  const original = field.value;
  const fits = () => {
    field.removeAttribute("aria-invalid");
    field.setCustomValidity("");
  };
  const take = () => {
    if (field.value === original) return;
    const wanted = typed(field.value);
    if (wanted === null && field.value.trim() === "") {
      if (cleared) cleared();
      else field.value = original;
    } else if (wanted === null) {
      field.setAttribute("aria-invalid", "true");
      field.setCustomValidity("Type a number, such as 0.25. Escape brings back the old one.");
      field.reportValidity();
    } else changed(wanted);
  };
  field.addEventListener("input", fits);
  field.addEventListener("change", take);
  field.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && field.value !== original) {
      field.value = original;
      fits();
      event.preventDefault();
      event.stopPropagation();
    } else if (step && (event.key === "ArrowUp" || event.key === "ArrowDown")) {
      const now = typed(field.value);
      if (now === null) return;
      event.preventDefault();
      const way = event.key === "ArrowUp" ? 1 : -1;
      changed(now + way * step * (event.shiftKey ? 10 : event.altKey ? 0.1 : 1));
    }
  });
  return field;
}

/**
 * @param {string} name
 * @param {Node} control
 */
export const field = (name, control) => h("label", { class: "field" }, h("span", null, name), control);

/**
 * A choice from a few words.
 * @param {object} given
 * @param {string} given.label
 * @param {string} given.key
 * @param {string} given.value
 * @param {{value: string, text: string}[]} given.options
 * @param {(value: string) => void} given.changed
 * @param {boolean} [given.disabled]
 */
export function choice({ label, key, value, options, changed, disabled = false }) {
  return h(
    "select",
    {
      "aria-label": label,
      "data-key": key,
      value,
      disabled,
      onchange: (/** @type {Event} */ event) => changed(/** @type {HTMLSelectElement} */ (event.target).value),
    },
    options.map((each) => h("option", { value: each.value }, clipped(each.text, 60))),
  );
}

/**
 * Buttons of which one is pressed.
 * @param {string} label
 * @param {{value: string, text: string}[]} options
 * @param {string} value
 * @param {(value: string) => void} changed
 */
export function segmented(label, options, value, changed) {
  return h(
    "div",
    { class: "group", role: "group", "aria-label": label },
    options.map((each) =>
      h(
        "button",
        {
          type: "button",
          "aria-pressed": String(each.value === value),
          "data-key": `${label}-${each.value}`,
          onclick: () => changed(each.value),
        },
        each.text,
      ),
    ),
  );
}

/**
 * A switch with its text.
 * @param {string} text
 * @param {boolean} checked
 * @param {(checked: boolean) => void} changed
 * @param {string} key
 */
export const check = (text, checked, changed, key) =>
  h(
    "label",
    { class: "check" },
    h("input", {
      type: "checkbox",
      checked,
      "data-key": key,
      onchange: (/** @type {Event} */ event) => changed(/** @type {HTMLInputElement} */ (event.target).checked),
    }),
    h("span", null, text),
  );

/**
 * What a view shows when there is nothing to show: why, and what to do about it.
 * @param {Node} drawing
 * @param {string} title
 * @param {string} advice
 * @param {...Node} actions
 */
export const empty = (drawing, title, advice, ...actions) =>
  h(
    "div",
    { class: "empty" },
    drawing,
    h("h3", null, title),
    h("p", null, advice),
    h("div", { class: "row" }, actions),
  );

const TURNS = /[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufefc]/;

/**
 * A text of at most so many characters; names can be of any length. One that is written from right to left, or that
 * turns the direction, is isolated, so that it does not turn what stands next to it.
 * @param {string} text
 * @param {number} most
 */
export function clipped(text, most) {
  const short = text.length > most ? `${text.slice(0, most - 1).trimEnd()}…` : text;
  return TURNS.test(short) ? `\u2068${short}\u2069` : short;
}

/**
 * The few figures that matter most, with their names.
 * @param {[string, string][]} pairs
 */
export const figures = (pairs) =>
  h(
    "dl",
    { class: "figures" },
    pairs.map(([name, value]) => h("div", null, h("dt", null, name), h("dd", null, value))),
  );
