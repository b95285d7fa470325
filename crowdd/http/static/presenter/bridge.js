/* The page's half of the presenter bridge: the frame of this page, and what the page around it says and hears by events on
   `document`.  frame.js is what protects.  The bridge says
     presenter:task {task}                       the address now shows this task
     presenter:saved {task, run, late, changed, gold, waited}  an answer is stored; `late`: it counts only if a place is free; `changed`:
                                                 it took the place of one that was stored before; `gold`: it was one to a gold
                                                 task, {is_right, answers, message}
     presenter:changing {task}                   the next answer to this task replaces the one before; null: no longer
     presenter:refused {task, status, code, message}
     presenter:waiting {count, task, kept}       so many answers wait for the network; `task`: this one has just begun to, and
                                                 was `kept` in the browser, where it survives closing it
     presenter:uploading {share}                 so much of the files of an answer is sent, from 0 to 1
     presenter:throttled {until}                 the server asks to wait until then (Date.now()); it is asked again by itself
     presenter:no-line                           what was wanted has to wait for the network
     presenter:closed {code}                     the project hands out no tasks: paused, gone, locked
     presenter:begins {}                         the first frame is about to begin; who wants to come before it opens a dialog
     presenter:signed-out                        who made this page is signed in no longer; what was asked waits for them
     presenter:progress {done, total}            the volunteer's own, whenever the presenter asked for it
     presenter:handed {tasks, first}             these tasks are leased now; `first`: to be shown, not to be kept ready
     presenter:released {task}                   the presenter gave this one back
     presenter:along {tasks}                     these tasks are kept in the browser until their leases end
     presenter:ride {count, until, late}         what was taken along before: so many tasks until a moment (Date.now()), and `late` whose time is over
     presenter:ride-over                         all that was taken along is answered
     presenter:done {reason, held, retryAfter}   there is no task to hand out, as X-No-Task says; with "wait" others hold the last
                                                 places, on `held` tasks, and one may come back after so many seconds
     presenter:shown {}                          a task of questions can be seen
     presenter:work {unsent}                     whether the task has work that is not sent
     presenter:skips {}                          the volunteer asks in the frame to give the task back
     presenter:offers {keys: [[key, label], …]}  what the presenter's keys do
     presenter:key {key, code}                   the frame says that this key was pressed in it; nothing proves it
   and hears
     presenter:press {key, code}                 a key that was pressed outside the frame
     presenter:empty                             nothing is left in the frame that could be answered: it goes
     presenter:restart {task}                       the frame is to begin with this task, or with another one
     presenter:change {task}                     the volunteer wants to change the answer to this task; null: no longer
     presenter:shortcuts {on}                    whether keys without a modifier do anything
     presenter:signed-in                         they are back */
import { own, parse, touched } from "./addresses.js";
import { TasksAhead } from "./ahead.js";
import { ApiClient, CLOSED } from "./api_client.js";
import { project, volunteer } from "./caller.js";
import { PresenterFrame } from "./frame.js";
import { text } from "./limits.js";
import * as ride from "./ride.js";
import { offerToTakeAlong } from "./take_along.js";

const news = document.getElementById("presenter-news");
const columns = JSON.parse(document.getElementById("presenter").dataset.media || "{}"); // of tasks, with media of a kind
const addressed = ["picture", "sound"].flatMap((kind) => columns[kind] ?? []);
const tasks = new TasksAhead({ columns: addressed, lease: project.info.lease_seconds || 3600, isRide: ride.isRide, bring: bringFiles, ended: (id) => ride.drop([id]) });
const client = new ApiClient(project, announce, tasks);
let pushed = 0; // the moment of the last address
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };

function announce(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}
function on(name, act) {
  document.addEventListener(name, (event) => act(event.detail || {}));
}

const presenter = new PresenterFrame({
  box: document.getElementById("presenter"),
  notice: document.getElementById("presenter-notice"),
  project, client, isRide: ride.isRide, address: frameAddress, around, above, hear: { address, again, key: passOn, offer: showOffers, done: startTasks, work: showWork, pressed: (message) => hold(message.on === true), loaded: () => loadedAlong(), shown: () => announce("presenter:shown", {}), skip: () => announce("presenter:skips", {}) },
});

/* What the frame may fill changes with what comes and goes around it. */
const room = new ResizeObserver(() => presenter.look());
for (const part of document.querySelectorAll("[data-around-presenter]")) room.observe(part);

/* At the end of a guided tutorial that has a page of its own: it has been seen, and the tasks come. */
function startTasks() {
  const start = document.getElementById("start");
  if (!start) return;
  try { localStorage.setItem(start.dataset.seen, "yes"); } catch { /* switched off */ }
  start.click();
}

/* While something is pressed, what appears above the frame or goes away there waits until it is released, and no longer than
   somebody draws: a presenter can make a press up. */
const RELEASED = 50, HELD = 10000; // milliseconds: the click comes a little after the release
const banners = document.getElementById("banners");
let letting = 0;
function hold(on) {
  clearTimeout(letting);
  if (on && !banners.style.blockSize) Object.assign(banners.style, { blockSize: `${banners.offsetHeight}px`, overflow: "clip" });
  letting = setTimeout(() => banners.removeAttribute("style"), on ? HELD : RELEASED);
}
for (const [name, on] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
  addEventListener(name, (event) => event.isTrusted && event.isPrimary && hold(on), true);
}

/* What the server's page shows in the place of the first task (project/_first_step.html). */
for (const event of [document.querySelector("#first .step") ? "presenter:shown" : "presenter:task", "presenter:done", "presenter:closed", "presenter:begins", "presenter:empty", "presenter:signed-out"]) {
  on(event, () => requestAnimationFrame(() => document.getElementById("first")?.remove()));
}

function frameAddress() {
  const url = new URL(location.href);
  url.searchParams.set("_presenter", ride.isRide ? "along" : "1");
  if (ride.isRide) return `${url.pathname}?_presenter=along`;
  return url.pathname + url.search + url.hash;
}

function around() {
  const parts = [...document.querySelectorAll("[data-around-presenter]")].map((part) => part.offsetHeight);
  return parts.reduce((sum, part) => sum + part, 0);
}

/* The line that says whose content this is stays on the screen, over what is scrolled away.  Questions have none: no script of their
   owner is in the frame. */
function above() {
  return document.getElementById("whose")?.offsetHeight ?? 0;
}

/* pushState in the frame; untouched or in a hurry it replaces, so that Back is not buried. */
function address(message) {
  const url = parse(message.url);
  if (!url || !own(url, project)) return;
  const now = performance.now();
  const add = message.push === true && touched().hasBeenActive && now - pushed > 1000 && url.href !== location.href;
  pushed = now;
  history[add ? "pushState" : "replaceState"]({ presenter: true }, "", url.href);
  const [, task] = url.pathname.match(/\/task\/(\d+)/) || [];
  if (!task) return;
  if (client.changed && client.changed.task !== task) client.change(null); // the presenter has gone on
  news.textContent = news.dataset.task.replace("{id}", task);
  announce("presenter:task", { task: Number(task) });
}

/* A presenter can make it up, so the page does nothing with it but take the focus (task_keys.js). */
function passOn(message) {
  if (message.ctrl === true || message.alt === true || message.meta === true) return;
  announce("presenter:key", { key: text(message.key, 20), code: text(message.code, 20) });
}

function showWork(message) {
  announce("presenter:work", { unsent: message.unsent === true });
}

function showOffers(message) {
  const offers = message.keys && typeof message.keys === "object" ? Object.entries(message.keys) : [];
  const keys = offers.slice(0, 20).map(([key, label]) => [text(key, 12), text(label, 60)]);
  announce("presenter:offers", { keys });
}

addEventListener("popstate", () => presenter.send({ op: "pop", url: location.pathname + location.search }));
on("presenter:press", ({ key, code }) => presenter.send({ op: "press", key, code }));
on("presenter:shortcuts", ({ on: shortcuts }) => {
  presenter.shortcuts = shortcuts;
  presenter.send({ op: "shortcuts", on: shortcuts });
});
on("presenter:restart", ({ task }) => begin(task));
on("presenter:signed-in", () => {
  if (!presenter.frame) begin();
  client.resume();
});
on("presenter:change", ({ task }) => {
  const before = client.changed, wanted = Number(task) || null; // a presenter wrote it
  client.change(wanted);
  if (presenter.port && (wanted || (before && !before.restarts))) presenter.send({ op: "again", task: wanted });
  else again({ shown: false });
});

/* A presenter that knows how shows a task once more by itself, also without a line; for others the frame begins with it. */
function again({ shown }) {
  if (shown === true) return;
  const task = client.changed && client.changed.task;
  if (task && !navigator.onLine) {
    client.change(null);
    return announce("presenter:no-line", {});
  }
  if (task) client.change(task, true);
  begin(task);
}
function begin(task) {
  const page = location.pathname.replace(/\/(newtask|task\/\d+)\/?$/, task ? `/task/${task}` : "/newtask");
  if (page !== location.pathname) history.replaceState({ presenter: true }, "", page);
  alone(() => {
    stage(true);
    presenter.restart();
  });
}

/* The volunteer signed out in another tab: nothing of the presenter goes on, and what it stored is gone. */
if (volunteer) {
  new BroadcastChannel("pages").addEventListener("message", ({ data }) => {
    if (data !== "signed-out") return;
    ride.end();
    presenter.end();
    if (!document.getElementById("away")) presenter.tell(presenter.notice.dataset.away);
    announce("presenter:signed-out", {});
  });
}

/* Keys that are pressed in a modal dialog can end up in a frame that takes the focus: there is no frame beside one. */
function alone(act) {
  const dialog = document.querySelector("dialog[open]");
  if (dialog) dialog.addEventListener("close", act, { once: true });
  else act();
}
on("presenter:empty", () => {
  presenter.close();
  stage(false);
});
/* Without a frame there is nothing around it either: no line that says whose content it shows. */
function stage(shown) {
  for (const part of document.querySelectorAll("#whose, #presenter")) part.hidden = !shown;
}
/* The media of the task that comes: the page knows the columns, the presenter what to do with them. */
function showAhead(task) {
  const of = (names) => names.map((column) => Object(task?.info)[column]).filter((value) => /^(https?:\/\/|\/)\S/.test(value));
  presenter.ahead(Object.fromEntries(Object.entries(columns).map(([kind, names]) => [kind, of(names)])));
}
/* After an answer and a pause, tasks for a line that is cut, with their media. */
const SOON = 1500; // milliseconds
let filling = 0;
on("presenter:saved", () => {
  filling ||= setTimeout(async () => {
    filling = 0;
    const count = tasks.wanted();
    const fresh = count ? await client.fetchAhead(count).catch(() => []) : [];
    if (fresh.length) presenter.send({ op: "load", addresses: tasks.addresses(fresh) });
  }, SOON);
});
const loadedAlong = offerToTakeAlong({ client, tasks, announce, load: (addresses) => presenter.send({ op: "load", addresses, reports: true }) });

/* Tasks that were taken along before (ride.js): without a line they are shown with the media that are here. */
const unpacked = ride.unpack().then(({ tasks: rows, late }) => {
  tasks.unpack(rows);
  if (rows.length) announce("presenter:along", { tasks: rows.map(({ task }) => task.id) });
  if (ride.isRide || late) announce("presenter:ride", { count: rows.length, until: rows[0]?.until, late });
});
async function bringFiles(shown) {
  const files = await ride.filesOf([].concat(shown).map((task) => task?.id));
  if (Object.keys(files).length) presenter.send({ op: "media", files });
}
on("presenter:skip", () => { // without a line nobody else gets it, but it does not come again
  const [, task] = location.pathname.match(/\/task\/(\d+)/) || [];
  if (!ride.isRide || !task) return;
  tasks.end(task);
  ride.drop([task]);
});

function open() {
  if (!ride.isRide && /\/newtask\/?$/.test(location.pathname)) client.askAhead().then(showAhead);
  stage(true);
  presenter.open();
}

/* Before a first tutorial, and where the project was paused when this page was made, it is asked whether there is a task: no
   tutorial opens over nothing, and no presenter without a task stands there with buttons that do nothing. */
async function start() {
  if (ride.isRide) await unpacked;
  const { paused, tutorial } = document.getElementById("presenter").dataset, halted = paused !== undefined;
  if (!halted && (!tutorial || recall(tutorial))) return alone(open);
  stage(!halted);
  const { found, code } = await client.finds({ keep: halted });
  if (CLOSED.includes(code)) return announce("presenter:closed", { code });
  if (found) announce("presenter:begins", {});
  alone(open);
}
start();
