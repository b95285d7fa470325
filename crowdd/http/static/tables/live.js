// The rows of the list of tasks follow the project while somebody looks at them. Only cells that say how far a task is are replaced,
// so that boxes stay ticked and the focus stays where it is; no row comes or goes before the page is loaded again.
import { watch } from "../stream.js";
const table = document.querySelector("table[data-live]");
const EVERY = 5000; // milliseconds between two requests, at least
const CELLS = "td[data-follows]";
let due = false, waits = 0, looked = 0;

function follow(page) {
  for (const row of table.tBodies[0].rows) {
    const fresh = page.querySelector(`tr[data-task="${row.dataset.task}"]`);
    if (!fresh) continue;
    const cells = [...fresh.querySelectorAll(CELLS)];
    row.querySelectorAll(CELLS).forEach((cell, at) => {
      if (!cells[at] || cell.innerHTML === cells[at].innerHTML) return;
      cell.replaceChildren(...cells[at].childNodes);
      cell.classList.remove("moved");
      void cell.offsetWidth; // or the animation would not begin again
      cell.classList.add("moved");
    });
  }
}
async function look() {
  waits = 0;
  if (document.hidden) return; // asked again when somebody looks
  [due, looked] = [false, performance.now()];
  const answer = await fetch(location.href, { headers: { Accept: "text/html" } }).catch(() => null);
  if (answer?.ok && !answer.redirected) follow(new DOMParser().parseFromString(await answer.text(), "text/html"));
  else if (!answer || answer.status >= 429) due = true; // busy: with the next change
}
function ask() {
  if (!due || waits) return;
  waits = setTimeout(look, Math.max(0, looked + EVERY - performance.now()));
}
const figures = (state) => [state.n_tasks, state.n_task_runs, state.n_completed_tasks, state.overall_progress].join();
if (table) {
  looked = performance.now() - EVERY;
  let shown = table.dataset.figures;
  watch(table.dataset.live, (state) => {
    if (shown !== figures(state)) due = true;
    shown = figures(state);
    ask();
  });
}
