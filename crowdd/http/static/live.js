// The figures of a project move while somebody looks at them. Without this the page shows how it was when it was loaded.
import { watch } from "./stream.js";
const $ = (id) => document.getElementById(id);
const all = (selector) => [...$("figures").querySelectorAll(selector)];
const locale = document.documentElement.lang || "en";
const number = new Intl.NumberFormat(locale);
const plural = new Intl.PluralRules(locale);
const relative = new Intl.RelativeTimeFormat(locale, { numeric: "always" });
const UNITS = [["second", 1, 60], ["minute", 60, 3600], ["hour", 3600, 86400], ["day", 86400, 30 * 86400]];
const SAY_EVERY = 60000, TELL_AGE_EVERY = 20000, HERE_FOR = 600000; // milliseconds

let shown = null, said = performance.now();

function write(element, text) {
  if (element.textContent === text) return;
  element.textContent = text;
  if (!element.matches("[data-figure]")) return;
  element.classList.remove("moved");
  void element.offsetWidth; // or the animation would not begin anew
  element.classList.add("moved");
}

function show(state) {
  const figures = { ...state, to_go: state.n_tasks - state.n_completed_tasks };
  const names = { done: number.format(state.n_completed_tasks), total: number.format(state.n_tasks) };
  for (const figure of all("[data-figure]")) write(figure, number.format(figures[figure.dataset.figure]));
  for (const words of all("[data-count]")) {
    const forms = JSON.parse(words.dataset.words), form = forms[plural.select(figures[words.dataset.count])] || forms.other;
    write(words, form.replace(/\{(\w+)\}/g, (_, name) => names[name]));
  }
  const bar = all("progress")[0];
  Object.assign(bar, { max: 100, value: state.overall_progress });
  bar.classList.toggle("done", bar.value >= bar.max);
  const share = all("[data-share]")[0];
  write(share, share.dataset.share.replace("{share}", number.format(state.overall_progress) + "\u00a0%"));
  $("changed").hidden = state.status === $("figures").dataset.status;
  const finished = shown && bar.value >= bar.max && shown.overall_progress < bar.max;
  const moved = shown && shown.overall_progress !== state.overall_progress;
  shown = state;
  tellAge();
  if (moved) say(finished);
}

// Who listens rather than looks hears of it now and then, and at once of the end.
function say(now) {
  if (!now && performance.now() - said < SAY_EVERY) return;
  said = performance.now();
  $("progress-news").textContent = $("progress").textContent;
}

function tellAge() {
  if (!shown || !shown.last_activity) return;
  const age = Math.max(1, (Date.now() - Date.parse(shown.last_activity + "Z")) / 1000);
  const unit = UNITS.find(([, , maximum]) => age < maximum);
  if (!unit) return;
  $("last").hidden = false;
  write($("last"), $("last").dataset.words.replace("{when}", relative.format(-Math.floor(age / unit[1]), unit[0])));
}

setInterval(tellAge, TELL_AGE_EVERY);
setTimeout(() => { if ($("here")) $("here").hidden = true; }, HERE_FOR); // who was here then may have left
watch($("figures").dataset.live, show);
