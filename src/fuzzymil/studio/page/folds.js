// Held-out folds: how well rules do on bags that did not shape them. Where nothing is held out, this is said.

import { h, replace } from "./dom.js";
import { choice, field, figures } from "./fields.js";
import { icon } from "./icons.js";
import { counted, percent, show } from "./numbers.js";

/** @param {import("./studio.js").Studio} studio */
export function foldsPane(studio) {
  /** @type {any} */
  let found = null;
  let k = 5;
  /** @type {string | null} "train", "learn" or "": what each fold does with the other ones; null: what fits the rules */
  let wish = null;
  const refit = () => wish ?? (["learn", "model"].includes(studio.state.learned) ? "learn" : "train");
  const element = h("div", { class: "body scroll grow" });
  studio.connection.on("folds", (message) => {
    found = message;
    draw();
  });
  studio.connection.on("training", (message) => {
    if (message.kind !== "folds" || message.running || !found?.running) return;
    found = found.folds.length ? { ...found, running: false } : null; // stopped, or failed
    const own = message.message.startsWith("Stopped");
    if (message.message) studio.toasts.show(message.message, own ? {} : { kind: "error" });
    draw();
  });

  async function start() {
    found = { running: true, done: 0, k, folds: [] };
    draw();
    const answer = await studio.request("folds", { k, ...(refit() ? { refit: refit() } : {}) });
    if (answer?.running) return; // training tells about each fold as it is done
    found = answer;
    draw();
  }

  function explained() {
    const { learned, classes } = studio.state;
    if (refit() === "learn")
      return "Other rules are chosen from the other folds each time, and tested on bags that they have not seen.";
    if (refit() === "train")
      return learned === "train"
        ? "The rules as they were before training are trained on the other folds each time, and tested on bags that they have not seen. What you changed afterwards is not repeated."
        : "The rules are trained on the other folds each time, and tested on bags that they have not seen.";
    const known = learned ? "They were made from these bags" : "They may have been written with these bags in mind";
    return `The rules stay as they are${classes ? "; only the threshold is chosen on the other folds" : ""}. ${known}: nothing is held out.`;
  }

  function draw() {
    const running = found?.running ?? false;
    replace(
      element,
      h("p", { class: "small soft" }, explained()),
      h(
        "div",
        { class: "row" },
        field(
          "Folds",
          choice({
            label: "Number of folds",
            key: "folds-k",
            value: String(k),
            options: ["3", "5", "10"].map((value) => ({ value, text: value })),
            changed: (value) => (k = Number(value)),
            disabled: running,
          }),
        ),
        field(
          "In each fold",
          choice({
            label: "What happens in each fold",
            key: "folds-refit",
            value: refit(),
            options: [
              { value: "train", text: "train these rules" },
              { value: "learn", text: "choose new rules" },
              { value: "", text: "keep the rules" },
            ],
            changed: (value) => {
              wish = value;
              draw();
            },
            disabled: running,
          }),
        ),
        h(
          "button",
          {
            type: "button",
            class: running ? "" : "primary",
            "data-key": "folds-go",
            onclick: () => void (running ? studio.request("stop") : start()),
          },
          icon(running ? "stop" : "play"),
          running ? "Stop" : "Run",
        ),
      ),
      running && progress(),
      found && !running && summary(),
      found?.folds?.length > 0 && table(),
    );
  }

  const progress = () =>
    h(
      "div",
      { class: "row" },
      h("progress", { max: found.k, value: found.done, "aria-label": "Folds done" }),
      h("span", { class: "small soft" }, `${found.done} of ${counted(found.k, "fold")}`),
    );

  function summary() {
    /** @type {[string, string][]} */
    const shown = [];
    const three = (/** @type {number} */ value) => value.toFixed(3);
    const add = (
      /** @type {string} */ name,
      /** @type {any} */ pair,
      /** @type {(value: number) => string} */ text,
    ) => {
      if (pair && pair[0] !== null) shown.push([name, `${text(pair[0])} ± ${text(pair[1] ?? 0)}`]);
    };
    const name = (/** @type {string} */ what) =>
      found.held_out ? `${what}, held out` : studio.state.learned ? `training ${what}` : `${what}, nothing held out`;
    add(name("accuracy"), found.accuracy, percent);
    add(name("AUC"), found.auc, three);
    add(name("error (RMSE)"), found.rmse, (value) => show(value, 3));
    return figures(shown);
  }

  function table() {
    const numbers = found.folds[0].rmse !== undefined;
    const cell = (/** @type {string} */ text) => h("td", { class: "numeric" }, text);
    const head = (/** @type {string} */ text) => h("th", { scope: "col", class: "numeric" }, text);
    return h(
      "table",
      { "aria-label": "Held-out folds" },
      h(
        "thead",
        null,
        h(
          "tr",
          null,
          h("th", { scope: "col" }, "Fold"),
          head("Bags"),
          numbers ? head("Error") : [head("Accuracy"), head("AUC")],
        ),
      ),
      h(
        "tbody",
        null,
        found.folds.map((/** @type {any} */ fold, /** @type {number} */ at) =>
          h(
            "tr",
            null,
            h("th", { scope: "row" }, String(at + 1)),
            cell(String(fold.n)),
            numbers
              ? cell(show(fold.rmse, 4))
              : [
                  cell(fold.accuracy === null ? "–" : percent(fold.accuracy)),
                  cell(fold.auc === null ? "–" : fold.auc.toFixed(3)),
                ],
          ),
        ),
      ),
    );
  }

  return { element, draw };
}
