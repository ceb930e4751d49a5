// What a view shows instead when the bags lack what the rules ask for, and the ways on.

import { h } from "./dom.js";
import { clipped, empty } from "./fields.js";
import { icon } from "./icons.js";

/**
 * @param {import("./studio.js").Studio} studio
 * @param {string} drawing name of the view's icon
 */
export const unreadable = (studio, drawing) =>
  empty(
    icon(drawing),
    "The rules cannot read these bags",
    clipped(studio.state.data?.problem ?? "", 600),
    h(
      "button",
      { type: "button", class: "primary", "data-key": "other-data", onclick: () => studio.open("files") },
      "Open other data",
    ),
    h(
      "button",
      { type: "button", "data-key": "close-data", onclick: () => void studio.edit("close_data") },
      "Close these data",
    ),
    h(
      "button",
      { type: "button", "data-key": "start-anew", onclick: () => void studio.edit("start") },
      "Start new rules from these data",
    ),
  );
