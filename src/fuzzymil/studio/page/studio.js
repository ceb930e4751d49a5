// The studio: what all views share. The state comes from the server; views ask it for pictures of their own.

import { StudioError } from "./connection.js";
import { Toasts, ask, askText } from "./dialogs.js";
import { h, replace } from "./dom.js";
import { dropping } from "./dropping.js";
import { keptDraft } from "./drafts.js";
import { frame } from "./frame.js";
import { guide, wasGuided } from "./guide.js";
import { counted } from "./numbers.js";
import { applyTheme } from "./theme.js";
import { bagsView } from "./views/bags.js";
import { filesView } from "./views/files.js";
import { historyView } from "./views/history.js";
import { rulesView } from "./views/rules.js";
import { setsView } from "./views/sets.js";
import { surfaceView } from "./views/surface.js";
import { trainingView } from "./views/training.js";
import { validationView } from "./views/validation.js";
import { viewerView } from "./views/viewer.js";

/** @typedef {import("./types.js").State} State */
/** @typedef {import("./types.js").Hello} Hello */
/** @typedef {{variable: string, term: string, handle: string, x: number}} Drag */
/**
 * @typedef {object} View
 * @property {string} name
 * @property {string} title
 * @property {HTMLElement} element
 * @property {() => void} update called when it is in sight and what it shows may have changed
 * @property {() => void} [leave] called when another view comes into sight
 * @property {() => Record<string, any> | null} [wanted] the request that redraws it, sent along with a drag
 * @property {(move: Drag, moved: {term: import("./types.js").Term, axis: [number, number]}, answer: any) => void} [dragged] draws what a drag changed
 * @property {() => void} [themed] called when colors change, for canvases
 */

export class Studio {
  /**
   * @param {import("./connection.js").Connection} connection
   * @param {{embedded?: boolean}} [look]
   */
  constructor(connection, { embedded = false } = {}) {
    this.connection = connection;
    this.embedded = embedded;
    /** @type {State | null} */
    this.latest = null;
    /** @type {Hello | null} */
    this.hello = null;
    /** @type {string | null} the bag that viewer and bags look at */
    this.bag = null;
    /** @type {{variable: string, term: string | null} | null} */
    this.chosen = null;
    this.pressed = false;
    /** @type {(() => void)[]} */
    this.waiting = [];
    /** @type {Promise<any>} the changes that are under way */
    this.turn = Promise.resolve();
    /** the state that the next change is based on */
    this.revision = 0;
    /** @type {Drag | null} */
    this.dragged = null;
    this.toasts = new Toasts();
    this.element = h("div", { class: embedded ? "studio embedded" : "studio" });
    this.theme = applyTheme(this.element, () => this.view?.themed?.());
    /** @type {View[]} */
    this.views = [
      setsView,
      rulesView,
      viewerView,
      bagsView,
      surfaceView,
      validationView,
      trainingView,
      historyView,
      filesView,
    ].map((make) => make(this));
    /** @type {View | undefined} */
    this.view = undefined;
    this.frame = frame(this);
    replace(this.element, this.frame.parts);
    // Keys count wherever the focus is, unless the page belongs to a notebook.
    (embedded ? this.element : document).addEventListener("keydown", (event) =>
      this.shortcut(/** @type {KeyboardEvent} */ (event)),
    );
    dropping(this);
    this.watchPointer();
  }

  /** Know when a button of the mouse is held, unless it drags something. */
  watchPointer() {
    const release = () =>
      setTimeout(() => {
        this.pressed = false; // after the click, which comes with the release
        for (const action of this.waiting.splice(0)) action();
      });
    this.element.addEventListener(
      "pointerdown",
      (event) => {
        const target = /** @type {Element} */ (event.target);
        this.pressed = !target.closest(".handle, input[type=range], .surface-map, .frontier");
      },
      { capture: true },
    );
    addEventListener("pointerup", release);
    addEventListener("pointercancel", release);
  }

  /**
   * Draw something now or, if a button of the mouse is held, when it is released: what is under the mouse stays there, so
   * that a click that begins on it also ends on it.
   * @param {() => void} draw
   */
  calmly(draw) {
    if (this.pressed) this.waiting.push(draw);
    else draw();
  }

  /** The state of the rules; views are only updated once there is one. */
  get state() {
    return /** @type {State} */ (this.latest);
  }

  /** The output at which the decision changes; null if there is nothing to decide. */
  get threshold() {
    return this.state.data ? this.state.threshold : null;
  }

  start() {
    this.connection.on("connection", ({ connected }) => {
      this.frame.connected(connected);
      if (connected) void this.greet();
    });
    this.connection.on("changed", (message) => this.adopt(message));
    this.connection.on("notice", (message) => this.toasts.show(message.message, { kind: "error" }));
    this.connection.open();
  }

  async greet() {
    const hello = await this.request("hello");
    if (!hello) return;
    const first = this.hello === null;
    this.hello = hello;
    this.adopt(hello.state);
    if (first) {
      const fresh = !location.hash; // a page that is loaded again goes on where it was
      const draft = keptDraft(this) !== null;
      const known = this.views.some((view) => view.name === location.hash.slice(1));
      this.open(known ? location.hash.slice(1) : draft ? "rules" : "sets");
      if (draft) this.views.find((view) => view.name === "rules")?.update(); // marks what is not applied
      for (const told of [hello.state.data_gone, hello.notice]) if (told) this.toasts.show(told, { kind: "error" });
      if (hello.recovered)
        this.toasts.show(`Back where you stopped: ${counted(hello.recovered.edits, "change")}.`, {
          advice: "History lists them.",
        });
      else if (hello.demo && fresh && !wasGuided()) guide(this);
    }
  }

  /**
   * Take on a state, unless a newer one is known already.
   * @param {State} state
   */
  adopt(state) {
    if (this.latest && state.revision < this.latest.revision) return;
    this.latest = state;
    this.revision = Math.max(this.revision, state.revision);
    this.element.dataset.revision = String(state.revision);
    this.frame.update();
    this.calmly(() => this.view?.update());
    this.askForScore();
  }

  askForScore() {
    if (!this.state.data) return this.frame.score(null);
    this.look(
      "score",
      "score",
      {},
      (answer) => this.frame.score(answer),
      () => this.frame.score(null),
    );
  }

  /**
   * Ask the server for something that changes nothing; a failure is shown and gives null.
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<any>}
   */
  async request(type, fields = {}) {
    try {
      return await this.connection.request(type, fields);
    } catch (error) {
      this.toasts.fail(error);
      return null;
    }
  }

  /**
   * Change the rules. Changes go one after the other, each based on the state after the one before, so that the server
   * can refuse one that was made while looking at something else; a failure is shown and gives null.
   * @param {string} type
   * @param {Record<string, any>} [fields]
   * @returns {Promise<any>}
   */
  edit(type, fields = {}) {
    const turn = this.turn
      .then(() => this.attempt(type, fields))
      .catch((error) => {
        if (error instanceof StudioError && error.facts.state) this.adopt(error.facts.state);
        else this.calmly(() => this.view?.update()); // fields show what is true again
        this.toasts.fail(error);
        return null;
      });
    this.turn = turn;
    return turn;
  }

  /**
   * The same at once, and a failure is the caller's to show.
   * @param {string} type
   * @param {Record<string, any>} [fields]
   */
  async attempt(type, fields = {}) {
    const answer = await this.connection.request(type, { ...fields, revision: this.revision });
    this.revision = Math.max(this.revision, answer.revision);
    this.toasts.clear();
    return answer;
  }

  /**
   * Show what the rules would do with a set moved. Views follow as fast as the server answers.
   * @param {Drag} move
   */
  drag(move) {
    this.dragged = move;
    void this.connection.stream("drag", async () => {
      const wanted = this.view?.wanted?.() ?? null;
      const views = [...(this.state.data ? [{ type: "score" }] : []), ...(wanted ? [wanted] : [])];
      try {
        const answer = await this.connection.request("drag", { ...move, views });
        if (answer.superseded) return;
        if (this.state.data) this.frame.score(answer.views[0]);
        this.view?.dragged?.(move, answer, wanted ? answer.views.at(-1) : null);
      } catch (error) {
        if (this.dragged) this.toasts.fail(error);
        this.dragged = null;
        this.view?.update();
      }
    });
  }

  /** Keep what was dragged: one step of the history. */
  async drop() {
    const move = this.dragged;
    this.dragged = null;
    if (move) await this.edit("set_term", move);
  }

  /**
   * Ask for what a view shows; of several questions under the same name only the latest is answered.
   * @param {string} name
   * @param {string} type
   * @param {Record<string, any>} fields
   * @param {(answer: any) => void} draw
   * @param {(error: StudioError) => void} [failed]
   */
  look(name, type, fields, draw, failed) {
    void this.connection.stream(name, async () => {
      try {
        const answer = await this.connection.request(type, fields);
        this.calmly(() => draw(answer));
      } catch (error) {
        if (error instanceof StudioError && error.code === "offline") return; // the next connection asks again
        if (failed && error instanceof StudioError) failed(error);
        else this.toasts.fail(error);
      }
    });
  }

  /**
   * @param {string} name
   * @param {{focus?: boolean}} [how]
   */
  open(name, { focus = false } = {}) {
    const next = this.views.find((view) => view.name === name);
    if (!next) return;
    if (next !== this.view) this.view?.leave?.();
    this.view = next;
    if (!this.embedded) history.replaceState(null, "", `#${name}`);
    this.frame.opened(name, focus);
    if (this.latest) next.update();
  }

  /**
   * Open a file that was chosen or dropped.
   * @param {File} file
   */
  receive(file) {
    const files = /** @type {View & {receive: (file: File) => Promise<void>}} */ (
      this.views.find((view) => view.name === "files")
    );
    return files.receive(file);
  }

  undo() {
    return this.edit("undo");
  }

  redo() {
    return this.edit("redo");
  }

  /**
   * Go on with a text of rules in the editor.
   * @param {string} text
   */
  write(text) {
    const rules = /** @type {View & {receive: (text: string) => void}} */ (
      this.views.find((view) => view.name === "rules")
    );
    this.open("rules");
    rules.receive(text);
  }

  /** @param {Parameters<typeof ask>[1]} content */
  ask(content) {
    return ask(this.element, content);
  }

  /** @param {Parameters<typeof askText>[1]} content */
  askText(content) {
    return askText(this.element, content);
  }

  /** @param {KeyboardEvent} event */
  shortcut(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
    const key = event.key.toLowerCase();
    if (key === "s") {
      event.preventDefault();
      this.open("files", { focus: true });
    } else if (key === "z" || key === "y") {
      const target = /** @type {HTMLElement} */ (event.composedPath()[0]);
      // What is typed and not yet part of the rules has the browser's own undo, also in a dialog.
      if (target.closest?.("[data-draft], dialog")) return;
      event.preventDefault();
      void (key === "y" || event.shiftKey ? this.redo() : this.undo());
    }
  }
}
