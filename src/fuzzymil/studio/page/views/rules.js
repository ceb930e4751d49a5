// The rules as text and as a table, kept in step: each shows what the other says.

import { h, replace } from "../dom.js";
import { Editor } from "../editor.js";
import { keepDraft, keptDraft } from "../drafts.js";
import { icon } from "../icons.js";
import { merged } from "../merging.js";
import { counted } from "../numbers.js";
import { findingsList } from "../findings.js";
import { ruleTable } from "../rule_table.js";

/** @param {import("../studio.js").Studio} studio */
export function rulesView(studio) {
  /** @type {import("../editor.js").Mistake[]} */
  let mistakes = [];
  /** @type {string | null} what was typed and is not yet part of the rules */
  let draft = null;
  let resumed = false;
  let base = ""; // the rules' text that the draft started from
  let sent = ""; // the last text that was handed over
  let clash = false; // whether the draft and a change elsewhere are about the same lines

  const editor = new Editor({
    label: "Rule text",
    changed: (text) => void take(text),
    complete: (text, at) => studio.connection.request("complete", { text, offset: at }),
  });
  editor.area.addEventListener("input", () => {
    if (draft === null) base = studio.state.text;
    draft = editor.text;
    editor.area.setAttribute("data-draft", "");
  });
  const problems = h("ul", { class: "mistakes", "aria-label": "Mistakes in the text", hidden: true });
  const status = h("span", { class: "small soft", role: "status" });
  const abandon = h(
    "button",
    {
      type: "button",
      class: "small",
      "data-key": "discard",
      title: "Go back to the text of the rules as they are",
      hidden: true,
      onclick: () => discard(),
    },
    "Discard my text",
  );
  const notice = h("div", { class: "notice", hidden: true });
  const findings = h("div", { class: "findings" });
  const count = h("span", { class: "small soft" });
  const table = ruleTable(studio, (line) => editor.goLine(line));

  const element = h(
    "section",
    null,
    h(
      "div",
      { class: "columns rules-columns" },
      h(
        "section",
        { class: "pane", "aria-label": "Rules as text" },
        h(
          "header",
          null,
          h("h3", null, "Text"),
          status,
          abandon,
          h("span", { class: "keys" }, h("kbd", null, "Ctrl+Space"), " completes"),
        ),
        notice,
        editor.element,
        problems,
      ),
      h(
        "section",
        { class: "pane", "aria-label": "Rules as a table" },
        h(
          "header",
          null,
          h("h3", null, "Table"),
          count,
          h(
            "button",
            { type: "button", "data-key": "add-rule", onclick: () => void addRule() },
            icon("add"),
            "Add rule",
          ),
        ),
        h("div", { class: "scroll grow" }, table.element),
        findings,
      ),
    ),
  );

  /** @param {string} text */
  async function take(text) {
    const found = await studio.connection.request("check", { text }).catch(() => null);
    if (!found || editor.text !== text) return; // typed on, or not connected
    /** @type {import("../editor.js").Mistake[]} */
    const all = found.mistakes;
    mistakes = all.sort((a, b) => a.line - b.line || a.character - b.character);
    editor.mark(mistakes);
    drawMistakes();
    if (mistakes.length) keepDraft(studio, { text, base });
    if (mistakes.length) return;
    if (text === studio.state.text) return settle();
    if (rebase()) return; // the joined text is checked in turn
    if (clash) return;
    sent = text;
    const done = await studio.edit("write_text", { text, base });
    if (done) base = text;
    if (done && editor.text === text) settle();
  }

  /**
   * Join the draft with what has changed elsewhere since it was begun.
   * @returns {boolean} whether the draft is another text now
   */
  function rebase() {
    const now = studio.state.text;
    if (draft === null || now === base) return false;
    if (now === sent) {
      base = sent; // the change is our own
      return false;
    }
    const both = merged(base, editor.text, now);
    clash = both === null;
    if (both === null || both === editor.text) return false;
    base = now;
    draft = both;
    editor.text = both;
    editor.changed(both);
    return true;
  }

  function settle() {
    if (draft !== null) keepDraft(studio, null);
    draft = null;
    clash = false;
    editor.area.removeAttribute("data-draft");
    drawStatus();
  }

  function drawMistakes() {
    problems.hidden = mistakes.length === 0;
    replace(
      problems,
      mistakes.map((mistake, place) =>
        h(
          "li",
          null,
          h("span", { class: "place" }, `Line ${mistake.line}, ${mistake.character}`),
          h(
            "button",
            {
              type: "button",
              class: "bare message",
              "data-key": `mistake-${place}`,
              onclick: () => editor.go(mistake),
            },
            mistake.message,
          ),
          mistake.fix &&
            h(
              "button",
              {
                type: "button",
                class: "small",
                "data-key": `fix-${place}`,
                onclick: () => {
                  const fix = /** @type {NonNullable<typeof mistake.fix>} */ (mistake.fix);
                  const from = unit(fix.from);
                  editor.put(from, unit(fix.to), fix.text, { offer: false });
                  editor.changed.now();
                },
              },
              mistake.fix.label ?? "Fix",
            ),
        ),
      ),
    );
    drawStatus();
  }

  /**
   * The server counts characters, the browser UTF-16 units.
   * @param {number} at
   */
  function unit(at) {
    const text = editor.text;
    return /[\ud800-\udfff]/.test(text) ? [...text].slice(0, at).join("").length : at;
  }

  function drawStatus() {
    status.textContent = mistakes.length
      ? counted(mistakes.length, "mistake")
      : draft !== null
        ? "Checking …"
        : "No mistakes";
    status.className = mistakes.length ? "small bad" : "small soft";
    studio.frame.pending(mistakes.length);
    studio.frame.badge("rules", mistakes.length ? String(mistakes.length) : "", true);
    abandon.hidden = clash || draft === null || mistakes.length === 0;
    notice.hidden = !clash;
    if (clash)
      replace(
        notice,
        icon("warning"),
        h(
          "span",
          { class: "grow" },
          "The same lines were changed elsewhere since you began to type. What you see here is your text.",
        ),
        h(
          "button",
          { type: "button", class: "small", "data-key": "clash-theirs", onclick: discard },
          "Discard my text",
        ),
        h("button", { type: "button", class: "small", "data-key": "clash-mine", onclick: insist }, "Use my text"),
      );
  }

  /** Let the draft replace what was changed elsewhere; undo brings that back. */
  function insist() {
    base = studio.state.text;
    clash = false;
    drawStatus();
    void take(editor.text);
  }

  function discard() {
    mistakes = [];
    settle();
    update();
  }

  async function addRule() {
    const { state } = studio;
    const output = state.outputs[0] ?? "y";
    const quoted = /^[\p{L}_][\p{L}\p{N}_]*$/u.test(output) ? output : `"${output.replace(/["\\]/g, "\\$&")}"`;
    const last = state.variables.find((each) => each.name === output)?.terms[0]?.name;
    const conclusion =
      state.kind === "mamdani"
        ? `${quoted} is ${JSON.stringify(last ?? "term")}`
        : state.additive
          ? `${quoted} += 0`
          : `${quoted} = 0`;
    await studio.edit("add_rule", { text: `IF anything THEN ${conclusion}` });
  }

  function words() {
    const { state, hello } = studio;
    const own = hello?.words;
    const lower = (/** @type {string[]} */ names) => names.flatMap((name) => name.toLowerCase().split(" "));
    editor.words = {
      keywords: new Set(
        lower([...(own?.keywords ?? []), ...(own?.statements ?? []), ...(own?.hedges ?? []), "from", "to", "rule"]),
      ),
      quantifiers: new Set(lower(own?.quantifiers ?? [])),
      variables: new Set([...state.variables.map((each) => each.name), ...state.outputs]),
      terms: new Set(state.variables.flatMap((each) => each.terms.map((term) => term.name))),
    };
  }

  /** Take up what was typed before the window was closed. */
  function resume() {
    resumed = true;
    const kept = keptDraft(studio);
    if (kept === null) return;
    draft = kept.text;
    base = kept.base;
    editor.area.setAttribute("data-draft", "");
    editor.text = kept.text;
    editor.changed(kept.text);
  }

  /** @param {string} text to go on with */
  function receive(text) {
    if (draft === null) base = studio.state.text;
    draft = text;
    editor.area.setAttribute("data-draft", "");
    editor.text = text;
    editor.changed(text);
    editor.changed.now();
  }

  function update() {
    const { state } = studio;
    words();
    if (!resumed) resume();
    if (draft === null) {
      mistakes = [];
      editor.text = state.text;
      editor.draw();
      drawMistakes();
    } else {
      rebase();
      drawStatus();
    }
    count.textContent = counted(state.rules.length, "rule");
    table.update();
    studio.look(
      "diagnose",
      "diagnose",
      {},
      (answer) => {
        replace(findings, findingsList(studio, answer));
        table.flag(answer.findings);
      },
      (error) => {
        table.flag([]);
        replace(findings, h("p", { class: "small soft findings-none" }, error.message));
      },
    );
  }

  return { name: "rules", title: "Rules", element, update, receive, leave: () => editor.changed.now() };
}
