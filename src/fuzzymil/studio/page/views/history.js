// All versions: go back and forth, name them, compare any two.

import { differenceParts } from "../difference.js";
import { h, replace } from "../dom.js";
import { clipped, empty } from "../fields.js";
import { icon } from "../icons.js";

/** @param {import("../studio.js").Studio} studio */
export function historyView(studio) {
  /** @type {any[]} */
  let versions = [];
  /** @type {number[]} the one or two versions that are compared */
  let compared = [];
  const list = h("ol", { class: "versions", "aria-label": "Versions" });
  const heading = h("h3", null, "Compare");
  const result = h("div", { class: "body scroll grow", tabindex: "0", role: "region", "aria-label": "Differences" });
  const element = h(
    "section",
    null,
    h(
      "div",
      { class: "columns history-columns" },
      h(
        "section",
        { class: "pane", "aria-label": "Versions" },
        h(
          "header",
          null,
          h("h3", null, "Versions"),
          h(
            "button",
            { type: "button", "data-key": "name-current", onclick: () => void name(studio.state.version) },
            icon("edit"),
            "Name this version",
          ),
        ),
        h("div", { class: "scroll grow" }, list),
      ),
      h("section", { class: "pane", "aria-label": "Comparison" }, h("header", null, heading), result),
    ),
  );

  function update() {
    studio.look("history", "history", {}, (answer) => {
      versions = answer.versions;
      compared = compared.filter((each) => versions.some((version) => version.version === each));
      draw();
      compare();
    });
  }

  /** @param {number} version */
  async function name(version) {
    const now = versions.find((each) => each.version === version);
    const wanted = await studio.askText({
      title: "Name this version",
      label: "Name",
      value: now?.name ?? "",
      confirm: "Save",
      hint: "The table of bags then shows what has changed since.",
    });
    if (wanted !== null) await studio.edit("name_version", { version, name: wanted });
    update();
  }

  /** @param {any} version */
  const time = (version) =>
    new Date(version.when).toLocaleTimeString("en-US", {
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      hour12: false,
    });

  function draw() {
    replace(
      list,
      [...versions].reverse().map((version) => {
        const chosen = compared.includes(version.version);
        const title = clipped(version.name ?? version.label, 80);
        return h(
          "li",
          {
            class: `version ${version.current ? "current" : ""} ${version.undone || version.off_path ? "undone" : ""}`,
          },
          h("input", {
            type: "checkbox",
            checked: chosen,
            "aria-label": `Compare “${title}”`,
            "data-key": `compare-${version.version}`,
            onchange: () => {
              compared = chosen
                ? compared.filter((each) => each !== version.version)
                : [...compared.slice(-1), version.version];
              draw();
              compare();
            },
          }),
          h(
            "div",
            { class: "grow" },
            h(
              "div",
              { class: "cut", title: clipped(version.label, 300) },
              version.name ? h("b", null, title) : title,
              version.name && h("span", { class: "soft small" }, ` ${clipped(version.label, 60)}`),
            ),
            h(
              "div",
              { class: "soft small" },
              time(version),
              version.current
                ? " · current"
                : version.undone
                  ? " · undone"
                  : version.off_path
                    ? " · another branch"
                    : "",
            ),
          ),
          h(
            "button",
            {
              type: "button",
              class: "icon-button",
              "aria-label": `Name “${title}”`,
              title: "Name",
              "data-key": `name-${version.version}`,
              onclick: () => void name(version.version),
            },
            icon("edit"),
          ),
          !version.current &&
            h(
              "button",
              {
                type: "button",
                class: "small",
                "data-key": `goto-${version.version}`,
                onclick: () => studio.edit("goto", { version: version.version }),
              },
              "Go to",
            ),
        );
      }),
    );
  }

  function compare() {
    const current = versions.find((each) => each.current)?.version ?? 0;
    const [one, two] =
      compared.length === 2
        ? [...compared].sort((a, b) => a - b)
        : compared.length === 1
          ? [Math.min(compared[0], current), Math.max(compared[0], current)]
          : [0, 0];
    if (one === two) {
      heading.textContent = "Compare";
      replace(
        result,
        empty(
          icon("history"),
          "Compare versions",
          "Tick two versions on the left; with one, it is compared with the current one. Ctrl+Z and Ctrl+Shift+Z walk back and forth everywhere.",
        ),
      );
      return;
    }
    const label = (/** @type {number} */ number) => {
      const found = versions.find((each) => each.version === number);
      return clipped(found?.name ?? found?.label ?? String(number), 40);
    };
    studio.look(
      "compare",
      "compare",
      { old: one, new: two },
      (answer) => {
        heading.textContent = `${label(one)} → ${label(two)}`;
        const parts = differenceParts(answer);
        replace(
          result,
          parts.summary,
          h(
            "div",
            { class: "difference-columns" },
            h("div", { class: "stack" }, parts.body),
            h("div", { class: "stack" }, h("h4", null, "Bags that flip"), parts.flipped),
          ),
        );
      },
      (error) => replace(result, empty(icon("warning"), "These two cannot be compared", clipped(error.message, 400))),
    );
  }

  return { name: "history", title: "History", element, update };
}
