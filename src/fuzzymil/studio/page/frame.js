// The frame around the views: the bar on top, the tabs, and the score that is always in sight.

import { h, replace, s } from "./dom.js";
import { guide } from "./guide.js";
import { frontierCurve } from "./frontier.js";
import { icon } from "./icons.js";
import { choice, clipped } from "./fields.js";
import { counted, percent, show } from "./numbers.js";

/** @typedef {import("./studio.js").Studio} Studio */

function brand() {
  return h(
    "div",
    { class: "brand" },
    s(
      "svg",
      { viewBox: "0 0 32 32", "aria-hidden": "true" },
      s("rect", { width: 32, height: 32, rx: 7, fill: "#0072B2" }),
      s("path", {
        d: "M4 25C10 25 9 8 13 8s3 17 9 17",
        fill: "none",
        stroke: "#fff",
        "stroke-width": 2.6,
        "stroke-linecap": "round",
      }),
      s("path", {
        d: "M11 25c6 0 5-13 9-13s3 13 8 13",
        fill: "none",
        stroke: "#F5B041",
        "stroke-width": 2.6,
        "stroke-linecap": "round",
      }),
    ),
    h("h1", { class: "unseen" }, "fuzzymil studio"),
    h("span", { "aria-hidden": "true" }, "fuzzymil ", h("span", null, "studio")),
  );
}

/** @param {Studio} studio */
export function frame(studio) {
  const status = h("div", { class: "status", role: "status" });
  const what = h("div", { class: "what" });
  const undo = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": "Undo", onclick: () => studio.undo() },
    icon("undo"),
  );
  const redo = h(
    "button",
    { type: "button", class: "icon-button", "aria-label": "Redo", onclick: () => studio.redo() },
    icon("redo"),
  );
  const theme = h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": "Switch between light and dark",
      title: "Light or dark",
      onclick: () => studio.theme.toggle(),
    },
    icon("theme"),
  );
  const help = h(
    "button",
    {
      type: "button",
      class: "icon-button",
      "aria-label": "Help: keyboard and guided start",
      title: "Help",
      onclick: () => shortcuts(studio),
    },
    icon("help"),
  );
  const bar = h("header", { class: "topbar" }, brand(), what, status, undo, redo, theme, help);
  const board = h("dl", { class: "scoreboard", "aria-label": "How the rules do on the bags" });

  const curve = frontierCurve(studio);
  /** @type {Map<string, HTMLButtonElement>} */
  const tabs = new Map();
  /** @type {Map<string, HTMLElement>} */
  const counts = new Map();
  for (const view of studio.views) {
    const count = h("span", { class: "count", hidden: true });
    counts.set(view.name, count);
    tabs.set(
      view.name,
      h(
        "button",
        {
          type: "button",
          role: "tab",
          class: "tab",
          id: `tab-${view.name}`,
          "aria-controls": `view-${view.name}`,
          "aria-selected": "false",
          tabindex: "-1",
          title: view.title,
          onclick: () => studio.open(view.name),
        },
        icon(view.name),
        h("span", null, view.title),
        count,
      ),
    );
    view.element.classList.add("view");
    view.element.prepend(h("h2", { class: "unseen" }, view.title)); // between the page and its panes
    view.element.id = `view-${view.name}`;
    view.element.setAttribute("role", "tabpanel");
    view.element.setAttribute("aria-labelledby", `tab-${view.name}`);
    view.element.setAttribute("tabindex", "-1");
    view.element.hidden = true;
  }
  const list = h("div", { role: "tablist", "aria-label": "Views", "aria-orientation": "vertical", class: "tabs" }, [
    ...tabs.values(),
  ]);
  list.addEventListener("keydown", (event) => {
    const names = [...tabs.keys()];
    const at = names.indexOf(studio.view?.name ?? names[0]);
    /** @type {Record<string, number>} */
    const targets = {
      ArrowDown: at + 1,
      ArrowRight: at + 1,
      ArrowUp: at - 1,
      ArrowLeft: at - 1,
      Home: 0,
      End: names.length - 1,
    };
    if (!(event.key in targets)) return;
    event.preventDefault();
    studio.open(names[(targets[event.key] + names.length) % names.length], { focus: true });
  });
  const stage = h(
    "main",
    { class: "stage" },
    studio.views.map((view) => view.element),
  );
  const skip = h(
    "button",
    { type: "button", class: "skip", onclick: () => studio.view?.element.focus() },
    "Skip to the view",
  );

  // What takes longer than a moment is said; what is quick is not, so that nothing flickers.
  let timer = 0;
  let online = true;
  const say = (/** @type {string} */ text) => replace(status, h("span", { class: "dot", "aria-hidden": "true" }), text);
  let unapplied = 0; // mistakes in a text that is not yet part of the rules
  const saved = () =>
    unapplied
      ? `Text not applied: ${counted(unapplied, "mistake")}`
      : studio.latest?.autosave
        ? "Changes are not kept on disk"
        : "All changes saved";
  studio.connection.on("busy", ({ busy }) => {
    studio.element.toggleAttribute("data-busy", busy);
    if (busy && timer) return;
    clearTimeout(timer);
    timer = busy ? setTimeout(() => online && say("Working …"), 400) : 0;
    if (!busy && online) say(saved());
  });

  return {
    stage,
    parts: [
      skip,
      bar,
      h("nav", { class: "rail", "aria-label": "Views and score" }, list, studio.toasts.element, curve.element, board),
      stage,
    ],

    /** @param {boolean} connected */
    connected(connected) {
      online = connected;
      bar.classList.toggle("offline", !connected);
      say(connected ? saved() : "Not connected – if the studio was started again, open its new address");
    },

    update() {
      const { state } = studio;
      curve.update();
      status.title = state.autosave
        ? clipped(state.autosave, 300)
        : "Every change is kept in the folder .fuzzymil-studio";
      bar.classList.toggle("unkept", state.autosave !== null);
      undo.disabled = state.undo === null;
      redo.disabled = state.redo === null;
      undo.title = state.undo ? `Undo: ${clipped(state.undo, 80)}` : "Nothing to undo";
      redo.title = state.redo ? `Redo: ${clipped(state.redo, 80)}` : "Nothing to redo";
      replace(
        what,
        h("b", { class: "cut", title: clipped(state.name, 300) }, clipped(state.name, 80)),
        h(
          "span",
          { class: "soft small cut" },
          [
            counted(state.rules.length, "rule"),
            state.data
              ? `${counted(state.data.n_bags, "bag")}, ${counted(state.data.n_instances, "instance")}`
              : "no bags",
          ].join(" · "),
        ),
        state.committee && members(studio, state.committee),
      );
    },

    /**
     * Show the score of the rules as they are now, also in the middle of a drag.
     * @param {import("./types.js").Score | null} score
     */
    score(score) {
      const text = (/** @type {string} */ name, /** @type {string} */ value, look = "") =>
        h("div", null, h("dt", null, name), h("dd", { class: look }, value));
      const problem = studio.state.data?.problem;
      if (!score) {
        replace(
          board,
          h(
            "div",
            null,
            h(
              "dt",
              null,
              problem
                ? "The rules cannot read the bags"
                : studio.state.data
                  ? "No labels"
                  : studio.state.data_gone
                    ? "The data are gone"
                    : "No bags yet",
            ),
          ),
        );
        return;
      }
      this.badge("bags", score.changed ? String(score.changed) : "", true);
      const figure = score.accuracy ?? score.rmse;
      replace(
        board,
        figure !== null &&
          h(
            "div",
            null,
            h("dt", null, score.accuracy === null ? "error" : "accuracy"),
            h("dd", { class: "figure" }, score.accuracy === null ? show(figure, 3) : percent(figure)),
          ),
        score.right !== null && text("bags", `${score.right} of ${score.n}`),
        score.auc !== null && text("AUC", score.auc.toFixed(3)),
        score.committee !== null &&
          text("committee", score.accuracy === null ? show(score.committee, 3) : percent(score.committee)),
        score.uncovered > 0 && text("no rule fires", String(score.uncovered), "high"),
        score.changed > 0 && text("changed", String(score.changed), "high"),
      );
    },

    /** @param {number} mistakes of a text that is therefore not applied */
    pending(mistakes) {
      unapplied = mistakes;
      bar.classList.toggle("pending", mistakes > 0);
      if (online) say(saved());
    },

    /**
     * @param {string} name
     * @param {string} text
     * @param {boolean} [alarm]
     */
    badge(name, text, alarm = false) {
      const count = counts.get(name);
      if (!count) return;
      count.hidden = !text;
      count.textContent = text;
      count.classList.toggle("alarm", alarm);
    },

    /**
     * @param {string} name
     * @param {boolean} focus
     */
    opened(name, focus) {
      for (const [each, tab] of tabs) {
        tab.setAttribute("aria-selected", String(each === name));
        tab.tabIndex = each === name ? 0 : -1;
        if (each === name && focus) tab.focus();
      }
      for (const view of studio.views) view.element.hidden = view.name !== name;
    },
  };
}

/**
 * Which member of a committee is shown.
 * @param {Studio} studio
 * @param {{n: number, member: number}} committee
 */
const members = (studio, { n, member }) =>
  h(
    "label",
    {
      class: "members",
      title: `The model averages ${n} rule bases. You see and change one of them; the others stay as they are.`,
    },
    h("span", { class: "soft" }, "Member"),
    choice({
      label: "Member of the committee that is shown",
      key: "member",
      value: String(member),
      options: Array.from({ length: n }, (_, place) => ({ value: String(place), text: `${place + 1} of ${n}` })),
      changed: (place) => studio.edit("show_member", { member: Number(place) }),
    }),
  );

/** @param {Studio} studio */
function shortcuts(studio) {
  const keys = [
    ["Ctrl+Z, Ctrl+Shift+Z", "undo and redo, as far back as you like"],
    ["Ctrl+S", "go to Files, to save or export"],
    ["Tab, Shift+Tab", "go from one control to the next; the outline shows where you are"],
    ["↑ ↓ in the tabs", "change the view"],
    ["← → on a handle", "move it by 1% of the axis; with Shift 10%, with Alt 0.1%"],
    ["Ctrl+Space", "complete a word in the rule text"],
    ["↑ ↓, Enter in a table", "choose a row"],
    ["Escape", "close a dialog or a list"],
  ];
  const tour = h(
    "button",
    {
      type: "button",
      class: "plain",
      onclick: () => {
        studio.element.querySelector("dialog")?.close();
        guide(studio);
      },
    },
    "Show the guided start",
  );
  void studio.ask({
    title: "Help",
    body: [
      h("div", { class: "row" }, h("h3", { class: "grow" }, "Keyboard"), tour),
      h(
        "table",
        null,
        h(
          "tbody",
          null,
          keys.map(([key, use]) => h("tr", null, h("td", null, h("kbd", null, key)), h("td", null, use))),
        ),
      ),
    ],
  });
}
