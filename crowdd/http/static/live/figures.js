// Figures, and words that depend on a figure, are written in place as they change (parts.html: figure, counted).
const locale = document.documentElement.lang || "en";
const plural = new Intl.PluralRules(locale);
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
const UNITS = [["second", 1, 60], ["minute", 60, 3600], ["hour", 3600, 86400], ["day", 86400, 30 * 86400]];
export const number = new Intl.NumberFormat(locale);

export function write(element, text) {
  if (element.textContent === text) return;
  element.textContent = text;
  if (!element.matches("[data-figure]")) return;
  element.classList.remove("moved");
  void element.offsetWidth; // or the animation would not start over
  element.classList.add("moved");
}

const shown = (value) => (value === null ? "–" : number.format(value));

/** Writes what `root` shows of `figures`. `names` stand in the words; a figure that is null is not known. */
export function fill(root, figures, names = {}) {
  for (const figure of root.querySelectorAll("[data-figure]")) write(figure, shown(figures[figure.dataset.figure]));
  for (const words of root.querySelectorAll("[data-count]")) {
    const count = figures[words.dataset.count], forms = JSON.parse(words.dataset.words);
    words.hidden = count === null;
    const told = { count: shown(count), ...names };
    write(words, (forms[plural.select(count)] || forms.other).replace(/\{(\w+)\}/g, (_, name) => told[name]));
  }
}

/** So many seconds as "in 4 minutes", or "4 minutes ago" where they are negative; nothing beyond thirty days. */
export function span(seconds) {
  const unit = UNITS.find(([, , maximum]) => Math.abs(seconds) < maximum);
  return unit ? relative.format(Math.trunc(seconds / unit[1]), unit[0]) : "";
}
