/* Whether the page is light or dark: as its reader chose, or as their system is. */
const system = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;

/** "light" or "dark". */
export const theme = () => root.dataset.theme || (system.matches ? "dark" : "light");

/** Calls a function when that may have changed. Returns what ends it. */
export function onTheme(change) {
  const chosen = new MutationObserver(change);
  chosen.observe(root, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", change);
  return () => {
    chosen.disconnect();
    system.removeEventListener("change", change);
  };
}
