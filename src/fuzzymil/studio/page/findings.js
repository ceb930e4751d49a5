// What is odd about the rules (duplicates, contradictions, dead rules), each with what would mend it.

import { h } from "./dom.js";
import { clipped } from "./fields.js";
import { icon } from "./icons.js";
import { counted } from "./numbers.js";

/**
 * @param {import("./studio.js").Studio} studio
 * @param {{findings: {kind: string, rules: number[], message: string, advice?: string, fix: {label: string, edit: {type: string, [field: string]: any}} | null}[]}} answer
 */
export function findingsList(studio, answer) {
  const { findings } = answer;
  if (!findings.length)
    return h("p", { class: "small soft findings-none" }, icon("check"), studio.state.data ? "No duplicates, contradictions or dead rules on these bags." : "No duplicates or contradictions. Open bags to find rules that never fire.");
  return [
    h("h4", { class: "findings-title" }, `${counted(findings.length, "finding")} about the rules`),
    h(
      "ul",
      { "aria-label": "Findings about the rules" },
      findings.slice(0, 60).map((finding, place) =>
        h(
          "li",
          null,
          h("span", { class: "tag high" }, finding.kind),
          h("span", { class: "grow wrap", title: clipped(finding.advice ?? "", 300) }, clipped(finding.message, 400)),
          finding.fix &&
            h(
              "button",
              {
                type: "button",
                class: "small",
                "data-key": `apply-${place}`,
                onclick: () => {
                  const { type, ...fields } = /** @type {NonNullable<typeof finding.fix>} */ (finding.fix).edit;
                  void studio.edit(type, fields);
                },
              },
              `Apply: ${clipped(finding.fix.label, 60)}`,
            ),
        ),
      ),
    ),
  ];
}
