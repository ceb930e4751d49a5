// The rule viewer: one bag on all rules. Every instance is a tick on every set; the witness stands out.

import { h, replace } from "../dom.js";
import { choice, clipped, empty } from "../fields.js";
import { icon } from "../icons.js";
import { show } from "../numbers.js";
import { unreadable } from "../unreadable.js";
import { instanceTable, verdict } from "../viewer_parts.js";
import { walkThrough } from "../viewer_grid.js";

/** @param {import("../studio.js").Studio} studio */
export function viewerView(studio) {
  /** @type {any} the last answer */
  let seen = null;
  /** what is different from the bag in the data */
  let [without, extra, change] =
    /** @type {[number[], (number | null)[][], Record<string, Record<string, number>>]} */ ([[], [], {}]);
  /** @type {number | null} row of the chosen instance in what is shown */
  let chosen = null;
  /** @type {string[]} */
  let ids = [];
  let known = "";
  /** what the drawing was fitted to, and by how much its variables are narrower for that */
  let [fitted, spare] = ["", 0];

  const picker = h("div", { class: "row" });
  const said = h("div", { class: "verdict row" });
  const grid = h("div", { class: "walk scroll" });
  const rows = h("div", { class: "scroll instances" });
  const reset = h("button", { type: "button", onclick: () => restart() }, icon("undo"), "Back to the data");
  const own = h(
    "section",
    { class: "pane", "aria-label": "Instances of the bag" },
    h(
      "header",
      null,
      h("h3", null, "Instances"),
      h("span", { class: "small soft grow" }, "Choose one and drag its values in the top row: what if?"),
      reset,
      h("button", { type: "button", onclick: () => add() }, icon("add"), "Add instance"),
    ),
    rows,
  );
  const element = h(
    "section",
    null,
    h("div", { class: "view-head" }, picker, said),
    h(
      "div",
      { class: "columns viewer-columns" },
      h("section", { class: "pane", "aria-label": "From the instances to the output" }, grid),
      own,
    ),
  );

  /** @type {string | null} the output that the steps lead to */
  let output = null;
  const shown = () => (studio.state.outputs.includes(output ?? "") ? output : null);
  const changed = () =>
    studio.state.data !== null && (without.length > 0 || extra.length > 0 || Object.keys(change).length > 0);
  const wanted = () => ({
    type: "viewer",
    bag: studio.bag,
    without,
    extra,
    change,
    ...(shown() === null ? {} : { output: shown() }),
  });

  function restart() {
    [without, extra, change, chosen] = [[], [], {}, null];
    ask();
  }

  function update() {
    const { state } = studio;
    own.hidden = Boolean(state.data?.problem);
    if (state.data?.problem) {
      [known, seen] = ["", null]; // bags are asked for again when they can be read
      for (const part of [picker, said, rows]) replace(part);
      return replace(grid, unreadable(studio, "viewer"));
    }
    if (!state.data && !extra.length)
      extra = [state.variables.filter((each) => each.input).map((each) => (each.axis[0] + each.axis[1]) / 2)];
    const now = `${state.data_name}/${state.data?.n_bags}/${state.data?.n_instances}`;
    if (now !== known) {
      known = now;
      ids = [];
      [without, change, chosen] = [[], {}, null];
      if (state.data) {
        studio.look("bag-ids", "bags", {}, (answer) => {
          ids = answer.ids;
          if (studio.bag === null || !ids.includes(studio.bag)) studio.bag = ids[0] ?? null;
          drawPicker();
          ask();
        });
        return;
      }
    }
    drawPicker();
    ask();
  }

  function ask() {
    const { type, ...fields } = wanted();
    if (studio.state.data && studio.bag === null) return;
    studio.look("viewer", type, fields, draw, (error) => refuse("This bag cannot be shown", error.message));
  }

  /**
   * @param {string} title
   * @param {string} advice
   */
  function refuse(title, advice) {
    replace(said);
    replace(rows);
    replace(
      grid,
      empty(
        icon("viewer"),
        title,
        clipped(advice, 600),
        h(
          "button",
          { type: "button", onclick: () => (changed() ? restart() : studio.open("files")) },
          changed() ? "Back to the data" : "Open other data",
        ),
      ),
    );
  }

  /** Of several outputs, the one that the steps lead to. */
  const steps = () =>
    studio.state.outputs.length > 1 &&
    h(
      "label",
      { class: "row tight" },
      h("span", { class: "soft" }, "Steps to"),
      choice({
        label: "Output that the steps lead to",
        key: "viewer-output",
        value: shown() ?? studio.state.outputs[seen?.target ?? 0],
        options: studio.state.outputs.map((name) => ({ value: name, text: name })),
        changed: (name) => {
          output = name;
          ask();
        },
      }),
    );

  function drawPicker() {
    if (!ids.length) {
      replace(
        picker,
        steps(),
        h(
          "p",
          { class: "soft" },
          `${clipped(studio.state.data_gone ?? "No bags are open.", 300)} You see one instance to play with. Open data in Files to see bags.`,
        ),
      );
      return;
    }
    const at = ids.indexOf(studio.bag ?? "");
    const go = (/** @type {number} */ place) => pick(ids[(place + ids.length) % ids.length]);
    const many = ids.length > 500;
    const control = many
      ? h("input", {
          value: studio.bag ?? "",
          "aria-label": "Bag",
          "data-key": "bag",
          onchange: (/** @type {Event} */ event) => pick(/** @type {HTMLInputElement} */ (event.target).value),
        })
      : choice({
          label: "Bag",
          key: "bag",
          value: studio.bag ?? "",
          options: ids.map((id) => ({ value: id, text: id })),
          changed: pick,
        });
    replace(
      picker,
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": "Bag before",
          "data-key": "bag-before",
          onclick: () => go(at - 1),
        },
        icon("up"),
      ),
      h(
        "button",
        {
          type: "button",
          class: "icon-button",
          "aria-label": "Next bag",
          "data-key": "bag-next",
          onclick: () => go(at + 1),
        },
        icon("down"),
      ),
      h("label", { class: "row tight" }, h("span", { class: "soft" }, "Bag"), control),
      steps(),
    );
  }

  /** @param {string} id */
  function pick(id) {
    if (!ids.includes(id)) {
      studio.toasts.show(`There is no bag “${clipped(id, 60)}”.`, {
        kind: "error",
        advice: "Look it up in the Bags view.",
      });
      return;
    }
    studio.bag = id;
    restart();
    drawPicker();
  }

  /** @param {any} answer */
  function draw(answer) {
    const turned = seen?.target !== answer.target;
    seen = answer;
    if (turned) drawPicker();
    if (chosen !== null && chosen >= answer.instances.length) chosen = null;
    if (chosen === null) chosen = answer.rows.find((/** @type {any} */ row) => row.witness !== null)?.witness ?? 0;
    reset.hidden = !changed();
    replace(said, verdict(studio, answer, changed()));
    const room = `${grid.clientWidth}/${answer.columns}/${studio.state.kind}/${studio.state.additive}`;
    if (room !== fitted) [fitted, spare] = [room, 0];
    const walk = () => replace(grid, walkThrough(studio, answer, chosen, move, grid.clientWidth - spare));
    walk();
    const over = grid.scrollWidth - grid.clientWidth;
    if (over > 0 && spare === 0) {
      spare = over; // numbers are wider than expected: variables get narrower
      walk();
    }
    replace(
      rows,
      instanceTable(answer, chosen, { choose, remove, set: (row, variable, value) => move(row, variable, value) }),
    );
  }

  /** @param {number} row */
  function choose(row) {
    chosen = row;
    if (seen) draw(seen);
  }

  /**
   * Move one value of an instance: what would the rules say then?
   * @param {number} row in what is shown
   * @param {string} variable
   * @param {number} value
   */
  function move(row, variable, value) {
    chosen = row;
    const place = seen.places[row];
    if (place === null) {
      const own = row - seen.places.filter((/** @type {number | null} */ each) => each !== null).length;
      extra = extra.map((values, at) =>
        at === own ? values.map((old, d) => (seen.variables[d] === variable ? value : old)) : values,
      );
    } else change = { ...change, [place]: { ...change[place], [variable]: value } };
    ask();
  }

  /** @param {number} row */
  function remove(row) {
    const place = seen.places[row];
    if (seen.places.length === 1) {
      studio.toasts.show("A bag needs at least one instance.", {
        advice: "Add another one before you remove this one.",
      });
      return;
    }
    if (place === null)
      extra = extra.filter(
        (_, at) => at !== row - seen.places.filter((/** @type {number | null} */ each) => each !== null).length,
      );
    else without = [...without, place];
    chosen = null;
    ask();
  }

  function add() {
    if (!seen) return;
    extra = [...extra, [...seen.instances[chosen ?? 0]]];
    chosen = seen.instances.length;
    ask();
    studio.toasts.show(`Added a copy of instance ${chosen === null ? 0 : show(seen.places[chosen] ?? 0)}.`, {
      advice: "Drag its values in the top row.",
    });
  }

  return { name: "viewer", title: "Viewer", element, update };
}
