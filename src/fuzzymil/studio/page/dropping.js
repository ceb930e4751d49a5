// Files dropped anywhere on the page are opened in the Files view.

import { h } from "./dom.js";

/** @param {import("./studio.js").Studio} studio */
export function dropping(studio) {
  const zone = h("div", { class: "dropzone", hidden: true }, "Drop rules, a model or data");
  studio.element.append(zone);
  let depth = 0;
  const files = (/** @type {DragEvent} */ event) => event.dataTransfer?.types.includes("Files") ?? false;
  const count = (/** @type {number} */ step) => {
    depth = Math.max(0, depth + step);
    zone.hidden = depth === 0;
  };
  studio.element.addEventListener("dragenter", (event) => files(event) && (event.preventDefault(), count(1)));
  studio.element.addEventListener("dragleave", (event) => files(event) && count(-1));
  studio.element.addEventListener("dragover", (event) => files(event) && event.preventDefault());
  studio.element.addEventListener("drop", (event) => {
    if (!files(event)) return;
    event.preventDefault();
    count(-depth);
    const file = event.dataTransfer?.files[0];
    if (file) void studio.receive(file);
  });
}
