// How well the rules decide: confusion, ROC with a threshold to slide, held-out folds, and the class that each rule supports.

import { bottomAxis, leftAxis, polyline } from "../chart.js";
import { everyFrame, h, replace, s } from "../dom.js";
import { choice, clipped, empty, figures, numberField } from "../fields.js";
import { foldsPane } from "../folds.js";
import { icon } from "../icons.js";
import { extent, linear, percent, show } from "../numbers.js";
import { unreadable } from "../unreadable.js";

/** @param {import("../studio.js").Studio} studio */
export function validationView(studio) {
  /** @type {any} */
  let seen = null;
  /** @type {number | null} while the slider is moved */
  let tried = null;

  const titles = { decided: h("h3", null, "Decisions"), curve: h("h3", null, "Ranking and threshold") };
  const decided = h("div", { class: "body" });
  const curve = h("div", { class: "body" });
  const heldOut = foldsPane(studio);
  const byClass = h("div", { class: "body scroll" });
  const classesPane = h(
    "section",
    { class: "pane grow", "aria-label": "Which class" },
    h("header", null, h("h3", null, "Rules by class")),
    byClass,
  );
  const content = h(
    "div",
    { class: "columns validation-columns" },
    h(
      "div",
      { class: "stack" },
      h(
        "section",
        { class: "pane", "aria-label": "Decisions" },
        h("header", null, titles.decided),
        decided,
      ),
      h(
        "section",
        { class: "pane grow", "aria-label": "Held-out folds" },
        h("header", null, h("h3", null, "Held-out folds")),
        heldOut.element,
      ),
    ),
    h(
      "div",
      { class: "stack" },
      h(
        "section",
        { class: "pane", "aria-label": "Ranking" },
        h("header", null, titles.curve),
        curve,
      ),
      classesPane,
    ),
  );
  const nothing = h("div", { class: "grow" });
  const element = h("section", null, content, nothing);

  function update() {
    const { data } = studio.state;
    const problem = !data
      ? ["No bags yet", "Open a data file with labels to see how well the rules decide."]
      : !data.labeled
        ? ["These bags have no labels", "Open the file again in Files and choose its label column."]
        : null;
    content.hidden = problem !== null || data?.problem != null;
    nothing.hidden = !content.hidden;
    if (!problem && data?.problem) return replace(nothing, unreadable(studio, "validation"));
    if (problem) {
      replace(
        nothing,
        empty(
          icon("validation"),
          problem[0],
          problem[1],
          h("button", { type: "button", class: "primary", onclick: () => studio.open("files") }, "Open data"),
        ),
      );
      return;
    }
    const numbers = studio.state.classes === null;
    titles.decided.textContent = numbers ? "Errors" : "Decisions";
    titles.curve.textContent = numbers ? "Predicted against label" : "Ranking and threshold";
    classesPane.hidden = numbers;
    studio.look("validation", "validation", {}, (answer) => {
      seen = answer;
      tried = null;
      draw();
    });
    heldOut.draw();
  }

  function draw() {
    if (seen.kind === "numbers") return drawNumbers();
    drawDecisions();
    drawCurve();
    drawClasses();
  }

  function drawNumbers() {
    const [low, high] = extent([...seen.labels, ...seen.predicted]);
    const side = innerHeight > 900 ? 560 : 420;
    const box = { left: 56, top: 10, right: 56 + side, bottom: 10 + side };
    const [x, y] = [linear(low, high, box.left, box.right), linear(low, high, box.bottom, box.top)];
    replace(
      decided,
      figures([
        ["error (RMSE)", show(seen.rmse, 4)],
        ["mean absolute error", show(seen.mae, 4)],
        ["R²", show(seen.r2, 3)],
        ["bags", String(seen.n)],
      ]),
    );
    replace(
      curve,
      s(
        "svg",
        { class: "chart", width: box.right + 20, height: box.bottom + 44, role: "img", "aria-label": "Predicted numbers over labels" },
        leftAxis(y, box, { label: "predicted" }),
        bottomAxis(x, box, { label: "label" }),
        s("line", { class: "threshold", x1: x(low), x2: x(high), y1: y(low), y2: y(high) }),
        s("path", {
          class: "scatter",
          d: seen.labels
            .map(
              (/** @type {number} */ label, /** @type {number} */ b) =>
                `M${x(label).toFixed(1)} ${y(seen.predicted[b]).toFixed(1)}h0`,
            )
            .join(""),
        }),
      ),
    );
    replace(byClass);
  }

  /** The decisions at a threshold: counted here while it is slid, as the scores are known. */
  function confusion() {
    if (tried === null || !seen.scores) return { matrix: seen.confusion, accuracy: seen.accuracy };
    const place = seen.classes.indexOf(seen.positive);
    const matrix = [
      [0, 0],
      [0, 0],
    ];
    seen.scores.forEach((/** @type {number} */ score, /** @type {number} */ b) => {
      const said = score > /** @type {number} */ (tried) ? place : 1 - place;
      matrix[seen.truth[b] ? place : 1 - place][said]++;
    });
    return { matrix, accuracy: (matrix[0][0] + matrix[1][1]) / seen.scores.length };
  }

  function drawDecisions() {
    const { matrix, accuracy } = confusion();
    const totals = matrix.map((/** @type {number[]} */ row) => row.reduce((sum, count) => sum + count, 0));
    const names = seen.classes.map((/** @type {string} */ name) => clipped(name, 24));
    replace(
      decided,
      figures([
        ["accuracy", percent(accuracy)],
        ["bags", String(seen.n)],
        .../** @type {[string, string][]} */ (seen.auc === undefined ? [] : [["AUC", seen.auc.toFixed(3)]]),
      ]),
      h(
        "table",
        { class: "confusion", "aria-label": "Confusion" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("td", { class: "soft" }, "label ↓ decided →"),
            names.map((/** @type {string} */ name) => h("th", { scope: "col", class: "numeric" }, name)),
          ),
        ),
        h(
          "tbody",
          null,
          matrix.map((/** @type {number[]} */ row, /** @type {number} */ r) =>
            h(
              "tr",
              null,
              h("th", { scope: "row" }, names[r]),
              row.map((count, c) => {
                const cell = h(
                  "td",
                  { class: `numeric ${r === c ? "agree" : count ? "disagree" : ""}` },
                  String(count),
                  h("span", { class: "soft small" }, totals[r] ? ` ${Math.round((100 * count) / totals[r])}%` : ""),
                );
                return cell;
              }),
            ),
          ),
        ),
      ),
      seen.unknown?.length > 0 &&
        h("p", { class: "small high" }, `Labels without an output: ${clipped(seen.unknown.join(", "), 120)}.`),
    );
  }

  function drawCurve() {
    if (!seen.roc) {
      replace(
        curve,
        h("p", { class: "soft" }, "A ROC curve needs bags of two classes and one output that ranks them."),
      );
      return;
    }
    const { fpr, tpr, thresholds } = seen.roc;
    const now = tried ?? seen.threshold;
    const side = innerHeight > 900 ? 300 : 208;
    const box = { left: 52, top: 8, right: 52 + 1.15 * side, bottom: 8 + side };
    const [x, y] = [linear(0, 1, box.left, box.right), linear(0, 1, box.bottom, box.top)];
    const place = seen.classes.indexOf(seen.positive);
    const { matrix } = confusion();
    const share = (/** @type {number[]} */ row) => row[place] / Math.max(row[0] + row[1], 1);
    const [low, high] = extent(seen.scores);
    const pad = (high - low || 1) * 0.02;
    const own = studio.state.outputs.length === 1;
    const slide = everyFrame((/** @type {number} */ value) => {
      tried = value;
      drawDecisions();
      drawCurve();
    });
    replace(
      curve,
      s(
        "svg",
        {
          class: "chart",
          width: box.right + 18,
          height: box.bottom + 42,
          role: "img",
          "aria-label": `ROC curve, area ${seen.auc.toFixed(3)}; ${thresholds.length} thresholds`,
        },
        leftAxis(y, box, { label: "true positive rate" }),
        bottomAxis(x, box, { label: "false positive rate", wanted: 4 }),
        s("line", { class: "ghost", x1: x(0), y1: y(0), x2: x(1), y2: y(1) }),
        s("path", { class: "curve c0 chosen", d: polyline(fpr, tpr, x, y) }),
        s("circle", { class: "roc-point", cx: x(share(matrix[1 - place])), cy: y(share(matrix[place])), r: 6 }),
      ),
      own &&
        h(
          "div",
          { class: "stack threshold-controls" },
          h(
            "label",
            { class: "slider" },
            h("span", null, "Threshold"),
            h("input", {
              type: "range",
              min: low - pad,
              max: high + pad,
              step: (high - low || 1) / 500,
              value: now,
              "aria-label": "Threshold",
              "data-key": "threshold",
              oninput: (/** @type {Event} */ event) =>
                slide(Number(/** @type {HTMLInputElement} */ (event.target).value)),
              onchange: (/** @type {Event} */ event) =>
                studio.edit("set_threshold", {
                  threshold: Number(/** @type {HTMLInputElement} */ (event.target).value),
                }),
            }),
            numberField({
              label: "Threshold as a number",
              key: "threshold-number",
              value: now,
              changed: (threshold) => studio.edit("set_threshold", { threshold }),
            }),
          ),
          h(
            "div",
            { class: "row" },
            h(
              "span",
              { class: "small soft grow" },
              "An output above it means ",
              h("b", null, clipped(seen.positive, 30)),
              ".",
            ),
            h(
              "button",
              {
                type: "button",
                class: "small",
                "data-key": "threshold-usual",
                onclick: () => studio.edit("set_threshold", { threshold: null }),
              },
              "Usual threshold",
            ),
          ),
        ),
    );
  }

  function drawClasses() {
    const { positive, classes } = studio.state;
    const names = seen.classes;
    replace(
      byClass,
      positive !== null &&
        classes &&
        h(
          "div",
          { class: "row" },
          h("span", null, `An output “${clipped(studio.state.outputs[0], 24)}” above the threshold means`),
          choice({
            label: "Positive class",
            key: "positive",
            value: positive,
            options: classes.map((name) => ({ value: name, text: name })),
            changed: (name) => studio.edit("set_positive", { class: name }),
          }),
        ),
      seen.against &&
        h(
          "div",
          { class: "notice" },
          icon("warning"),
          h(
            "span",
            null,
            "The rules rank the bags of the other class higher: they do worse than chance. Perhaps the other class is the positive one.",
          ),
        ),
      h(
        "table",
        { "aria-label": "Mean firing of each rule by class" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            h("th", { scope: "col" }, "Rule fires, on average"),
            names.map((/** @type {string} */ name) =>
              h("th", { scope: "col", class: "numeric" }, `on ${clipped(name, 18)}`),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          seen.rules.map((/** @type {any} */ rule) => {
            const most = Math.max(...names.map((/** @type {string} */ name) => rule.firing[name] ?? 0));
            return h(
              "tr",
              null,
              h("th", { scope: "row", class: "cut" }, clipped(rule.name, 40)),
              names.map((/** @type {string} */ name) =>
                h(
                  "td",
                  { class: `numeric ${most > 0 && rule.firing[name] === most ? "strong" : ""}` },
                  rule.firing[name] === null ? "–" : rule.firing[name].toFixed(3),
                ),
              ),
            );
          }),
        ),
      ),
    );
  }

  return { name: "validation", title: "Validation", element, update };
}
