// Dialogs, questions and passing messages.

import { h, replace } from "./dom.js";
import { icon } from "./icons.js";
import { StudioError } from "./connection.js";

/** @typedef {import("./dom.js").Child} Child */

let counter = 0;

/**
 * Show a dialog and wait for the reader; Escape and Cancel give null.
 * @param {HTMLElement} root where it is shown
 * @param {object} content
 * @param {string} content.title
 * @param {Child[]} content.body
 * @param {string} [content.confirm] the text of the button that goes ahead; without it there is only Close
 * @param {boolean} [content.danger]
 * @param {boolean} [content.wide]
 * @param {(form: HTMLFormElement) => any} [content.read] the answer; undefined keeps the dialog open
 * @returns {Promise<any>}
 */
export function ask(root, { title, body, confirm, danger, wide, read }) {
  const id = `dialog-${++counter}`;
  return new Promise((resolve) => {
    const form = h(
      "form",
      { method: "dialog", novalidate: true },
      h("h2", { id }, title),
      h("div", { class: "dialog-body" }, ...body),
      h(
        "div",
        { class: "dialog-buttons" },
        h("button", { type: "button", class: "plain", onclick: () => dialog.close() }, confirm ? "Cancel" : "Close"),
        confirm && h("button", { type: "submit", class: danger ? "danger" : "primary" }, confirm),
      ),
    );
    const dialog = h("dialog", { "aria-labelledby": id, class: wide ? "wide" : "" }, form);
    /** @type {any} */
    let answer = null;
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const found = read ? read(form) : true;
      if (found === undefined) return;
      answer = found;
      dialog.close();
    });
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(answer);
    });
    root.append(dialog);
    dialog.showModal();
    /** @type {HTMLElement | null} */ (form.querySelector("[autofocus], input, select, textarea"))?.focus();
  });
}

/**
 * Ask for one line of text.
 * @param {HTMLElement} root
 * @param {object} content
 * @param {string} content.title
 * @param {string} content.label
 * @param {string} [content.value]
 * @param {string} [content.confirm]
 * @param {string} [content.hint]
 * @returns {Promise<string | null>}
 */
export async function askText(root, { title, label, value = "", confirm = "Save", hint }) {
  const input = h("input", { value, autofocus: true, "aria-label": label, maxlength: "200" });
  const body = [h("label", { class: "field" }, h("span", null, label), input), hint && h("p", { class: "soft" }, hint)];
  const shown = ask(root, { title, body, confirm, read: () => input.value.trim() || undefined });
  input.select();
  return shown;
}

/** Messages that pass: they are read out, stay for a few seconds, and never take the focus. */
export class Toasts {
  constructor() {
    this.element = h("div", { class: "toasts", role: "status", "aria-live": "polite" });
  }

  /**
   * @param {string} message
   * @param {object} [look]
   * @param {"note" | "error"} [look.kind]
   * @param {string} [look.advice]
   * @param {{label: string, run: () => void}} [look.action]
   */
  show(message, { kind = "note", advice = "", action } = {}) {
    if (kind === "error") // several parts of the page may find the same
      for (const old of [...this.element.children]) if (old.querySelector("b")?.textContent === message) old.remove();
    const close = () => toast.remove();
    const toast = h(
      "div",
      { class: `toast ${kind}` },
      kind === "error" && icon("warning"),
      h("div", { class: "toast-text" }, h("b", null, message), advice && h("span", null, advice)),
      action && h("button", { type: "button", class: "plain", onclick: () => (close(), action.run()) }, action.label),
      h("button", { type: "button", class: "icon-button", "aria-label": "Dismiss", onclick: close }, icon("close")),
    );
    replace(this.element, ...[...this.element.children].slice(-2), toast);
    setTimeout(close, kind === "error" ? 12000 : 5000);
  }

  /** Take back what went wrong: something has worked since. */
  clear() {
    for (const toast of this.element.querySelectorAll(".toast.error")) toast.remove();
  }

  /** @param {unknown} error */
  fail(error) {
    if (error instanceof StudioError) this.show(error.message, { kind: "error", advice: error.advice });
    else {
      console.error(error);
      this.show("Something in the page went wrong.", {
        kind: "error",
        advice: "Your rules are safe on the server. Reload the page; if it happens again, please report it.",
      });
    }
  }
}
