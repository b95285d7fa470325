// The rows of a table follow what they show while somebody looks at them. Only cells that move are replaced, so that boxes stay
// ticked and the focus stays where it is; no row comes or goes before the page is loaded again. A table is asked for when its
// project changes (data-live), and as long as one of its rows is on its way (data-moving).
import { watch } from "../stream.js";
const table = document.querySelector("table[data-follows]");
const EVERY = 5000, MOVING = 2000, SLOWEST = 60000; // milliseconds between two requests, at least; the longer, the longer nothing moves
let due = false, waits = 0, looked = 0, still = 0;

const moving = () => table.querySelector("tr[data-moving]") !== null;

// A cell that stands for the state of its row, such as its buttons, changes with the state alone: its forms differ each time.
function renew(row, fresh) {
  const cells = [...fresh.querySelectorAll("td[data-follows]")], before = row.dataset.state;
  row.querySelectorAll("td[data-follows]").forEach((cell, at) => {
    if (!cells[at] || cell.innerHTML === cells[at].innerHTML) return;
    if (cell.dataset.follows === "state" && before === fresh.dataset.state) return;
    still = -1;
    const focused = cell.contains(document.activeElement);
    cell.replaceChildren(...cells[at].childNodes);
    if (focused) (row.querySelector("th a") || cell.querySelector("a, button"))?.focus();
    cell.classList.remove("moved");
    void cell.offsetWidth; // or the animation would not begin again
    cell.classList.add("moved");
  });
  if (before !== undefined) row.dataset.state = fresh.dataset.state;
  row.toggleAttribute("data-moving", "moving" in fresh.dataset);
}
function follow(page) {
  const fresh = new Map([...page.querySelectorAll("tr[data-row]")].map(row => [row.dataset.row, row]));
  for (const row of table.tBodies[0].rows) {
    const now = fresh.get(row.dataset.row);
    if (now) renew(row, now); else row.removeAttribute("data-moving");
  }
}
async function look() {
  waits = 0;
  if (document.hidden) return; // asked again when somebody looks
  [due, looked] = [false, performance.now()];
  // As a prefetch: a message for the person waits for the page that they open (record 48).
  const answer = await fetch(location.href, { headers: { Accept: "text/html", Purpose: "prefetch" } }).catch(() => null);
  if (answer?.ok && !answer.redirected) follow(new DOMParser().parseFromString(await answer.text(), "text/html"));
  const busy = !answer || answer.status === 429 || answer.status >= 500;
  still += 1;
  if (busy && table.dataset.live) due = true; // with the next change
  if (moving() && (busy || answer.ok)) ask(Math.min(SLOWEST, MOVING * 1.5 ** still));
}
function ask(pause = EVERY) {
  if (!waits) waits = setTimeout(look, Math.max(0, looked + pause - performance.now()));
}
const figures = (state) => [state.n_tasks, state.n_task_runs, state.n_completed_tasks, state.overall_progress].join();
if (table) {
  looked = performance.now() - EVERY;
  let shown = table.dataset.figures;
  if (table.dataset.live) watch(table.dataset.live, (state) => {
    if (shown !== figures(state)) due = true;
    shown = figures(state);
    if (due) ask();
  });
  const begin = () => { if (!document.hidden && moving()) ask(MOVING); };
  document.addEventListener("visibilitychange", begin);
  looked = moving() ? performance.now() : looked;
  begin();
}
