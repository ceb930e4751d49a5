"use strict";
// Sorting, searching, and values under the pointer. Without this script the page reads the same.
(() => {
  const valueOf = (item, key) => {
    const text = item.dataset[key] ?? "";
    const number = Number(text);
    return text !== "" && !Number.isNaN(number) ? number : text;
  };

  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number"
      ? a - b
      : String(a).localeCompare(String(b), "en", { numeric: true });

  const enliven = (box) => {
    const noun = box.dataset.collection;
    const list = box.querySelector("[data-list]");
    const items = [...list.querySelectorAll(":scope > [data-item]")];
    const find = box.querySelector("input[type=search]");
    const only = box.querySelector(".tools select");
    const counted = box.querySelector("output");
    const buttons = [...box.querySelectorAll("button[data-by]")];
    const texts = new Map();

    const textOf = (item) => {
      if (!texts.has(item)) {
        const searched = item.matches(".bag") ? item.querySelector("summary") : item;
        texts.set(item, searched.textContent.toLowerCase());
      }
      return texts.get(item);
    };

    const narrow = () => {
      const wanted = find.value.toLowerCase().trim();
      const kind = only ? only.value : "";
      let shown = 0;
      for (const item of items) {
        const fits =
          (!kind || (item.dataset.kinds ?? "").split(" ").includes(kind)) &&
          (!wanted || textOf(item).includes(wanted));
        item.hidden = !fits;
        shown += fits ? 1 : 0;
      }
      counted.textContent = `${shown} of ${items.length} ${noun}`;
      box.querySelector(".none").hidden = shown > 0;
    };

    const sort = (button) => {
      // Names and positions start ascending, amounts descending.
      const rising = ["place", "name"].includes(button.dataset.by);
      const again = button.getAttribute("aria-pressed") === "true";
      const up = again ? button.dataset.up !== "true" : rising;
      for (const other of buttons) {
        other.setAttribute("aria-pressed", String(other === button));
        other.removeAttribute("data-up");
        other.removeAttribute("aria-label");
      }
      button.dataset.up = String(up);
      button.setAttribute("aria-label", `${button.textContent}, ${up ? "ascending" : "descending"}`);
      const sign = up ? 1 : -1;
      const ordered = items
        .map((item, place) => [valueOf(item, button.dataset.by), place, item])
        .sort((a, b) => sign * compare(a[0], b[0]) || a[1] - b[1]);
      list.append(...ordered.map(([, , item]) => item));
    };

    find.addEventListener("input", narrow);
    only?.addEventListener("change", narrow);
    for (const button of buttons) button.addEventListener("click", () => sort(button));
    box.querySelector(".tools").hidden = false;
  };

  // The degree of membership under the pointer, read from the points of the drawn line.
  const degreeAt = (drawing, x) => {
    const points = [...drawing.querySelector("polyline").points];
    const next = points.findIndex((point) => point.x >= x);
    const [a, b] = [points[Math.max(next - 1, 0)], points[Math.max(next, 0)]];
    const y = b.x > a.x ? a.y + ((b.y - a.y) * (x - a.x)) / (b.x - a.x) : b.y;
    return Math.min(Math.max((34 - y) / 31, 0), 1);
  };

  const readout = document.getElementById("readout");
  const follow = (event) => {
    const drawing = event.target instanceof Element ? event.target.closest("svg.set") : null;
    readout.hidden = !drawing;
    if (!drawing) return;
    const frame = drawing.getBoundingClientRect();
    const part = Math.min(Math.max((event.clientX - frame.left) / frame.width, 0), 1);
    const [low, high] = [Number(drawing.dataset.low), Number(drawing.dataset.high)];
    const names = drawing.dataset.names?.split("\n");
    const number = low + part * (high - low);
    const value = names ? names[Math.min(Math.max(Math.round(number), 0), names.length - 1)] : Number(number.toPrecision(3));
    readout.textContent = `${value}: membership ${degreeAt(drawing, 120 * part).toFixed(2)}`;
    const left = Math.min(event.clientX + 12, document.documentElement.clientWidth - readout.offsetWidth - 4);
    readout.style.left = `${Math.max(left, 4) + window.scrollX}px`;
    readout.style.top = `${frame.bottom + 4 + window.scrollY}px`;
  };

  document.querySelectorAll("[data-collection]").forEach(enliven);
  document.addEventListener("pointermove", follow);
})();
