/* The page's half of the presenter bridge, and the only half that protects anybody: prelude.js lives among the presenter's
   scripts, so every message is taken for one that a hostile presenter wrote.  Messages are JSON *text*: no getters, no
   cycles, no prototypes, a length that can be looked at.

   The page around the frame takes part by events on `document`.  The bridge says
     presenter:task {task}                       the address now shows this task
     presenter:saved {task, run}                 an answer is stored
     presenter:refused {task, status, code, message, retryAfter}
     presenter:waiting {count}                   so many answers wait for the network
     presenter:progress {done, total}            the volunteer's own, whenever the presenter asked for it
     presenter:handed {tasks, first}             these tasks are his now; `first`: to be shown, not to be kept ready
     presenter:released {task}                   the presenter gave this one back
     presenter:done {wait, held, retryAfter}     there is no task to hand out; `wait`: others hold the last places, on
                                                 `held` tasks, and one may come back after so many seconds
     presenter:offers {keys: [[key, label], …]}  what the presenter's keys do
     keydown (isTrusted false)                   a key that the frame had no use for
   and hears
     presenter:press {key}                       a key that was pressed outside the frame
     presenter:anew                              the frame is to begin with another task
     presenter:shortcuts {on}                    whether keys without a modifier do anything */
import { own, parse, touched, visit } from "./addresses.js";
import { ApiClient } from "./api_client.js";
import { Questions } from "./dialog.js";
import { Budget, MAX, text } from "./limits.js";

const box = document.getElementById("presenter");
const notice = document.getElementById("presenter-notice");
const news = document.getElementById("presenter-news");
const project = JSON.parse(box.dataset.project);
const KEEP = "presenter-" + project.id;

const budget = new Budget(MAX.burst, MAX.perSecond);
const api = new ApiClient(project, announce);
const questions = new Questions(document.getElementById("presenter-dialog"), () => frame && frame.focus());

let frame = null;
let port = null;
let lives = MAX.lives;
let shortcuts = true;
let opened = 0, heard = 0, unanswered = 0; // moments, and pings since the last message
let height = 0, growths = 0, grewAt = 0, pushed = 0;

function announce(name, detail) {
  document.dispatchEvent(new CustomEvent(name, { detail }));
}

function send(message) {
  if (port) port.postMessage(JSON.stringify(message));
}

/* A new frame each time, asked for by *this* page: a frame that reloads itself is a stranger, its request brings no cookie. */
function open() {
  close();
  notice.hidden = true;
  frame = document.createElement("iframe");
  frame.title = box.dataset.label;
  frame.setAttribute("sandbox", "allow-scripts allow-forms");
  frame.name = JSON.stringify(beginning());
  frame.src = frameAddress();
  watchLoads(frame);
  budget.refill();
  growths = height = unanswered = 0;
  opened = heard = performance.now();
  box.replaceChildren(frame);
}

/* The one thing a frame can read before its first script asks for it; prelude.js empties it. */
function beginning() {
  return {
    project, shortcuts, room: room(), theme: document.documentElement.dataset.theme || "",
    local: localStorage.getItem(KEEP), session: sessionStorage.getItem(KEEP),
  };
}

function frameAddress() {
  const url = new URL(location.href);
  url.searchParams.set("_presenter", "1");
  return url.pathname + url.search + url.hash;
}

/* A second load without a greeting or a stub's word: the frame shows an error page, because our frame-src held it back. */
function watchLoads(mine) {
  let loads = 0;
  mine.addEventListener("load", () => {
    if (++loads > 1) setTimeout(() => mine === frame && performance.now() - heard > 500 && again(), 600);
  });
}

function close() {
  if (port) port.close();
  if (frame) frame.remove();
  frame = port = null;
}

function tell(why) {
  notice.firstElementChild.textContent = why;
  notice.hidden = false;
}

function stop(why) {
  close();
  tell(why);
}

/* After location.reload() in the frame; a presenter that does it for ever, without a click, is stopped. */
function again() {
  if (touched().isActive || performance.now() - opened > 3000) lives = MAX.lives;
  if (--lives < 0) stop(notice.dataset.reloading);
  else open();
}

function spend() {
  if (budget.spend()) return true;
  if (frame) stop(notice.dataset.flooding);
  return false;
}

/* The window hears two words only, from our frame's own window (not from frames inside it) and from an opaque origin. */
addEventListener("message", (event) => {
  if (event.source === window || !spend() || !frame || event.source !== frame.contentWindow || event.origin !== "null") return;
  if (typeof event.data !== "string") return;
  if (event.data === "presenter:hello" && event.ports.length === 1) greet(event.ports[0]);
  else if (event.data.startsWith("presenter:go ") && !visit(event.data.slice(13), false, project)) again();
});

/* The port belongs to the frame's document: wherever the frame goes next, the port stays behind and dies. */
function greet(its) {
  heard = performance.now();
  if (port) return again();
  port = its;
  port.onmessage = receive;
  send({ op: "shortcuts", on: shortcuts });
  look();
}

function receive(event) {
  if (!spend() || typeof event.data !== "string" || event.data.length > MAX.text) return;
  let message;
  try {
    message = JSON.parse(event.data);
  } catch {
    return;
  }
  if (!message || typeof message !== "object" || !OPERATIONS.has(message.op)) return;
  heard = performance.now();
  if (unanswered > MAX.silence) notice.hidden = true; // it was only busy
  unanswered = 0;
  OPERATIONS.get(message.op)(message);
}

const OPERATIONS = new Map(Object.entries({
  api(message) {
    if (!Number.isSafeInteger(message.id)) return;
    const asked = port;
    const wanted = () => asked === port;
    api.carry(message, (status, body) => wanted() && send({ id: message.id, status, body }), wanted);
  },
  ask(message) {
    if (Number.isSafeInteger(message.id)) questions.ask(message, (value) => send({ id: message.id, value }));
  },
  pong() {},
  open: (message) => visit(message.url, message.tab === true, project),
  size: resize,
  address,
  key: passOn,
  offer: showOffers,
  memory: remember,
}));

/* Content as high as the frame plus something would chase it for ever; after ten steps it scrolls inside. */
function resize(message) {
  const wanted = Math.min(Math.max(Math.ceil(Number(message.height)) || 0, 150), MAX.height);
  const now = performance.now();
  growths = wanted > height && now - grewAt < 500 ? growths + 1 : 0;
  if (growths > 10) return;
  grewAt = now;
  height = wanted;
  frame.style.height = height + "px";
  look();
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
  news.textContent = news.dataset.task.replace("{id}", task);
  announce("presenter:task", { task: Number(task) });
}

/* Shortcuts of the page see isTrusted === false and do nothing that a presenter must not do. */
function passOn(message) {
  document.dispatchEvent(new KeyboardEvent("keydown", {
    key: text(message.key, 20), ctrlKey: message.ctrl === true, altKey: message.alt === true,
    shiftKey: message.shift === true, metaKey: message.meta === true, bubbles: true, cancelable: true,
  }));
}

function showOffers(message) {
  const offers = message.keys && typeof message.keys === "object" ? Object.entries(message.keys) : [];
  const keys = offers.slice(0, 20).map(([key, label]) => [text(key, 12), text(label, 60)]);
  announce("presenter:offers", { keys });
}

/* What the presenter keeps in "its" localStorage and sessionStorage, apart per project. */
function remember(message) {
  const area = message.area === "local" ? localStorage : sessionStorage;
  const data = text(message.data, MAX.memory + 1);
  if (data.length > MAX.memory) return;
  try {
    area.setItem(KEEP, data);
  } catch { /* full or switched off */ }
}

/* What a frame may fill without a scroll bar: the window less what the page keeps around it. */
function room() {
  const around = [...document.querySelectorAll("[data-around-presenter]")].map((part) => part.offsetHeight);
  return Math.max(320, innerHeight - around.reduce((sum, part) => sum + part, 0));
}

/* The part of the frame that is on the screen, so that modals (position: fixed in a high frame) open where people look. */
function look() {
  if (!frame) return;
  const place = frame.getBoundingClientRect();
  const top = Math.max(0, -place.top);
  const visible = Math.min(place.height - top, innerHeight - Math.max(0, place.top));
  send({ op: "view", top, height: Math.max(200, visible), room: room() });
}

addEventListener("scroll", look, { passive: true });
addEventListener("resize", look);
addEventListener("popstate", () => send({ op: "pop", url: location.pathname + location.search }));
document.addEventListener("presenter:press", (event) => send({ op: "press", key: event.detail.key }));
document.addEventListener("presenter:shortcuts", (event) => {
  shortcuts = event.detail.on;
  send({ op: "shortcuts", on: shortcuts });
});
document.addEventListener("presenter:anew", () => {
  const page = location.pathname.replace(/\/task\/\d+\/?$/, "/newtask");
  if (page !== location.pathname) history.replaceState({ presenter: true }, "", page);
  lives = MAX.lives;
  open();
});
notice.querySelector("button").addEventListener("click", () => {
  lives = MAX.lives;
  open();
});

/* A presenter in an endless loop: where frames have their own process, the page still works and can end it. */
setInterval(() => {
  send({ op: "ping" });
  if (port && !document.hidden && ++unanswered > MAX.silence) tell(notice.dataset.silent);
}, 3000);

open();
