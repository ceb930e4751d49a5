// Small line drawings for tabs and buttons; decoration only, so screen readers pass over them.

import { s } from "./dom.js";

/** @type {Record<string, string>} */
const PATHS = {
  sets: "M2 17c5 0 4-11 7-11s2 11 6 11M8 17c4 0 3-8 6-8s2 8 5 8",
  rules: "M4 5h12M4 10h12M4 15h8",
  viewer: "M3 4h6v5H3zM11 4h6v5h-6zM3 11h6v5H3zM11 13.5h6M14 11v5",
  bags: "M4 7h12l-1 10H5zM7 7V6a3 3 0 0 1 6 0v1",
  surface: "M3 13l7 4 7-4-7-4zM3 9l7 4 7-4-7-4z",
  validation: "M3 17V3M3 17h14M4 16C5 8 9 5 16 4.5",
  training: "M3 4c2 8 6 11 14 12M3 17h14M3 17V3",
  history: "M10 6v4l3 2M3.5 10a6.5 6.5 0 1 1 2 4.7M3 16v-3h3",
  files: "M5 3h6l4 4v10H5zM11 3v4h4",
  undo: "M7 5L3 9l4 4M3.5 9H12a4.5 4.5 0 0 1 0 9h-2",
  redo: "M13 5l4 4-4 4M16.5 9H8a4.5 4.5 0 0 0 0 9h2",
  lock: "M5 9h10v8H5zM7 9V6.500a3 3 0 0 1 6 0V9",
  unlock: "M5 9h10v8H5zM7 9V6.500a3 3 0 0 1 5.8-1",
  add: "M10 4v12M4 10h12",
  remove: "M5 6h10M8 6V4h4v2M6 6l.7 11h6.600L14 6",
  edit: "M4 16l1-4 8-8 3 3-8 8z",
  up: "M10 16V5M5 9l5-5 5 5",
  down: "M10 4v11M5 11l5 5 5-5",
  theme: "M10 3a7 7 0 1 0 0 14zM10 3a7 7 0 0 1 0 14",
  help: "M7.5 7.500a2.5 2.5 0 1 1 3.5 2.300c-.7.3-1 .8-1 1.700M10 14.500v.2M10 2.500a7.5 7.5 0 1 0 0 15 7.5 7.5 0 0 0 0-15",
  close: "M5 5l10 10M15 5L5 15",
  play: "M6 4l10 6-10 6z",
  stop: "M5 5h10v10H5z",
  check: "M4 10.500l4 4 8-9",
  warning: "M10 3l8 14H2zM10 8v4M10 14.500v.2",
  upload: "M10 13V4M6 8l4-4 4 4M4 16h12",
  download: "M10 4v9M6 9l4 4 4-4M4 16h12",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  eye: "M2 10s3-5 8-5 8 5 8 5-3 5-8 5-8-5-8-5zM10 8a2 2 0 1 0 0 4 2 2 0 0 0 0-4",
};

/**
 * @param {string} name
 * @returns {SVGSVGElement}
 */
export const icon = (name) =>
  s("svg", { class: "icon", viewBox: "0 0 20 20", "aria-hidden": "true" }, s("path", { d: PATHS[name] }));
