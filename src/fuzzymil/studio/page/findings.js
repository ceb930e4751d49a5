// What is odd about the rules (duplicates, contradictions, dead rules), each with what would mend it.

import { h } from "./dom.js";
import { clipped } from "./fields.js";
import { icon } from "./icons.js";
import { counted } from "./numbers.js";

/** @typedef {{kind: string, rules: number[], message: string, advice?: string, fix: {label: string, edit: {type: string, [field: string]: any}} | null}} Finding */

/**
 * Findings that one and the same edit mends, as one.
 * @param {Finding[]} findings
 * @returns {(Finding & {more: number})[]}
 */
function grouped(findings) {
  /** @type {Map<string, Finding & {more: number}>} */
  const found = new Map();
  for (const finding of findings) {
    const key = finding.fix
      ? `${finding.kind} ${JSON.stringify(finding.fix.edit)}`
      : `${finding.kind} ${finding.message}`;
    const known = found.get(key);
    if (known) known.more += 1;
    else found.set(key, { ...finding, more: 0 });
  }
  return [...found.values()];
}

/**
 * @param {import("./studio.js").Studio} studio
 * @param {{findings: Finding[]}} answer
 */
export function findingsList(studio, answer) {
  const findings = grouped(answer.findings);
  if (!findings.length)
    return h(
      "p",
      { class: "small soft findings-none" },
      icon("check"),
      studio.state.data
        ? "No duplicates, contradictions or dead rules on these bags."
        : "No duplicates or contradictions. Open bags to find rules that never fire.",
    );
  return [
    h("h4", { class: "findings-title" }, `${counted(answer.findings.length, "finding")} about the rules`),
    h(
      "ul",
      { "aria-label": "Findings about the rules" },
      findings.slice(0, 60).map((finding, place) =>
        h(
          "li",
          null,
          h("span", { class: "tag high" }, finding.kind),
          h(
            "span",
            { class: "grow wrap", title: clipped(finding.advice ?? "", 300) },
            clipped(finding.message, 400),
            finding.more > 0 && h("span", { class: "soft" }, ` (and ${finding.more} more of this kind)`),
          ),
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
