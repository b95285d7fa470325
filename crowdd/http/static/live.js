// The figures of a project move while somebody looks at them. Without this the page shows how it was when it was loaded.
import { fill, number, span, write } from "./live/figures.js";
import { watch } from "./stream.js";
const $ = (id) => document.getElementById(id);
const SAY_EVERY = 60000, TELL_AGE_EVERY = 20000, HERE_FOR = 600000; // milliseconds

let shown = null, said = performance.now();

function show(state) {
  const figures = { ...state, to_go: state.n_tasks - state.n_completed_tasks };
  fill($("figures"), figures, { done: number.format(state.n_completed_tasks), total: number.format(state.n_tasks) });
  const bar = $("figures").querySelector("progress");
  Object.assign(bar, { max: 100, value: state.overall_progress });
  bar.classList.toggle("done", bar.value >= bar.max);
  const share = $("figures").querySelector("[data-share]");
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
  const age = span(-Math.max(1, (Date.now() - Date.parse(shown.last_activity + "Z")) / 1000));
  if (!age) return;
  $("last").hidden = false;
  write($("last"), $("last").dataset.words.replace("{when}", age));
}

setInterval(tellAge, TELL_AGE_EVERY);
setTimeout(() => { if ($("here")) $("here").hidden = true; }, HERE_FOR); // who was here then may have left
watch($("figures").dataset.live, show);
