// The same studio in a notebook. A widget is loaded from one text, so its other modules come along as texts, too.

/**
 * Turn modules that import each other by relative paths into addresses that can be imported.
 * @param {Record<string, string>} sources by path, such as "views/sets.js"
 * @returns {(path: string) => string}
 */
function addresses(sources) {
  /** @type {Map<string, string>} */
  const made = new Map();
  /** @type {(path: string) => string} */
  const address = (path) => {
    const known = made.get(path);
    if (known) return known;
    const text = sources[path].replace(/(\bfrom\s+|\bimport\s+)"(\.[^"]+)"/g, (_, start, wanted) => {
      const place = new URL(wanted, `https://modules/${path}`).pathname.slice(1);
      return `${start}"${address(place)}"`;
    });
    const found = URL.createObjectURL(new Blob([text], { type: "text/javascript" }));
    made.set(path, found);
    return found;
  };
  return address;
}

/** @param {{model: any, el: HTMLElement}} given */
async function render({ model, el }) {
  const address = addresses(model.get("_modules"));
  const [{ Connection }, { Studio }] = await Promise.all([
    import(address("connection.js")),
    import(address("studio.js")),
  ]);
  const transport = {
    open(/** @type {(message: any) => void} */ receive, /** @type {(connected: boolean) => void} */ changed) {
      model.on("msg:custom", receive);
      changed(true);
    },
    send: (/** @type {any} */ message) => model.send(message),
  };
  const studio = new Studio(new Connection(transport), { embedded: true });
  const style = document.createElement("style");
  style.textContent = model.get("_style");
  el.attachShadow({ mode: "open" }).append(style, studio.element);
  studio.start();
}

export default { render };
