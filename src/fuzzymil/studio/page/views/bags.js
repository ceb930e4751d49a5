// All bags as a table, and why one of them was decided as it was.

import { h, replace } from "../dom.js";
import { explanation } from "../explanation.js";
import { clipped, empty, segmented } from "../fields.js";
import { icon } from "../icons.js";
import { counted, degree, show, signed } from "../numbers.js";
import { Table } from "../table.js";
import { downloadTable } from "../transfer.js";
import { unreadable } from "../unreadable.js";

/**
 * @typedef {object} Row
 * @property {number} place
 * @property {string} id
 * @property {string | number | null} label
 * @property {number | null} score
 * @property {number | null} probability
 * @property {string | number} decision
 * @property {boolean | null} right
 * @property {string | number | null} committee the decision of all members together
 * @property {number | null} error of a number, by which the score is above its label
 * @property {number} n
 * @property {boolean} uncovered
 * @property {string | number | null} before the decision of the reference version, if it was another one
 * @property {number | null} shift of the score since then
 */

/** @param {import("../studio.js").Studio} studio */
export function bagsView(studio) {
  let [search, only] = ["", "all"];
  /** @type {Row[]} */
  let rows = [];
  const tools = h("div", { class: "row" });
  const found = h("span", { class: "small soft", role: "status" });
  const why = h("div", { class: "body scroll grow" });
  const heading = h("h3", { class: "cut" }, "Explanation");
  const viewer = h(
    "button",
    { type: "button", onclick: () => studio.open("viewer") },
    icon("viewer"),
    "Open in the viewer",
  );
  const fetch = h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": "Download these bags as CSV",
      title: "Download the bags that are listed, in this order, as CSV",
      "data-key": "download-bags",
      onclick: () => downloadRows(),
    },
    icon("download"),
  );
  const labels = (/** @type {Row} */ row) => (row.label === null ? "–" : clipped(String(row.label), 40));
  /** @type {import("../table.js").Column<Row>[]} */
  const columns = [
    {
      key: "id",
      title: "Bag",
      width: "m",
      sort: (row) => row.id,
      cell: (row) => clipped(row.id, 60),
      hint: (row) => clipped(row.id, 300),
    },
    {
      key: "label",
      title: "Label",
      width: "s",
      sort: (row) => row.label,
      cell: labels,
      hint: (row) => clipped(String(row.label ?? ""), 300),
    },
    {
      key: "score",
      title: "Score",
      width: "m",
      numeric: true,
      sort: (row) => row.score,
      cell: (row) => show(row.score, 3),
      hint: (row) => String(row.score),
    },
    {
      key: "probability",
      title: "Prob.",
      width: "xs",
      numeric: true,
      sort: (row) => row.probability,
      cell: (row) => degree(row.probability),
    },
    {
      key: "decision",
      title: "Decision",
      width: "m",
      sort: (row) => row.decision,
      hint: (row) => clipped(String(row.decision), 300),
      cell: (row) => {
        const text = typeof row.decision === "number" ? show(row.decision, 4) : clipped(row.decision, 30);
        return row.right === null
          ? text
          : h("span", { class: row.right ? "" : "bad strong" }, `${row.right ? "✓" : "✗"} ${text}`);
      },
    },
    {
      key: "committee",
      title: "Committee",
      width: "m",
      sort: (row) => row.committee,
      hint: () => "What all members decide together",
      cell: (row) => {
        if (typeof row.committee !== "string") return show(row.committee, 4);
        const text = clipped(row.committee, 30);
        if (row.right === null) return text;
        const right = row.committee === String(row.label);
        return h("span", { class: right ? "" : "bad strong" }, `${right ? "✓" : "✗"} ${text}`);
      },
    },
    {
      key: "error",
      title: "Error",
      width: "m",
      numeric: true,
      sort: (row) => (row.error === null ? null : Math.abs(row.error)),
      cell: (row) => (row.error === null ? "–" : signed(row.error)),
      hint: () => "Score minus label; sorted by its size",
    },
    {
      key: "changed",
      title: "Changed",
      width: "l",
      sort: (row) => (row.shift === null ? null : Math.abs(row.shift) + (row.before === null ? 0 : 1e6)),
      cell: (row) =>
        row.before !== null
          ? h("span", { class: "tag high" }, `was ${clipped(String(row.before), 10)}`)
          : row.shift
            ? h("span", { class: "soft" }, `${row.shift > 0 ? "+" : ""}${show(row.shift, 2)}`)
            : null,
      hint: (row) =>
        `${row.before === null ? "Since" : `Was ${clipped(String(row.before), 80)} in`} “${clipped(studio.state.reference.name, 80)}”`,
    },
    { key: "n", title: "Inst.", width: "xs", numeric: true, sort: (row) => row.n },
  ];
  /** @type {boolean | null} whether the rules tell classes apart; null: not known yet */
  let classes = null;
  let together = false; // whether there is a committee
  const table = new Table({
    label: "Bags",
    id: (/** @type {Row} */ row) => row.place,
    chosen: (row) => {
      studio.bag = row.id;
      explain();
    },
    columns,
  });
  const content = h(
    "div",
    { class: "columns bags-columns" },
    h("section", { class: "pane", "aria-label": "Table of bags" }, h("header", null, tools, found, fetch), table.element),
    h("section", { class: "pane", "aria-label": "Explanation" }, h("header", null, heading, viewer), why),
  );
  const nothing = h("div", { class: "grow" });
  const element = h("section", null, content, nothing);

  /** What the table lists now, with all digits. */
  function downloadRows() {
    const keys = /** @type {(keyof Row)[]} */ (["id", "label", "decision", "score", "probability", "right", "error", "n"]);
    const known = keys.filter((key) => table.rows.some((row) => row[key] !== null));
    const names = { id: "bag", n: "instances" };
    const head = known.map((key) => (key === "id" || key === "n" ? names[key] : key));
    const name = `${studio.state.name.replace(/[^\p{L}\p{N} _-]/gu, "").slice(0, 60) || "rules"}-predictions.csv`;
    downloadTable(studio.element, name, [head, ...table.rows.map((row) => known.map((key) => row[key]))]);
  }

  function drawTools() {
    const options = [
      { value: "all", text: "All" },
      ...(classes ? [{ value: "wrong", text: "Wrong" }] : []),
      { value: "changed", text: "Changed" },
      { value: "uncovered", text: "No rule fires" },
    ];
    replace(
      tools,
      h("input", {
        type: "search",
        value: search,
        placeholder: "Find a bag",
        "aria-label": "Find bags by name or label",
        "data-key": "search",
        oninput: (/** @type {Event} */ event) => {
          search = /** @type {HTMLInputElement} */ (event.target).value;
          filter();
        },
      }),
      segmented("Which bags", options, only, (value) => {
        only = value;
        drawTools();
        filter();
      }),
    );
  }

  function filter() {
    const text = search.trim().toLowerCase();
    /** @type {Record<string, (row: Row) => boolean>} */
    const kinds = {
      all: () => true,
      wrong: (row) => row.right === false,
      changed: (row) => (classes ? row.before !== null : Boolean(row.shift)),
      uncovered: (row) => row.uncovered,
    };
    table.filter(
      (row) =>
        kinds[only](row) &&
        (!text || row.id.toLowerCase().includes(text) || String(row.label).toLowerCase().includes(text)),
    );
    found.textContent =
      table.rows.length === rows.length
        ? counted(rows.length, "bag")
        : `${table.rows.length.toLocaleString("en-US")} of ${counted(rows.length, "bag")}`;
  }

  /** Show the columns and filters that make sense for classes, or for numbers. */
  function suit() {
    const now = studio.state.classes !== null;
    if (now === classes && together === (studio.state.committee !== null)) return;
    classes = now;
    together = studio.state.committee !== null;
    if (!classes && only === "wrong") only = "all";
    const senseless = [
      ...(classes ? ["error"] : ["probability", "decision"]),
      ...(together ? ["probability", "n"] : ["committee"]), // the explanation has both
    ];
    const sensible = columns.filter((column) => !senseless.includes(column.key));
    table.divide(sensible.map((column) => (column.key === "committee" ? { ...column, numeric: !classes } : column)));
    drawTools();
  }

  /** @param {any} answer */
  function draw(answer) {
    const { before } = answer;
    suit();
    rows = answer.ids.map((/** @type {string} */ id, /** @type {number} */ at) => ({
      place: at,
      id,
      label: answer.labels?.[at] ?? null,
      score: answer.scores[at],
      probability: answer.probabilities?.[at] ?? null,
      decision: answer.decisions[at],
      right: answer.right?.[at] ?? null,
      committee: answer.committee?.decisions[at] ?? null,
      error: typeof answer.labels?.[at] === "number" ? answer.scores[at] - answer.labels[at] : null,
      n: answer.n_instances[at],
      uncovered: answer.uncovered[at],
      before:
        before && typeof before.decisions[at] !== "number" && before.decisions[at] !== answer.decisions[at]
          ? before.decisions[at]
          : null,
      shift: before ? answer.scores[at] - before.scores[at] : null,
    }));
    table.given = rows;
    filter();
    if (studio.bag === null || !rows.some((row) => row.id === studio.bag)) studio.bag = rows[0]?.id ?? null;
    table.select(rows.find((row) => row.id === studio.bag)?.place ?? null);
    explain();
  }

  function explain() {
    if (studio.bag === null) return;
    studio.look(
      "explain",
      "explain",
      { bag: studio.bag },
      (answer) => {
        heading.textContent = `Why ${clipped(answer.bag_id, 60)}?`;
        replace(why, explanation(studio, answer));
      },
      (error) => replace(why, empty(icon("bags"), "No explanation", error.message)),
    );
  }

  function update() {
    const { data } = studio.state;
    content.hidden = !data || data.problem !== null;
    nothing.hidden = !content.hidden;
    if (data?.problem) return replace(nothing, unreadable(studio, "bags"));
    if (!data) {
      replace(
        nothing,
        empty(
          icon("bags"),
          studio.state.data_gone ? "The data are gone" : "No bags yet",
          clipped(studio.state.data_gone ?? "", 400) ||
            "Open a CSV file with one row per instance: a column names the bag, another its label.",
          h("button", { type: "button", class: "primary", onclick: () => studio.open("files") }, "Open data"),
        ),
      );
      return;
    }
    studio.look("bags", "bags", {}, draw);
  }

  return { name: "bags", title: "Bags", element, update };
}
