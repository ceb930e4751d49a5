// Light and dark: what the system prefers, until the reader chooses.

const KEY = "fuzzymil-studio-theme";

/** @returns {"light" | "dark"} */
function preferred() {
  const chosen = remembered();
  if (chosen === "light" || chosen === "dark") return chosen;
  return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

function remembered() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null; // storage may be switched off
  }
}

/**
 * Dress an element in the preferred theme, and return what changes it.
 * @param {HTMLElement} root
 * @param {(theme: "light" | "dark") => void} changed
 */
export function applyTheme(root, changed) {
  let theme = preferred();
  const dress = () => {
    root.dataset.theme = theme;
    changed(theme);
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    theme = preferred();
    dress();
  });
  dress();
  return {
    get name() {
      return theme;
    },
    toggle() {
      theme = theme === "dark" ? "light" : "dark";
      try {
        localStorage.setItem(KEY, theme);
      } catch {
        // the choice then lasts as long as the page
      }
      dress();
    },
  };
}

/**
 * The value of a color of the theme, for canvases.
 * @param {Element} element
 * @param {string} name
 */
export const color = (element, name) => getComputedStyle(element).getPropertyValue(`--${name}`).trim();

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
