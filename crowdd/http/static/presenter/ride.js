/* Tasks with their media, and the page that shows them, in this browser: with them the page opens again where there is no line, also
   after the browser was closed.  For questions as data only: such a page runs no script of an owner (docs/security.md).  The rows
   are in the browser's database (store.js), the page and its files in a cache that worker.js reads. */
import { isAddress, sourceOf } from "../questions/sources.js";
import { memory, project, volunteer } from "./caller.js";
import { forget } from "./forget.js";
import { carryOut, rowsOf } from "./store.js";

const page = document.getElementById("presenter").dataset;
const home = location.pathname.replace(/(newtask|task\/\d+)\/?$/, ""); // of the project
const CACHE = `along ${page.release}`, APP = "/app/", WORKER = "/app/worker.js";
const MAX_BYTES = 100e6, MAX_SHARE = 0.8; // of media; and of what the browser has left for this site
const HEADERS = ["Content-Type", "Content-Security-Policy", "Cross-Origin-Opener-Policy", "Referrer-Policy", "X-Content-Type-Options", "X-Frame-Options"];
const TILES = /(\/info\.json|\.dzi|\.xml)([?#]|$)/i;
let ended = false; // the volunteer has signed out

/** Whether this is the page that the worker shows. */
export const isRide = "along" in page;

/** Whether this browser can keep the page and this project's tasks: not on plain http, nor with a presenter of an owner's own. */
export const isPossible = () => "release" in page && isSecureContext && "serviceWorker" in navigator && "caches" in window;

/** What has no room in this browser. */
export class Full extends Error {}

const isPublic = (address) => {
  const { origin, pathname } = new URL(address, location.origin);
  return origin === location.origin && /^\/(static|uploads)\//.test(pathname) && !TILES.test(pathname);
};

async function load(address, init) {
  const answer = await fetch(address, init);
  if (!answer.ok || answer.redirected) throw new TypeError(`${address} did not come.`);
  return answer;
}
const textOf = async (address, init) => (await load(address, init)).text();
const parsed = (text) => new DOMParser().parseFromString(text, "text/html");

/** Takes tasks along that are leased until a moment.  Resolves with {ids, bytes} of those whose media are all here; throws Full. */
export async function pack(tasks, until) {
  try {
    const text = await textOf(`${home}along`), rows = [], files = new Map();
    const { list } = JSON.parse(parsed(text).getElementById("questions").textContent);
    const media = list.steps.flatMap((step) => step.media ?? []).filter(({ type, source }) => type !== "text" || "url" in Object(source));
    for (const task of tasks) {
      const addresses = media.flatMap(({ source }) => sourceOf(source, task)).filter(isAddress);
      if (await bring(addresses, files)) rows.push({ key: `${memory} ${task.id}`, memory, nth: rows.length, task, until, addresses });
    }
    const bytes = sum([...files.values()].map(({ size }) => size));
    if (!rows.length || ended) return { ids: [], bytes: 0 };
    await requireRoom(bytes);
    await keepPages(text);
    await store(rows.map(({ addresses, ...row }) => ({ ...row, media: addresses.map((address) => [address, files.get(address)]) })), until);
    await register();
    return { ids: rows.map(({ task }) => task.id), bytes: bytes + JSON.stringify(tasks).length };
  } catch (error) {
    await unload();
    if (error?.name === "QuotaExceededError") throw new Full();
    throw error;
  }
}
const sum = (numbers) => numbers.reduce((one, other) => one + other, 0);

/* Whether all of these media are in `files` now.  Those of other sites are not, and none that would be too much. */
async function bring(addresses, files) {
  if (!addresses.every(isPublic)) return false;
  const left = MAX_BYTES - sum([...files.values()].map(({ size }) => size)), fresh = new Map();
  for (const address of addresses) {
    if (files.has(address) || fresh.has(address)) continue;
    const answer = await load(address, { credentials: "omit", priority: "low" }).catch(() => null);
    if (!answer || Number(answer.headers.get("Content-Length")) > left) return false;
    fresh.set(address, await answer.blob());
  }
  if (sum([...fresh.values()].map(({ size }) => size)) > left) return false;
  for (const [address, file] of fresh) files.set(address, file);
  return true;
}

async function requireRoom(bytes) {
  const { quota = Infinity, usage = 0 } = (await navigator.storage?.estimate?.()) ?? {};
  if (bytes > MAX_SHARE * (quota - usage)) throw new Full();
}

async function store(rows, until) {
  const before = await rowsOf("tasks", memory), mine = { id: project.id, name: project.name, address: `${home}newtask` };
  await carryOut("tasks", "readwrite", (all) => {
    for (const { key } of before) all.delete(key);
    for (const row of rows) all.put(row);
  });
  await carryOut("rides", "readwrite", (all) => all.put({ memory, volunteer, project: mine, until }));
  await caches.open(`along of ${document.querySelector("[data-account]")?.dataset.account ?? ""}`); // for ui.js: a name without files
}

/* The page as it is now, and that of the installed site, with what they are made of; and the frame's document in one piece. */
async function keepPages(document) {
  const cache = await caches.open(CACHE), files = new Set();
  for (const path of [`${home}newtask`, APP]) {
    const answer = await load(path, { headers: { Accept: "text/html" }, cache: "no-store" }), text = await answer.text(), shown = parsed(text);
    const its = shown.getElementById("presenter")?.dataset;
    if (its && (its.volunteer !== volunteer || its.release !== page.release)) throw new TypeError("This page is of another account or release by now.");
    for (const part of shown.querySelectorAll("link[href], script[src]")) files.add(part.getAttribute("href") ?? part.getAttribute("src"));
    const headers = HEADERS.filter((name) => answer.headers.has(name)).map((name) => [name, answer.headers.get(name)]);
    await cache.put(path, new Response(its ? text.replace('<div id="presenter"', '<div id="presenter" data-along') : text, { headers }));
  }
  await cache.put(`${home}newtask?_presenter=along`, new Response(await inOnePiece(document)));
  for (const file of files) await keepFile(cache, file);
}

/* Fonts and pictures of a style sheet, too. */
async function keepFile(cache, address) {
  const { origin, pathname, href } = new URL(address, location.origin);
  if (origin !== location.origin || !/^\/(static\/|site\.css$)/.test(pathname) || (await cache.match(href))) return;
  const answer = await load(href, { credentials: "omit" });
  await cache.put(href, answer.clone());
  if (!pathname.endsWith(".css")) return;
  for (const [, part] of (await answer.text()).matchAll(/url\(["']?([^)"']+)/g)) if (!part.startsWith("data:")) await keepFile(cache, new URL(part, href).href);
}

/* With its style sheets and scripts in it.  What an owner wrote stands in it as JSON, without a tag. */
async function inOnePiece(text) {
  let html = text, end = ""; // what was deferred runs at the end
  const [begins, sheets, scripts, start] = text.match(/<script data-sheets="([^"]*)"\s+data-scripts="([^"]*)"([^>]*)>/) ?? []; // hello.js
  if (begins) {
    const files = (addresses) => Promise.all(addresses.split(" ").filter(Boolean).map((address) => textOf(address)));
    const styles = (await files(sheets)).map((sheet) => `<style>${sheet}</style>`).join(""), codes = await files(scripts);
    html = html.replace(begins, () => `${styles}<script>`).replace("<html", "<html data-look");
    end = codes.map((code, nth) => `<script${nth === codes.length - 1 ? start : ""}>${code.replaceAll("</script", "<\\/script")}</script>`).join("");
  }
  for (const [tag, address] of text.matchAll(/<link rel="stylesheet" href="([^"]+)">/g)) {
    const sheet = await textOf(address);
    html = html.replace(tag, () => `<style>${sheet}</style>`);
  }
  for (const [tag, attributes, address] of text.matchAll(/<script ([^>]*\bsrc="([^"]+)"[^>]*)><\/script>/g)) {
    const script = (await textOf(address)).replaceAll("</script", "<\\/script");
    html = html.replace(tag, "");
    end += `<script ${attributes.replace(/\b(src="[^"]*"|defer|crossorigin)/g, "")}>${script}</script>`;
  }
  return html.replace("</body>", () => `${end}</body>`);
}

/* For the pages of this project's tasks and the installed site alone; resolves when all work. */
async function register() {
  const [, name] = home.match(/([^/]+)\/$/);
  for (const scope of [APP, `${home}newtask`, `${home}task/`]) {
    const { installing, waiting } = await navigator.serviceWorker.register(scope === APP ? WORKER : `${WORKER}?project=${name}`, { scope, updateViaCache: "none" });
    const worker = installing ?? waiting;
    if (worker) await new Promise((ready) => worker.addEventListener("statechange", () => ["activated", "redundant"].includes(worker.state) && ready()));
  }
}

/** What was taken along before: {tasks: [{task, until}], late}, in their order; `late` is the number of those whose time is over. */
export async function unpack() {
  const rides = await rowsOf("rides").catch(() => []);
  if (!isRide && rides.some((ride) => ride.volunteer !== volunteer)) await forget({ answers: false });
  if (!("release" in page)) return { tasks: [], late: 0 };
  const rows = (await rowsOf("tasks", memory).catch(() => [])).sort((one, other) => one.nth - other.nth), now = Date.now();
  const late = rows.filter(({ until }) => until <= now), tasks = rows.filter(({ until }) => until > now);
  await drop(late.map(({ task }) => task.id));
  if (!rows.length) await unload();
  else if (!isRide && isPossible() && !(await caches.match(`${home}newtask`, { cacheName: CACHE }))) await renew();
  return { tasks, late: late.length };
}

/* The pages of an earlier release are gone. */
async function renew() {
  await textOf(`${home}along`).then(keepPages).then(register).catch(() => null);
}

/* Where nothing of this project is left to show or to send, its page goes, and the last one takes the workers with it. */
async function unload() {
  const left = await Promise.all(["tasks", "answers"].map((name) => rowsOf(name, memory))).catch(() => [[]]);
  if (left.flat().length) return;
  await carryOut("rides", "readwrite", (all) => all.delete(memory)).catch(() => null);
  if (!(await rowsOf("rides").catch(() => [])).length) return forget({ answers: false });
  const cache = (await caches.has(CACHE)) && (await caches.open(CACHE));
  for (const path of cache ? ["newtask", "newtask?_presenter=along"] : []) await cache.delete(home + path);
  for (const one of await navigator.serviceWorker.getRegistrations()) if (new URL(one.scope).pathname.startsWith(home)) await one.unregister();
}

/** Forgets tasks that are over. */
export async function drop(ids) {
  if (!ids.length || !("release" in page)) return;
  await carryOut("tasks", "readwrite", (all) => {
    for (const id of ids) all.delete(`${memory} ${id}`);
  }).catch(() => null);
}

/** The media of tasks that are here: {address: data: URL}. */
export async function filesOf(ids) {
  const rows = (await rowsOf("tasks", memory).catch(() => [])).filter(({ task }) => ids.includes(task.id));
  const entries = await Promise.all(rows.flatMap(({ media }) => media).map(async ([address, file]) => [address, await dataOf(file)]));
  return Object.fromEntries(entries);
}

function dataOf(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}

/** To be called when the volunteer has signed out: nothing is kept any more. */
export function end() {
  ended = true;
}
