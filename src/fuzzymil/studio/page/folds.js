// Held-out folds: how well the rules do on bags that were not used to train them or to choose the threshold.

import { h, replace } from "./dom.js";
import { check, choice, field, figures } from "./fields.js";
import { icon } from "./icons.js";
import { counted, percent, show } from "./numbers.js";

/** @param {import("./studio.js").Studio} studio */
export function foldsPane(studio) {
  /** @type {any} */
  let found = null;
  let [k, train] = [5, false];
  const element = h("div", { class: "body scroll grow" });
  studio.connection.on("folds", (message) => {
    found = message;
    draw();
  });
  studio.connection.on("training", (message) => {
    if (message.kind !== "folds" || message.running || !found?.running) return;
    found = found.folds.length ? { ...found, running: false } : null; // stopped, or failed
    if (message.message && message.message !== "Canceled") studio.toasts.show(message.message, { kind: "error" });
    draw();
  });

  async function start() {
    found = { running: true, done: 0, k, folds: [] };
    draw();
    const answer = await studio.request("folds", { k, train });
    if (answer?.running) return; // training tells about each fold as it is done
    found = answer;
    draw();
  }

  function draw() {
    const running = found?.running ?? false;
    replace(
      element,
      h(
        "p",
        { class: "small soft" },
        train
          ? "The rules are trained on the other folds each time and tested on bags they have not seen."
          : studio.state.classes
            ? "The rules stay as they are; only the threshold is chosen on the other folds."
            : "The rules stay as they are: this shows how much the error varies from fold to fold.",
      ),
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
        check("train on the other folds", train, (value) => ((train = value), draw()), "folds-train"),
        h(
          "button",
          {
            type: "button",
            class: running ? "" : "primary",
            "data-key": "folds-go",
            onclick: () => void (running ? studio.request("cancel") : start()),
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
    add("right, held out", found.accuracy, percent);
    add("AUC", found.auc, three);
    add("error (RMSE), held out", found.rmse, (value) => show(value, 3));
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
          numbers ? head("Error") : [head("Right"), head("AUC")],
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
