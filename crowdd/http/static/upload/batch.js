// The page of a batch of media follows its preparation.
import { fill, span, write } from "../live/figures.js";
import { watch } from "../stream.js";
const place = document.querySelector("[data-batch-state]");

function show(state) {
  if (state.state !== place.dataset.state) return location.reload();
  const bar = place.querySelector("progress");
  if (bar) Object.assign(bar, { max: state.files || 1, value: state.files - state.left });
  fill(place, state);
  const when = place.querySelector("[data-when]");
  if (!when) return undefined;
  when.hidden = state.seconds_left === null;
  if (!when.hidden) write(when, place.dataset.end.replace("{when}", span(Math.max(1, state.seconds_left))));
  return undefined;
}

if (place.dataset.state === "working") watch(place.dataset.batchState, show);
for (const each of place.dataset.state === "working" ? place.querySelectorAll("[data-refresh]") : []) each.hidden = true;
