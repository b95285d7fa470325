// Keys, help, skipping, favourites and full screen of the volunteer's page. Keys of the page are taken here, all others go to the presenter,
// wherever the focus is.
import { ask, project } from "./presenter/caller.js";
import { keyLabels } from "./presenter/key_labels.js";
const $ = (id) => document.getElementById(id);
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* switched off */ } };
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
const on = (name, act) => document.addEventListener(name, (event) => act(event.detail || {}));

// Panels beside the task: help, the field guide, and the list of keys. They are no modal dialogs, and the frame of the task stays
// where it is. A presenter may take the focus, and with it what is typed, at any time: the one field is the search of its own guide.
const PANELS = ["help", "guide", "keys"];
const isOpen = (name) => Boolean($(name)) && !$(name).hidden;
function panel(name, open) {
  for (const other of PANELS) if (open && other !== name && isOpen(other)) panel(other, false);
  $(name).hidden = !open;
  $(`${name}-open`).ariaExpanded = String(open);
  $("frame").classList.toggle("helped", PANELS.some(isOpen));
  $(open ? `${name}-close` : `${name}-open`).focus();
  if (open && name === "guide") import("./guides/panel.js").then(({ show }) => show());
}
const toggle = (name) => panel(name, $(name).hidden);
for (const name of PANELS) {
  $(`${name}-open`)?.addEventListener("click", () => toggle(name));
  $(`${name}-close`)?.addEventListener("click", () => panel(name, false));
}

// Skipping: the presenter's own way, where it has one; else the page asks why, and leases.js takes another task.
// Work that is not sent: it is said, and the focus is on the button that keeps the task.
const press = (key, code) => tell("presenter:press", { key, code });
let unsentWork = false;
on("presenter:work", ({ unsent }) => { unsentWork = unsent; });
on("presenter:skips", () => $("skip") && askWhy(true));
function skip() {
  if ($("skip").dataset.offered) press("s");
  else askWhy($("why").hidden);
}
function askWhy(open) {
  $("why").hidden = !open;
  $("why-unsent").hidden = !unsentWork;
  $("skip").ariaExpanded = String(open);
  (open ? $("why").querySelector(unsentWork ? "#keep" : "button") : $("skip")).focus();
}
$("skip")?.addEventListener("click", skip);
$("why")?.addEventListener("click", ({ target }) => {
  const button = target.closest("button");
  if (!button) return;
  askWhy(false);
  if (button.name === "reason") tell("presenter:skip", { reason: button.value });
});
on("presenter:task", () => {
  unsentWork = false;
  if ($("why")) $("why").hidden = true;
});

// Favourites: those of this project are asked for once.
let task = null, marked = null;
const favourite = $("favourite");
function showMark() {
  favourite.hidden = !task || !marked;
  favourite.ariaPressed = String(Boolean(marked && marked.has(task)));
}
// Shown at once, and taken back with a message when the server does not keep it.
async function mark() {
  const shown = task, wanted = !marked.has(shown), turn = () => { marked[marked.has(shown) ? "delete" : "add"](shown); showMark(); };
  turn();
  const asked = wanted ? ["POST", "/api/favorites", { task_id: shown }] : ["DELETE", `/api/favorites/${shown}`, undefined];
  const { status } = await ask(...asked, { own: true }).catch(() => ({}));
  if (status === 200 || status === 204) return;
  turn();
  $("said").textContent = $("said").dataset.unmarked;
}
async function readMarks() {
  const found = await ask("GET", `/api/favorites?project_id=${project.id}&limit=100`, undefined, { own: true }).catch(() => ({}));
  if (found.status === 200) marked = new Set(found.value.map((one) => one.id));
  showMark();
}
if (favourite) {
  favourite.addEventListener("click", (event) => event.isTrusted && mark());
  readMarks();
  on("presenter:handed", ({ tasks, first }) => first && at(tasks[0]));
  on("presenter:task", ({ task: shown }) => at(shown));
  on("presenter:done", () => at(null));
}
function at(shown) {
  task = shown;
  showMark();
}

// Full screen: of the whole page, with the line that says whose content it shows, and by this button only. A presenter can
// neither ask for it nor hide anything of the page. Esc leaves.
const fullScreen = $("full-screen");
fullScreen.hidden = !document.fullscreenEnabled;
fullScreen.addEventListener("click", (event) => {
  if (!event.isTrusted) return;
  (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => null);
});
document.addEventListener("fullscreenchange", () => { fullScreen.ariaPressed = String(Boolean(document.fullscreenElement)); });

// Keys
const useKeys = $("use-keys");
let printed = {};
const onKey = (key) => (printed[key.toLowerCase()] ?? key).toUpperCase();
keyLabels.then((labels) => {
  printed = labels;
  for (const cap of document.querySelectorAll("kbd")) if (/^[A-Z]$/.test(cap.textContent)) cap.textContent = onKey(cap.textContent);
});
const NAMES = { " ": "␣", ArrowLeft: "←", ArrowRight: "→" };
let moving = new Set(); // of these, what the presenter has: they scroll the page otherwise
let guideKey = true; // not while the presenter has a key of that name
function listOffers({ keys }) {
  const rows = keys.map(([key, label]) => {
    const row = document.createElement("tr");
    row.innerHTML = '<th scope="row"><kbd></kbd></th><td></td>';
    row.querySelector("kbd").textContent = NAMES[key] ?? (key.length === 1 ? onKey(key) : key);
    row.querySelector("td").textContent = label;
    return row;
  });
  const offered = (letter) => keys.some(([key]) => key.toLowerCase() === letter);
  $("offers").hidden = !rows.length;
  $("offers").replaceChildren($("offers").rows[0], ...rows);
  moving = new Set(keys.map(([key]) => key).filter((key) => key in NAMES));
  guideKey = !offered("g");
  if ($("key-guide")) $("key-guide").hidden = !guideKey;
  $("skip").dataset.offered = offered("s") ? "yes" : "";
  $("key-skip").hidden = offered("s"); // it stands among those of the presenter
}
function escape() {
  const open = PANELS.find(isOpen);
  if ($("why") && !$("why").hidden) askWhy(false);
  else if (open) panel(open, false);
}
function takesKey(event) {
  return event.target instanceof Element && (event.target.matches("input, textarea, select, [contenteditable]")
    || (/^(Enter| )$/.test(event.key) && event.target.matches("button, a, summary")));
}
const PAGE_KEYS = { // what they do, or null while they do nothing
  "?": () => () => toggle("keys"),
  h: () => $("help") && !unsentWork && (() => toggle("help")),
  g: () => (guideKey && $("guide") ? () => toggle("guide") : null),
  s: () => ($("skip").hidden || $("skip").dataset.offered || unsentWork ? null : skip),
  z: () => ($("change").hidden ? null : () => $("change").click()),
  f: () => (!favourite || favourite.hidden ? null : mark),
};
// By what a key types, then by where it is: on a Russian keyboard, S is where Ы is.
const placed = (code) => (/^Key[A-Z]$/.test(code) ? code.at(-1).toLowerCase() : "");
function pageKey(key, code) {
  if (!useKeys?.checked) return null;
  const name = [key.toLowerCase(), placed(code)].find((each) => Object.hasOwn(PAGE_KEYS, each));
  return (name && PAGE_KEYS[name]()) || null;
}
// A letter soon after text is the end of a word, wherever the focus has gone, and a key that bounces is one press.
const AFTER_TEXT = 1500, BOUNCE = 60; // milliseconds
let typed = -AFTER_TEXT, pressed = { code: "", at: -BOUNCE };
addEventListener("input", (event) => { if (event.isTrusted) typed = event.timeStamp; });
function isLate(event) {
  const bounced = event.code === pressed.code && event.timeStamp - pressed.at < BOUNCE;
  pressed = { code: event.code, at: event.timeStamp };
  return bounced || (event.key.length === 1 && event.timeStamp - typed < AFTER_TEXT);
}
addEventListener("keydown", (event) => {
  if (!event.isTrusted || document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || event.repeat || isLate(event)) return;
  if (event.key === "Escape") return escape();
  if (!useKeys?.checked || takesKey(event)) return;
  const act = pageKey(event.key, event.code);
  if (!act && !/^([^ ]|Enter)$/.test(event.key) && !moving.has(event.key)) return;
  if (act) act();
  else press(event.key, event.code);
  event.preventDefault();
});
// A presenter can make up the keys that its frame passes on: they only take the focus out of the frame, and the next press,
// which no presenter can make up, acts. Escape is the way out for people without a mouse.
on("presenter:key", ({ key, code }) => {
  if (key === "Escape") return $("leave").focus();
  if (!pageKey(key, code)) return;
  $("main").focus({ preventScroll: true });
  tell("page:press-again", { key });
});
if (useKeys) {
  on("presenter:offers", listOffers);
  useKeys.checked = recall("shortcuts") !== "off";
  const apply = () => tell("presenter:shortcuts", { on: useKeys.checked });
  useKeys.addEventListener("change", () => {
    remember("shortcuts", useKeys.checked ? "on" : "off");
    apply();
  });
  addEventListener("DOMContentLoaded", apply); // bridge.js is there by then
}
