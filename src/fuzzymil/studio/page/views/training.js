// Training in place: what may move and how far, the loss as it falls, and the difference to accept rule by rule.

import { differenceParts } from "../difference.js";
import { h, replace } from "../dom.js";
import { check, clipped, empty, field, numberField } from "../fields.js";
import { icon } from "../icons.js";
import { lossChart } from "../loss_chart.js";
import { counted, show } from "../numbers.js";
import { unreadable } from "../unreadable.js";

/** @param {import("../studio.js").Studio} studio */
export function trainingView(studio) {
  const wanted = {
    sets: true,
    conclusions: true,
    ordered: true,
    signs: false,
    overlap: /** @type {number | null} */ (null),
    low: /** @type {number | null} */ (null),
    high: /** @type {number | null} */ (null),
    stay: 0,
    epochs: 200,
    rate: /** @type {number | null} */ (null),
  };
  /** @type {any} */
  let progress = null;
  /** @type {any} */
  let proposal = null;
  /** @type {Set<number>} */
  let accepted = new Set();
  let withDefault = true;
  let warmed = false;
  /** @type {boolean | null} whether a proposal waits for an answer; null: not known yet */
  let waits = null;

  const settings = h("div", { class: "body scroll grow" });
  const start = h("footer", { class: "pane-foot row" });
  const loss = h("div", { class: "body" });
  const result = h("div", { class: "body scroll grow" });
  const actions = h("div", { class: "row" });
  const heading = h("h3", null, "What training proposes");
  const content = h(
    "div",
    { class: "columns training-columns" },
    h(
      "section",
      { class: "pane", "aria-label": "Settings" },
      h("header", null, h("h3", null, "What may move")),
      settings,
      start,
    ),
    h(
      "div",
      { class: "stack" },
      h("section", { class: "pane loss-pane", "aria-label": "Loss" }, h("header", null, h("h3", null, "Loss")), loss),
      h("section", { class: "pane grow", "aria-label": "Difference" }, h("header", null, heading, actions), result),
    ),
  );
  const nothing = h("div", { class: "grow" });
  const element = h("section", null, content, nothing);

  studio.connection.on("connection", () => {
    progress = waits = null; // what was pushed in the meantime is lost: the next state tells
  });
  studio.connection.on("training", (message) => {
    if (message.kind === "folds") return; // those are shown in Validation
    progress = message;
    studio.frame.badge("training", message.running ? "…" : "", false);
    if (!message.running && message.message === "Canceled") studio.toasts.show("Training was canceled.");
    else if (!message.running && message.message.startsWith("Stopped")) studio.toasts.show(message.message);
    else if (!message.running && message.message) studio.toasts.show(message.message, { kind: "error" });
    if (studio.view?.name === "training") draw();
  });
  studio.connection.on("proposal", (message) => {
    waits = message.rules !== null; // without rules it was rejected, perhaps in another window
    studio.frame.badge("training", waits ? "1" : "", true);
    if (studio.view?.name === "training") askForProposal();
    else if (waits)
      studio.toasts.show("Training has finished.", {
        action: { label: "Look at the difference", run: () => studio.open("training") },
      });
  });

  function update() {
    const { data } = studio.state;
    const problem =
      !data || !data.labeled
        ? ["Training needs labeled bags", "Open a data file and choose its label column."]
        : null;
    content.hidden = problem !== null || data?.problem != null;
    nothing.hidden = !content.hidden;
    if (!problem && data?.problem) return replace(nothing, unreadable(studio, "training"));
    if (problem) {
      replace(
        nothing,
        empty(
          icon("training"),
          problem[0],
          problem[1],
          h("button", { type: "button", class: "primary", onclick: () => studio.open("files") }, "Open data"),
        ),
      );
      return;
    }
    // What is pushed is newer than the state, except when the page has just been opened.
    const { training } = studio.state;
    if (progress === null && training && training.kind !== "folds") progress = training;
    waits ??= studio.state.proposal;
    if (!warmed) studio.connection.request("warm", asked()).catch(() => null); // so that the first Train starts at once
    warmed = true;
    draw();
    askForProposal();
  }

  function askForProposal() {
    if (!waits) {
      proposal = null;
      drawResult();
      return;
    }
    const ticked = proposal && !isWhole() ? chosen() : {};
    studio.look("proposal", "proposal", ticked, (answer) => {
      const before = proposal;
      proposal = answer.proposal;
      if (!proposal) {
        waits = false; // it was about rules that are not shown any more
        studio.frame.badge("training", "");
      }
      if (proposal && JSON.stringify(before?.rules) !== JSON.stringify(proposal.rules)) {
        accepted = new Set(numbers());
        withDefault = true;
      }
      drawResult();
    });
  }

  /** @returns {number[]} of the proposed rules */
  const numbers = () =>
    proposal.rules.map((/** @type {any} */ rule) => rule.new).filter((/** @type {any} */ each) => each !== null);
  const movesDefault = () => proposal.settings.some((/** @type {any} */ each) => each.where === "default");
  const isWhole = () => accepted.size === numbers().length && (withDefault || !movesDefault());
  const chosen = () => ({ rules: [...accepted].sort((a, b) => a - b), default: withDefault });

  function draw() {
    drawSettings();
    drawLoss();
  }

  const redraw = () => studio.calmly(drawSettings);

  function drawSettings() {
    const running = progress?.running ?? false;
    const locked = studio.state.variables.flatMap((each) =>
      each.terms.filter((term) => term.frozen).map((term) => `${each.name}.${term.name}`),
    );
    const number = (
      /** @type {"overlap" | "low" | "high" | "rate"} */ key,
      /** @type {string} */ label,
      /** @type {string} */ placeholder,
    ) =>
      numberField({
        label,
        key,
        value: wanted[key],
        placeholder,
        disabled: running,
        changed: (value) => ((wanted[key] = value), redraw()),
        cleared: () => ((wanted[key] = null), redraw()),
      });
    const sugeno = studio.state.kind === "sugeno";
    replace(
      settings,
      h(
        "fieldset",
        { disabled: running },
        h("legend", { class: "unseen" }, "What may move"),
        check("fuzzy sets", wanted.sets, (value) => ((wanted.sets = value), redraw()), "move-sets"),
        check(
          sugeno ? "conclusions" : "sets of the output",
          wanted.conclusions,
          (value) => ((wanted.conclusions = value), redraw()),
          "move-conclusions",
        ),
        h(
          "p",
          { class: "small soft wrap" },
          locked.length ? `Locked: ${clipped(locked.join(", "), 160)}.` : "Lock single sets in the Sets view.",
        ),
        h("h4", null, "Bounds"),
        check("terms keep their order", wanted.ordered, (value) => ((wanted.ordered = value), redraw()), "ordered"),
        sugeno && check("slopes keep their sign", wanted.signs, (value) => ((wanted.signs = value), redraw()), "signs"),
        h(
          "div",
          { class: "row" },
          field(
            "Neighbors overlap at least",
            number("overlap", "Least overlap of neighboring terms, up to 0.5", "any"),
          ),
        ),
        sugeno &&
          h(
            "div",
            { class: "row" },
            field("Conclusions from", number("low", "Lowest conclusion", "any")),
            field("to", number("high", "Highest conclusion", "any")),
          ),
        h("h4", null, "How far from the expert"),
        h(
          "label",
          { class: "slider" },
          h("span", null, "free"),
          h("input", {
            type: "range",
            min: 0,
            max: 100,
            value: wanted.stay ? 20 * (Math.log10(wanted.stay) + 4) : 0,
            "aria-label": "How strongly the rules are held to where they are",
            "data-key": "stay",
            oninput: (/** @type {Event} */ event) => {
              const at = Number(/** @type {HTMLInputElement} */ (event.target).value);
              wanted.stay = at ? 10 ** (at / 20 - 4) : 0;
              held.textContent = stayed();
            },
          }),
          h("span", null, "held"),
        ),
        held,
        h("h4", null, "Steps"),
        h(
          "div",
          { class: "row" },
          field(
            "Epochs",
            numberField({
              label: "Epochs",
              key: "epochs",
              value: wanted.epochs,
              disabled: running,
              changed: (value) => ((wanted.epochs = Math.max(1, Math.round(value))), redraw()),
            }),
          ),
          field("Learning rate", number("rate", "Learning rate", "usual")),
        ),
      ),
    );
    held.textContent = stayed();
    replace(
      start,
      running
        ? [
            h(
              "button",
              {
                type: "button",
                class: "primary",
                "data-key": "stop",
                disabled: progress.message === "Stopping",
                onclick: () => studio.request("stop"),
              },
              icon("stop"),
              progress.message === "Stopping" ? "Stopping …" : progress.loss?.length ? "Stop and keep" : "Stop",
            ),
            h("button", { type: "button", "data-key": "cancel", onclick: () => studio.request("cancel") }, "Cancel"),
          ]
        : [
            h(
              "button",
              {
                type: "button",
                class: "primary",
                "data-key": "train",
                disabled: !wanted.sets && !wanted.conclusions,
                onclick: () => void train(),
              },
              icon("play"),
              "Train",
            ),
            h(
              "button",
              {
                type: "button",
                "data-key": "learn",
                title: "Choose rules from the data alone",
                onclick: () => void studio.edit("learn"),
              },
              "Learn new rules",
            ),
          ],
    );
  }

  const held = h("p", { class: "small soft" });
  const stayed = () =>
    wanted.stay
      ? `Moving away costs ${show(wanted.stay, 2)} per squared step.`
      : "Moving costs nothing: the data decide.";

  const asked = () => ({
    move: { sets: wanted.sets, conclusions: wanted.conclusions },
    constraints: {
      ordered: wanted.ordered,
      signs: wanted.signs,
      stay: wanted.stay,
      ...(wanted.overlap === null ? {} : { overlap: wanted.overlap }),
      ...(wanted.low === null && wanted.high === null ? {} : { conclusions: [wanted.low ?? -1e9, wanted.high ?? 1e9] }),
    },
    epochs: wanted.epochs,
    ...(wanted.rate === null ? {} : { learning_rate: wanted.rate }),
  });

  async function train() {
    waits = false;
    proposal = null;
    const answer = await studio.edit("train", asked());
    if (!answer) return;
    progress = progress?.running ? progress : { running: true, epoch: 0, epochs: wanted.epochs, loss: [], seconds: 0 };
    draw();
    drawResult();
  }

  const drawLoss = () => replace(loss, lossChart(progress, Math.max(loss.clientWidth - 30, 300)));

  function drawResult() {
    if (!proposal) {
      heading.textContent = "What training proposes";
      replace(actions);
      replace(
        result,
        progress?.running
          ? h("p", { class: "soft" }, "The difference appears when training ends. Stop keeps what has been reached.")
          : empty(
              icon("training"),
              "Nothing to compare yet",
              "Choose what may move and press Train. You then see every set before and after, and accept or reject rule by rule.",
            ),
      );
      return;
    }
    const all = isWhole();
    // The figures are those of what is ticked; the loss is known of the whole alone.
    const told = all ? proposal : { ...proposal, ...proposal.chosen, loss: null };
    const parts = differenceParts(told, {
      chosen: accepted,
      choose: (number, on) => {
        if (on) accepted.add(number);
        else accepted.delete(number);
        askForProposal();
        drawResult();
      },
      withDefault,
      chooseDefault: (on) => {
        withDefault = on;
        askForProposal();
        drawResult();
      },
    });
    const parted = [accepted.size && counted(accepted.size, "rule"), withDefault && movesDefault() && "the default"];
    const named = parted.filter(Boolean).join(" and ");
    heading.textContent = "What training proposes";
    replace(
      actions,
      h("button", { type: "button", "data-key": "reject", onclick: () => void answer("reject", {}) }, "Reject"),
      h(
        "button",
        {
          type: "button",
          class: "primary",
          "data-key": "accept",
          disabled: !named,
          onclick: () => void answer("accept", all ? {} : chosen()),
        },
        icon("check"),
        all ? "Accept all" : `Accept ${named || "nothing"}`,
      ),
    );
    replace(
      result,
      parts.summary,
      !all && proposal.chosen && h("p", { class: "small soft" }, "With what is ticked below."),
      proposal.touched?.length > 0 &&
        h(
          "p",
          { class: "small soft wrap" },
          `Held back by your bounds: ${clipped(proposal.touched.map(String).join("; "), 300)}.`,
        ),
      h(
        "div",
        { class: "difference-columns" },
        h("div", { class: "stack" }, parts.body),
        !proposal.rmse && h("div", { class: "stack" }, h("h4", null, "Bags that flip"), parts.flipped),
      ),
    );
  }

  /**
   * @param {"accept" | "reject"} type
   * @param {Record<string, any>} fields
   */
  async function answer(type, fields) {
    const done = await studio.edit(type, fields);
    if (!done) return;
    waits = false;
    proposal = null;
    drawResult();
    studio.frame.badge("training", "");
    const changed = type === "accept" && done.changed;
    studio.toasts.show(changed ? "The rules have changed." : "Your rules are as they were.", {
      advice: done.split?.length
        ? `Terms that accepted and rejected rules shared were split: ${clipped(done.split.map(String).join(", "), 200)}.`
        : "",
      ...(changed ? { action: { label: "Undo", run: () => void studio.undo() } } : {}),
    });
  }

  return { name: "training", title: "Training", element, update };
}
