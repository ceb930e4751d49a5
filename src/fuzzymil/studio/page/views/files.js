// Opening and saving: rules, models and data in; rules, models, figures, a report and code out.

import { h, replace } from "../dom.js";
import { choice, clipped, field } from "../fields.js";
import { icon } from "../icons.js";
import { counted } from "../numbers.js";
import { decoded, download, encoded } from "../transfer.js";
import { StudioError } from "../connection.js";

/** @param {import("../studio.js").Studio} studio */
export function filesView(studio) {
  let format = "";
  let whole = true; // whether a figure is of the sets, not of the chosen bag
  const input = h("input", {
    type: "file",
    class: "unseen",
    id: "file-input",
    "aria-label": "Choose a file",
    tabindex: "-1",
    onchange: () => input.files?.[0] && void receive(input.files[0]),
  });
  const endings = h("p", { class: "soft small" });
  const opened = h("dl", { class: "facts" });
  const losses = h("div", { class: "stack" });
  const shown = h("div", { class: "stack" });
  const READABLE = ["rules", "json", "fll", "fis", "fcl", "fml", "snippet", "python", "c", "markdown", "latex"];
  const out = h("div", { class: "stack" });
  const element = h(
    "section",
    null,
    h(
      "div",
      { class: "columns files-columns" },
      h(
        "section",
        { class: "pane", "aria-label": "Open" },
        h("header", null, h("h3", null, "Open")),
        h(
          "div",
          { class: "body stack" },
          h(
            "div",
            { class: "drop-here" },
            icon("upload"),
            h("p", null, h("b", null, "Drop a file anywhere on this page")),
            endings,
            h(
              "button",
              { type: "button", class: "primary", "data-key": "choose-file", onclick: () => input.click() },
              "Choose a file",
            ),
            input,
          ),
          h("h4", null, "Open now"),
          opened,
          h(
            "p",
            { class: "soft small" },
            "Files are read here and sent to the program on this machine, nowhere else. Nothing in a file is ever executed.",
          ),
        ),
      ),
      h(
        "section",
        { class: "pane", "aria-label": "Save and export" },
        h("header", null, h("h3", null, "Save and export")),
        h("div", { class: "body stack scroll grow" }, out, losses, shown),
      ),
    ),
  );

  function update() {
    const { state, hello } = studio;
    const fact = (/** @type {string} */ name, /** @type {import("../dom.js").Child[]} */ ...value) =>
      h("div", null, h("dt", null, name), h("dd", { class: "wrap" }, value));
    if (hello)
      endings.textContent = `Rules: ${hello.opens.rules.join(", ")}. Models: .json. Data, one row per instance: ${hello.opens.data.join(", ")}.`;
    replace(
      opened,
      fact(
        "Rules",
        `${clipped(state.name, 100)}: ${counted(state.rules.length, "rule")}, ${state.kind === "mamdani" ? "Mamdani" : state.additive ? "additive" : "averaged"}`,
      ),
      fact(
        "Data",
        state.data
          ? `${clipped(state.data_name || "data", 100)}: ${counted(state.data.n_bags, "bag")}, ${counted(state.data.n_instances, "instance")}, ${counted(state.data.n_features, "feature")}`
          : clipped(state.data_gone ?? "none", 400),
        (state.data || state.data_gone) && [
          " ",
          h(
            "button",
            {
              type: "button",
              class: "small",
              "data-key": "close-data-here",
              title: "The rules stay; undo opens the data again",
              onclick: () => void studio.edit("close_data"),
            },
            "Close",
          ),
        ],
      ),
      state.committee &&
        fact("Committee", `member ${state.committee.member + 1} of ${state.committee.n} is shown and exported`),
      state.data?.problem && fact("Problem", clipped(state.data.problem, 400)),
      fact(
        "Saved",
        state.saved
          ? `${clipped(state.saved.file, 100)}${state.saved.version === state.version ? "" : ", before the last changes"}`
          : "every change is kept in a journal; not yet saved as a file",
      ),
    );
    const formats = hello?.exports ?? [];
    if (!format && formats.length) format = formats[0].format;
    replace(
      out,
      field(
        "What",
        choice({
          label: "Format",
          key: "format",
          value: format,
          options: formats.map((each) => ({ value: each.format, text: each.title.includes(each.ending) ? each.title : `${each.title} (${each.ending})` })),
          changed: (value) => {
            format = value;
            update();
          },
        }),
      ),
      pictures() &&
        studio.bag !== null &&
        field(
          "Of",
          choice({
            label: "What the figure shows",
            key: "figure-of",
            value: whole ? "sets" : "bag",
            options: [
              { value: "sets", text: "the sets of all variables" },
              { value: "bag", text: `the explanation of bag ${studio.bag}` },
            ],
            changed: (value) => {
              whole = value === "sets";
            },
          }),
        ),
      h(
        "div",
        { class: "row" },
        h(
          "button",
          { type: "button", class: "primary", "data-key": "download", onclick: () => void fetchFile() },
          icon("download"),
          "Download",
        ),
        hello?.folder &&
          h(
            "button",
            { type: "button", "data-key": "save", onclick: () => void save() },
            `Save in ${clipped(hello.folder, 40)}`,
          ),
      ),
    );
    askForLosses();
  }

  function askForLosses() {
    if (!format) return;
    studio.look(
      "losses",
      "losses",
      { format },
      (answer) => {
        allow(true);
        askForPreview();
        replace(
          losses,
          answer.losses.length
            ? h(
                "div",
                { class: "notice" },
                icon("warning"),
                h(
                  "div",
                  null,
                  h("b", null, "What this format cannot hold"),
                  h(
                    "ul",
                    { class: "bullets" },
                    answer.losses.map((/** @type {string} */ text) => h("li", null, clipped(text, 400))),
                  ),
                ),
              )
            : h("p", { class: "soft row tight" }, icon("check"), "Nothing is lost in this format."),
        );
      },
      (error) => {
        allow(false);
        replace(shown);
        replace(losses, h("div", { class: "notice" }, icon("warning"), h("span", null, clipped(error.message, 600))));
      },
    );
  }

  /** @param {boolean} possible whether the format can hold the rules */
  function allow(possible) {
    for (const button of out.querySelectorAll("button")) button.disabled = !possible;
  }

  function askForPreview() {
    if (!READABLE.includes(format)) return replace(shown);
    studio.look("export-preview", "export", { format }, (answer) =>
      replace(
        shown,
        h("h4", null, clipped(answer.name, 80)),
        h(
          "pre",
          { class: "code export-preview", tabindex: "0", "aria-label": "Content of the file" },
          clipped(decoded(answer.content), 20000),
        ),
      ),
    );
  }

  const pictures = () => ["svg", "png"].includes(format);
  const request = () => ({ format, ...(pictures() && !whole && studio.bag !== null ? { bag: studio.bag } : {}) });

  async function fetchFile() {
    const answer = await studio.request("export", request());
    if (answer) download(studio.element, answer);
  }

  async function save() {
    const ending = studio.hello?.exports.find((each) => each.format === format)?.ending ?? "";
    const stem =
      studio.state.name
        .replace(/\.[a-z]+$/i, "")
        .replace(/[^\p{L}\p{N} _-]/gu, "")
        .slice(0, 60) || "rules";
    const name = await studio.askText({
      title: "Save",
      label: `File in ${clipped(studio.hello?.folder ?? "", 60)}`,
      value: stem + ending,
      confirm: "Save",
    });
    if (name) await write(name, false);
  }

  /**
   * @param {string} name
   * @param {boolean} overwrite
   * @returns {Promise<void>}
   */
  async function write(name, overwrite) {
    try {
      const done = await studio.connection.request("save", {
        name,
        overwrite,
        ...request(),
      });
      studio.state.saved = { file: done.name ?? name, version: studio.state.version };
      update();
      studio.toasts.show(`Wrote ${clipped(done.name ?? name, 80)}.`);
    } catch (error) {
      if (!(error instanceof StudioError) || error.code !== "exists") return studio.toasts.fail(error);
      const sure = await studio.ask({
        title: "Replace the file?",
        body: [h("p", null, `There is a file ${clipped(name, 80)} already.`)],
        confirm: "Replace",
        danger: true,
      });
      if (sure) return write(name, true);
    }
  }

  /** @param {File} file */
  async function receive(file) {
    input.value = "";
    const most = studio.hello?.limits.file ?? Infinity;
    if (file.size > most) {
      studio.toasts.show(`${clipped(file.name, 60)} is too large.`, {
        kind: "error",
        advice: `The studio takes files up to ${Math.round(most / 1e6)} MB. Larger data can be given on the command line: fuzzymil studio RULES DATA.`,
      });
      return;
    }
    const preview = await studio.request("preview", { name: file.name, content: await encoded(file) });
    if (!preview) return;
    const columns = preview.columns ?? [];
    const options = [
      { value: "", text: "none" },
      ...columns.map((/** @type {string} */ name) => ({ value: name, text: name })),
    ];
    const bag = choice({
      label: "Bag column",
      key: "bag-column",
      value: preview.bag ?? columns[0] ?? "",
      options,
      changed: () => {},
    });
    const label = choice({
      label: "Label column",
      key: "label-column",
      value: preview.label ?? "",
      options,
      changed: () => {},
    });
    if (preview.kind === "text") return correct(file.name, preview);
    // Rules that ask for other columns cannot read the table, and those that are about other ones make no use of it.
    const inputs = studio.state.variables.filter((each) => each.input);
    const asked = inputs.filter((each) => each.used_by.length);
    const absent = (asked.length ? asked : inputs).map((each) => each.name).filter((name) => !columns.includes(name));
    const lacking = columns.length && (asked.length || absent.length === inputs.length) ? absent : [];
    const anew = h("input", { type: "checkbox", checked: lacking.length > 0, "data-key": "start-from" });
    const undecided = columns.length > 0 && !preview.bag;
    const summary = undecided
      ? `A table with ${counted(columns.length, "column")}. Choose the column that names the bag: all rows of a user, molecule or image, for example.`
      : (preview.summary ?? "");
    const answer = await studio.ask({
      title: `Open ${clipped(file.name, 60)}`,
      wide: true,
      body: [
        h("p", null, h("span", { class: "tag low" }, preview.kind), " ", clipped(summary, 600)),
        preview.losses?.length > 0 &&
          h(
            "div",
            { class: "notice" },
            icon("warning"),
            h(
              "div",
              null,
              h("b", null, "What is not taken over"),
              h(
                "ul",
                { class: "bullets" },
                preview.losses.map((/** @type {string} */ text) => h("li", null, clipped(text, 400))),
              ),
            ),
          ),
        columns.length > 0 &&
          h(
            "div",
            { class: "row" },
            field("Which column names the bag?", bag),
            field("Which column is the label?", label),
          ),
        columns.length > 0 &&
          h("p", { class: "soft small" }, "Rows with the same name belong to one bag and share its label."),
        columns.length > 0 &&
          h("label", { class: "check" }, anew, h("span", null, "Start new rules from these columns")),
        lacking.length > 0 &&
          h(
            "p",
            { class: "soft small" },
            `The rules that are open are about ${clipped(lacking.slice(0, 3).join(", "), 120)}${lacking.length > 3 ? " and more" : ""}, which this table does not have.`,
          ),
      ],
      confirm: "Open",
      read: () => {
        bag.setCustomValidity(columns.length && !bag.value ? "Choose the column that names the bag." : "");
        const chosen = { bag: bag.value || null, label: label.value || null, start: anew.checked };
        return bag.reportValidity() ? chosen : undefined;
      },
    });
    if (!answer) return;
    const done = await studio.edit("open", { upload: preview.upload, ...(columns.length ? answer : {}) });
    if (!done) return;
    const title = `Opened ${clipped(file.name, 60)}.`;
    if (done.fits === false)
      studio.toasts.show(title, {
        kind: "error",
        advice: "The rules cannot read these bags.",
        action: { label: "Start new rules", run: () => void studio.edit("start") },
      });
    else if (preview.kind === "data")
      studio.toasts.show(title, { action: { label: "Look at the bags", run: () => studio.open("bags") } });
    else studio.toasts.show(title, { action: { label: "Look at the rules", run: () => studio.open("rules") } });
  }

  /**
   * Hand a text with mistakes over to the editor.
   * @param {string} name
   * @param {{summary: string, text: string}} preview
   */
  async function correct(name, { summary, text }) {
    const sure = await studio.ask({
      title: `Open ${clipped(name, 60)}`,
      body: [
        h("p", null, h("span", { class: "tag bad" }, "rules"), " ", clipped(summary, 300)),
        h("p", { class: "soft small" }, "Until the last one is gone, the rules stay as they are now."),
      ],
      confirm: "Open in the editor",
    });
    if (sure) studio.write(text);
  }

  return { name: "files", title: "Files", element, update, receive };
}
