// Elements, made without markup: what comes from files (names, labels, ids) is only ever set as text.

/** @typedef {Node | string | number | null | undefined | false | any[]} Child what goes into an element; lists are unfolded */

const SVG = "http://www.w3.org/2000/svg";

/**
 * @param {Element} element
 * @param {Record<string, any> | null | undefined} attributes
 */
function dress(element, attributes) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" || name === "checked" || name === "disabled" || name === "indeterminate")
      /** @type {any} */ (element)[name] = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
}

/**
 * @param {Element} element
 * @param {Child[]} children
 */
function fill(element, children) {
  for (const child of children) {
    if (Array.isArray(child)) fill(element, child);
    else if (child !== null && child !== undefined && child !== false)
      element.append(child instanceof Node ? child : String(child));
  }
}

/**
 * Make an HTML element; attributes that start with "on" are listeners, and strings become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function h(tag, attributes, ...children) {
  const element = document.createElement(tag);
  fill(element, children); // before the attributes: the value of a select needs its options
  dress(element, attributes);
  return element;
}

/**
 * Make an SVG element.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any> | null} [attributes]
 * @param {...Child} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function s(tag, attributes, ...children) {
  const element = document.createElementNS(SVG, tag);
  dress(element, attributes);
  fill(element, children);
  return element;
}

/**
 * Replace what is inside an element, and keep the focus on the control of the same name.
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  const active = /** @type {Document | ShadowRoot} */ (element.getRootNode()).activeElement;
  const key = active && element.contains(active) ? active.getAttribute("data-key") : null;
  element.replaceChildren();
  fill(element, children);
  if (key === null) return;
  const same = element.querySelector(`[data-key="${CSS.escape(key)}"]`);
  if (same) /** @type {HTMLElement} */ (same).focus({ preventScroll: true });
}

/**
 * Return a function that runs at most once per frame, with its latest arguments.
 * @template {any[]} A
 * @param {(...given: A) => void} action
 * @returns {(...given: A) => void}
 */
export function everyFrame(action) {
  /** @type {A | null} */
  let waiting = null;
  return (...given) => {
    const first = waiting === null;
    waiting = given;
    if (!first) return;
    requestAnimationFrame(() => {
      const latest = /** @type {A} */ (waiting);
      waiting = null;
      action(...latest);
    });
  };
}

/**
 * Return a function that runs when it has not been called for a while.
 * @template {any[]} A
 * @param {(...given: A) => void} action
 * @param {number} wait in milliseconds
 * @returns {((...given: A) => void) & {now: () => void}}
 */
export function settled(action, wait) {
  let timer = 0;
  /** @type {A | null} */
  let pending = null;
  const run = () => {
    clearTimeout(timer);
    if (pending === null) return;
    const given = pending;
    pending = null;
    action(...given);
  };
  const later = (/** @type {A} */ ...given) => {
    pending = given;
    clearTimeout(timer);
    timer = setTimeout(run, wait);
  };
  return Object.assign(later, { now: run });
}
