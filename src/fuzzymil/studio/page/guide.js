// A short tour for the first use: what to look at, one step at a time.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";

/** @type {{view: string, title: string, text: string}[]} */
const STEPS = [
  {
    view: "sets",
    title: "An expert's guess",
    text: "A bag is a handful of points. It is positive if one of its points lies in one of two discs. These fuzzy sets are a first guess at where the discs are. Drag the point on top of “left” to 0.5, and watch the share of right bags in the lower left corner.",
  },
  {
    view: "rules",
    title: "The rules in words",
    text: "The text and the table say the same; change either. Try a typing mistake in the text: it is marked where it is, and a fix is offered.",
  },
  {
    view: "viewer",
    title: "One bag, step by step",
    text: "Every instance of a bag is a tick on every set. The purple one is the witness: the instance that made the rule fire. Drag a value in the top row to ask “what if?”",
  },
  {
    view: "bags",
    title: "All bags",
    text: "Sort by score, look at those that are wrong, and read why. “Without an instance” shows what the decision rests on.",
  },
  {
    view: "training",
    title: "Let the data help",
    text: "Training moves the sets you did not lock. Nothing changes until you accept it, rule by rule.",
  },
  {
    view: "files",
    title: "Your own data",
    text: "Drop a CSV file with one row per instance. Undo goes back as far as you like, and every change is saved at once. Have a good time!",
  },
];

const SEEN = "fuzzymil-studio-guided";

/** Whether the guided start was seen to its end, or closed. */
export function wasGuided() {
  try {
    return localStorage.getItem(SEEN) !== null;
  } catch {
    return false; // storage may be switched off
  }
}

/** @param {import("./studio.js").Studio} studio */
export function guide(studio) {
  studio.element.querySelector(".guide")?.remove();
  let at = 0;
  const card = h("aside", { class: "guide", "aria-label": "Guided start" });
  const escape = (/** @type {KeyboardEvent} */ event) => {
    if (event.key === "Escape" && !event.defaultPrevented && !studio.element.querySelector("dialog")) close();
  };
  const close = () => {
    removeEventListener("keydown", escape);
    card.remove();
    try {
      localStorage.setItem(SEEN, "yes");
    } catch {
      // it is offered again next time
    }
  };
  addEventListener("keydown", escape);

  const draw = () => {
    const step = STEPS[at];
    const last = at + 1 === STEPS.length;
    studio.open(step.view);
    replace(
      card,
      h(
        "div",
        null,
        h("h3", null, step.title, h("span", { class: "small soft" }, ` · guided start, ${at + 1} of ${STEPS.length}`)),
        h("p", null, step.text),
      ),
      h(
        "div",
        { class: "row" },
        at > 0 && stepButton("guide-back", "plain", "Back", () => at--),
        stepButton("guide-next", "primary", last ? "Done" : "Next", () => at++),
        h(
          "button",
          {
            type: "button",
            class: "icon-button",
            "aria-label": "End the guided start",
            title: "End the guided start (Escape)",
            "data-key": "guide-close",
            onclick: close,
          },
          icon("close"),
        ),
      ),
    );
  };

  /**
   * @param {string} key
   * @param {string} look
   * @param {string} text
   * @param {() => void} move
   */
  function stepButton(key, look, text, move) {
    const go = () => {
      move();
      if (at < STEPS.length) draw();
      else close();
    };
    return h("button", { type: "button", class: look, "data-key": key, onclick: go }, text);
  }

  studio.frame.stage.after(card); // in the order of reading
  draw();
}
