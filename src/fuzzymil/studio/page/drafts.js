// Text that is not yet part of the rules, kept so that a closed window does not lose it.

/** @param {import("./studio.js").Studio} studio */
const key = (studio) => `fuzzymil-studio-draft-${studio.state.name}`;

/**
 * Keep a draft here and on the server, or forget it.
 * @param {import("./studio.js").Studio} studio
 * @param {string | null} text
 */
export function keepDraft(studio, text) {
  try {
    if (text === null) localStorage.removeItem(key(studio));
    else localStorage.setItem(key(studio), text);
  } catch {
    // storage may be switched off or full; the server keeps it, too
  }
  studio.connection.request("draft", { text }).catch(() => null);
}

/**
 * The draft that was left behind, if it is not what the rules say by now.
 * @param {import("./studio.js").Studio} studio
 * @returns {string | null}
 */
export function keptDraft(studio) {
  let text = studio.hello?.draft ?? null;
  try {
    text ??= localStorage.getItem(key(studio));
  } catch {
    // none
  }
  return text === studio.state.text ? null : text;
}
