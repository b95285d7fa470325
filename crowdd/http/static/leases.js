// The tasks leased to this volunteer: kept while they look at the page, released when they close it, skipped on request.
// presenter/bridge.js tells by events which they are; all others ask the server the same way (docs/presenters.md).
import { ask, project } from "./presenter/caller.js";
const $ = (id) => document.getElementById(id);
const on = (name, act) => document.addEventListener(name, (event) => act(event.detail || {}));
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
const lease = 1000 * (project.info.lease_seconds || 3600); // milliseconds
const KEEP_EVERY = Math.min(Math.max(lease / 4, 15000), 300000), MIN_PAUSE = 10000, LOOK_EVERY = 30000;

const held = new Set(); // the one that is shown, and those that are kept ready
const along = new Set(); // those that were taken along: they are not given back when this page is closed
let current = null, changing = null, kept = -Infinity, keeping = 0, looking = 0;

function show(task) {
  if (task === current) return;
  current = task;
  kept = -Infinity;
  $("skip").hidden = !task;
  $("lapsed").hidden = true;
  clearInterval(keeping);
  if (task) keeping = setInterval(keep, KEEP_EVERY);
}

// A task that was kept ready has less time than one that is shown; and a page that nobody looks at keeps none.
async function keep() {
  if (!current || document.hidden || performance.now() - kept < MIN_PAUSE) return;
  const task = current;
  kept = performance.now();
  const { status, value } = await ask("POST", `/api/task/${task}/renew`, {}).catch(() => ({}));
  if (status === 401 && value?.error_code === "signed_out") tell("presenter:signed-out");
  else if (status === 200 && task === current) $("lapsed").hidden = value.state !== "late";
}

on("presenter:handed", ({ tasks, first }) => {
  clearInterval(looking);
  for (const task of tasks) held.add(task);
  if (!first) return;
  show(tasks[0]);
  kept = performance.now(); // it has all its time
});
on("presenter:changing", ({ task }) => {
  changing = task && Number(task); // it is answered, and nobody's to keep or to skip
  if (task) show(null);
});
on("presenter:task", ({ task }) => {
  if (task === current || task === changing) return;
  held.add(task);
  show(task);
  keep();
});
on("presenter:along", ({ tasks }) => tasks.forEach((task) => along.add(task)));
on("presenter:ride-over", () => show(null));
on("presenter:saved", ({ task }) => gone(Number(task)));
on("presenter:waiting", ({ task }) => held.delete(Number(task))); // its place is still needed when this page is closed
on("presenter:released", ({ task }) => gone(task));
function gone(task) {
  held.delete(task);
  if (task === current) show(null);
  clear();
}

// Where no more tasks are handed out and none is left, the presenter goes: its buttons would do nothing.
let closed = false;
on("presenter:closed", () => {
  closed = true;
  clear();
});
on("presenter:restart", () => { closed = false; });
function clear() {
  if (closed && !current && !changing && $("refused").hidden) tell("presenter:empty");
}

// Skipping: it goes to others and comes to this volunteer last.
on("presenter:skip", async ({ reason }) => {
  const task = current;
  if (!task) return;
  gone(task);
  await ask("POST", `/api/task/${task}/release`, { skip: true, ...(reason && { reason }) }).catch(() => null);
  tell("presenter:restart");
});
$("lapsed-other").addEventListener("click", () => tell("presenter:skip"));

// Waiting for a task that others may give back.
on("presenter:done", ({ reason }) => {
  show(null);
  clearInterval(looking);
  if (reason === "wait") looking = setInterval(look, LOOK_EVERY);
});
async function look() {
  if (document.hidden || changing) return;
  const { status, value: task } = await ask("GET", `/api/project/${project.id}/newtask`).catch(() => ({}));
  if (status !== 200 || !task.id) return;
  clearInterval(looking);
  held.add(task.id);
  $("finished").hidden = true;
  tell("presenter:restart");
}

// Closing: everything goes back. Other tabs of the same volunteer say at once what they still need.
const TABS = `tasks-${project.id}`;
addEventListener("pagehide", () => {
  const [task, ...also] = [...held].filter((each) => !along.has(each)).slice(0, 100);
  if (task) ask("POST", `/api/task/${task}/release`, { also }, { keepalive: true }).catch(() => null);
  try { localStorage.setItem(TABS, String(Math.random())); } catch { /* switched off */ }
});
addEventListener("storage", (event) => {
  if (event.key !== TABS) return;
  kept = -Infinity;
  setTimeout(keep, 300); // after what they gave back has arrived
});
addEventListener("pageshow", (event) => {
  kept = -Infinity;
  if (event.persisted) keep();
});
document.addEventListener("visibilitychange", keep);

const [, opened] = location.pathname.match(/\/task\/(\d+)/) || [];
if (opened) open(Number(opened));

// The page of a task reserves it by a request of its own: links are followed by crawlers and previews, too.
async function open(task) {
  held.add(task);
  show(task);
  kept = performance.now();
  const { status, value } = await ask("POST", `/api/task/${task}/lease`, {}).catch(() => ({}));
  if (status === 401 && value?.error_code === "signed_out") tell("presenter:signed-out");
  else if (status === 403 && value?.error_code) tell("presenter:closed", { code: value.error_code });
}
