// The page for media: choosing files, what becomes of them, and watching them being sent.
import { fill, number, span, write } from "../live/figures.js";
import { watch } from "../stream.js";
import { dropped, picked } from "./chosen.js";
import { Sending } from "./sending.js";

const form = document.querySelector("[data-media]"), place = document.querySelector("[data-sending]");
const { media: here, maxFiles, maxBytes, part } = form.dataset, words = JSON.parse(form.dataset.words);
const at = (name, root = form) => root.querySelector(`[data-${name}]`);
const locale = document.documentElement.lang || "en", plural = new Intl.PluralRules(locale);
const percent = new Intl.NumberFormat(locale, { style: "percent" });
const SEVERAL = /\.(zip|pdf)$/i;
const SHOWN = 60, EVERY = 250; // rows; milliseconds
const headers = { "X-CSRFToken": form.elements.csrf_token.value, Accept: "application/json" };
let chosen = [], sending = null, batch = form.dataset.batch, told = 0, planned = 0;

const say = (text, names = {}) => text.replace(/\{(\w+)\}/g, (_, name) => names[name]);
const counted = (forms, count, names = {}) => say(forms[plural.select(count)] || forms.other, { count: number.format(count), ...names });
function size(bytes) {
  const units = ["byte", "kilobyte", "megabyte", "gigabyte"];
  let value = bytes, unit = 0;
  while (value >= 999.5 && unit < 3) { value /= 1000; unit += 1; }
  const digits = value < 10 && unit ? 1 : 0;
  return new Intl.NumberFormat(locale, { style: "unit", unit: units[unit], unitDisplay: unit ? "short" : "long", maximumFractionDigits: digits }).format(value);
}
const announce = (text) => write(at("told", place), text);

async function ask(address, body) {
  const answer = await fetch(address, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) });
  const json = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(json.description || answer.statusText);
  return json;
}

// Choosing
function note(lines) {
  const notes = at("notes");
  notes.textContent = lines.filter(Boolean).join(" ");
  notes.hidden = !notes.textContent;
}
function summarise(files, lines) {
  chosen = files;
  at("chosen").hidden = false;
  at("summary").textContent = files.length ? counted(words.chosen, files.length, { size: size(files.reduce((sum, each) => sum + each.file.size, 0)) }) : words.none;
  note(lines);
  const send = at("send");
  send.disabled = !files.length;
  send.textContent = files.length ? counted(words.send, files.length) : send.textContent;
}
async function choose(files) {
  const turn = (planned += 1);
  if (files.length > maxFiles) return summarise([], [words.too_many]);
  const fit = files.filter((each) => each.file.size <= maxBytes), large = files.length - fit.length;
  const lines = [large ? counted(words.too_large, large, { size: size(Number(maxBytes)) }) : ""];
  summarise(fit, lines);
  try {
    const plan = await ask(`${here}/plan`, { names: fit.map((each) => each.path) });
    if (turn !== planned) return undefined;
    const out = new Set(plan.left_out);
    summarise(fit.filter((each) => !out.has(each.path)), [...lines, out.size ? counted(words.left_out, out.size) : ""]);
    showGroups(plan, fit.some(({ path }) => SEVERAL.test(path)));
    if (clear(plan, fit, large)) form.requestSubmit(at("send"));
  } catch (error) {
    note([...lines, error.message]);
  }
  return undefined;
}
// Whether nothing has to be decided: a draft, and files that are all taken, none of which belongs to another.
function clear(plan, fit, large) {
  const together = !batch && Object.keys(plan.groups).length > 0;
  return "atOnce" in form.dataset && fit.length > plan.left_out.length && !large && !together;
}
// Of an archive or a PDF nobody knows yet how many files or pages it has.
function showGroups({ groups, tasks_by_file, tasks_by_name }, open) {
  const list = at("groups");
  if (!list) return;
  const item = (text) => Object.assign(document.createElement("li"), { textContent: text });
  const names = new Intl.ListFormat(locale);
  const shown = Object.entries(groups).map(([name, files]) => item(say(words.group, { files: names.format(files.slice(0, 6)), name })));
  list.replaceChildren(...shown);
  list.hidden = !shown.length;
  for (const [value, count] of [["file", tasks_by_file], ["name", tasks_by_name]]) {
    const label = form.querySelector(`[name=grouping][value=${value}]`).nextElementSibling;
    label.querySelector("[data-count]")?.remove();
    if (open) continue;
    label.firstChild.after(Object.assign(document.createElement("span"), { textContent: ` (${counted(words.tasks, count)})` }));
    label.querySelector("span").dataset.count = "";
  }
}

// Sending
async function known() {
  const found = new Map();
  for (let after = 0; after !== null; ) {
    const answer = await fetch(`${batch}/files?after=${after}`, { headers });
    if (!answer.ok) throw new Error((await answer.json().catch(() => ({}))).description || answer.statusText);
    const { files, next } = await answer.json();
    for (const each of files) found.set(each.key, each);
    after = next;
  }
  return found;
}
async function begin() {
  const choices = Object.fromEntries(new FormData(form));
  delete choices.csrf_token;
  delete choices.files;
  const there = batch ? await known() : new Map();
  if (!batch) {
    ({ next: batch } = await ask(here, choices));
    history.replaceState(null, "", batch); // a page that is loaded again asks for what is missing
  }
  sending = new Sending({ endpoint: `${batch}/files`, part: Number(part), headers, changed: draw, gone: words.gone });
  form.hidden = true;
  place.hidden = false;
  document.getElementById("sending-heading").focus();
  const before = chosen.filter((each) => there.has(each.key) && there.get(each.key).state !== "arriving").length;
  announce([counted(words.begun, chosen.length - before), before ? counted(words.known, before) : ""].join(" "));
  watch(`${batch}/live`, (state) => fill(place, { ...figures(), tasks: state.tasks }));
  sending.add(chosen, there);
}
const figures = () => ({ done: sending.count("done"), waiting: sending.count("waiting") + sending.count("sending"), failed: sending.count("failed") });

let drawn = 0, timer = 0;
function draw() {
  if (timer) return;
  timer = setTimeout(() => { timer = 0; drawn = performance.now(); show(); }, Math.max(0, drawn + EVERY - performance.now()));
}
function show() {
  const { total, sent, rate, paused, busy } = sending, now = figures();
  const bar = place.querySelector("progress");
  Object.assign(bar, { max: total || 1, value: sent });
  for (const name of ["done", "waiting", "failed"]) write(place.querySelector(`[data-figure=${name}]`), number.format(now[name]));
  write(at("sent", place), say(words.of, { sent: size(sent), total: size(total) }));
  write(at("rate", place), rate === null || paused ? "" : say(words.rate, { rate: size(rate) }));
  write(at("end", place), rate && busy && !paused ? say(words.end, { when: span(Math.max(1, (total - sent) / rate)) }) : "");
  at("pause", place).hidden = !busy;
  write(at("pause", place), paused ? words.resume : words.pause);
  at("retry", place).hidden = at("finish", place).hidden = busy || !now.failed;
  const quarter = Math.floor((4 * sent) / (total || 1));
  if (quarter > told && quarter < 4 && busy) { told = quarter; announce(say(words.percent, { percent: percent.format(quarter / 4) })); }
  rows();
  if (!busy) ended(now);
}
function rows() {
  const label = { waiting: words.waiting, sending: words.sending, done: words.arrived, failed: words.refused };
  const row = (each, text) => {
    const item = document.createElement("li"), name = document.createElement("bdi");
    name.textContent = each.path;
    item.append(name, ` · ${text}`);
    return item;
  };
  const failed = sending.files.filter((each) => each.state === "failed").slice(0, SHOWN);
  at("errors", place).hidden = !failed.length;
  at("errors", place).replaceChildren(...failed.map((each) => row(each, each.error || words.refused)));
  if (!at("list", place).parentElement.open) return;
  const wanted = ["sending", "waiting", "done"].flatMap((state) => sending.files.filter((each) => each.state === state)).slice(0, SHOWN);
  at("list", place).replaceChildren(...wanted.map((each) => row(each, each.state === "sending" ? percent.format(each.sent / (each.file.size || 1)) : label[each.state])));
}
at("list", place).parentElement.addEventListener("toggle", () => sending && rows());

async function ended(now) {
  if (now.failed) return announce(counted(words.failed, now.failed));
  announce(words.done);
  return finish();
}
let finishing = false;
async function finish() {
  if (finishing) return;
  finishing = true;
  try {
    await ask(`${batch}/close`, {});
    location.assign(batch);
  } catch (error) {
    finishing = false;
    at("offline", place).hidden = false;
    at("offline", place).textContent = error.message;
    at("finish", place).hidden = false;
  }
}

at("pause", place).addEventListener("click", () => {
  if (sending.paused) sending.resume();
  else { sending.pause(); announce(words.paused); }
});
at("retry", place).addEventListener("click", () => sending.retry());
at("finish", place).addEventListener("click", finish);
addEventListener("beforeunload", (event) => { if (sending?.busy && !finishing) event.preventDefault(); });
addEventListener("offline", () => { if (sending?.busy) { at("offline", place).textContent = words.offline; at("offline", place).hidden = false; } });
addEventListener("online", () => { at("offline", place).hidden = true; if (sending && !sending.paused) sending.retry(); });

// The form, and what works with scripts only
for (const each of form.querySelectorAll("[data-scripted]")) each.hidden = false;
for (const each of form.querySelectorAll("[data-plain]")) each.hidden = true;
const input = form.elements.files, folder = at("folder-input"), drop = at("drop");
at("folder").addEventListener("click", () => folder.click());
input.addEventListener("change", () => choose(picked(input)));
folder.addEventListener("change", () => choose(picked(folder)));
for (const type of ["dragenter", "dragover"]) drop.addEventListener(type, (event) => { event.preventDefault(); drop.classList.add("over"); });
for (const type of ["dragleave", "drop"]) drop.addEventListener(type, () => drop.classList.remove("over"));
drop.addEventListener("drop", async (event) => {
  event.preventDefault();
  await choose(await dropped(event.dataTransfer, Number(maxFiles)));
  at("summary").focus();
});
input.required = false; // files may come from a folder or a drop
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (!chosen.length) return input.focus();
  at("send").disabled = true;
  try {
    await begin();
  } catch (error) {
    at("chosen").hidden = false;
    note([error.message]);
    at("send").disabled = false;
  }
  return undefined;
});
if (input.files.length) choose(picked(input)); // the browser kept them
