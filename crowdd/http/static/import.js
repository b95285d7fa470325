// The page of an import follows its work, and tells when what is chosen differs from what was counted.
import { fill, span, write } from "./live/figures.js";
import { watch } from "./stream.js";
const place = document.querySelector("[data-import]");
const MOVING = new Set(["reading", "waiting", "running"]);

function show(state) {
  const reading = String(state.reading) === place.dataset.reading;
  if (!reading || !MOVING.has(state.state)) return location.reload();
  const bar = place.querySelector("progress");
  Object.assign(bar, { max: state.total || 1, value: state.done });
  fill(place, state);
  const end = place.querySelector("[data-end]");
  end.hidden = state.seconds_left === null;
  if (!end.hidden) write(end, end.dataset.end.replace("{when}", span(Math.max(1, state.seconds_left))));
  write(document.querySelector("#state .badge"), JSON.parse(place.dataset.states)[state.state]);
  place.querySelector("[data-refresh]").hidden = true;
}

if (place) watch(place.dataset.import, show);

const form = document.querySelector("form[data-counted]");
if (form) {
  const begin = form.querySelector("[data-begin]");
  const update = form.querySelector("[name=check]");
  form.addEventListener("change", (event) => {
    if (event.target.name === "on_error") return;
    begin.classList.remove("main");
    update.classList.add("main");
  });
}
