// Text that is not yet part of the rules, kept so that a closed window does not lose it.

/** @typedef {{text: string, base: string}} Draft a text, and that of the rules when it was begun */

/** @param {import("./studio.js").Studio} studio */
const key = (studio) => `fuzzymil-studio-draft-${studio.state.name}`;

/**
 * Keep a draft here and on the server, or forget it.
 * @param {import("./studio.js").Studio} studio
 * @param {Draft | null} draft
 */
export function keepDraft(studio, draft) {
  const text = draft && JSON.stringify(draft);
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
 * @returns {Draft | null}
 */
export function keptDraft(studio) {
  try {
    const kept = studio.hello?.draft ?? localStorage.getItem(key(studio));
    const draft = kept ? JSON.parse(kept) : null;
    return draft && typeof draft.text === "string" && draft.text !== studio.state.text ? draft : null;
  } catch {
    return null;
  }
}
