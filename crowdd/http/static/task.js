// The volunteer's page around the presenter frame: what was saved, own count and rank, the project's bar, the line, the end.
// It never sees a task; presenter/bridge.js tells by events what happens in the frame (its head lists them).
import { project } from "./presenter/caller.js";
import { watch } from "./stream.js";
const $ = (id) => document.getElementById(id);
const locale = document.documentElement.lang || "en";
const number = new Intl.NumberFormat(locale);
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* switched off */ } };
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
const on = (name, act) => document.addEventListener(name, (event) => act(event.detail || {}));
const json = { Accept: "application/json" };

// Own answers: a stroke each, the fifth crosses the bundle.
const OFFER_AFTER = 3, OFFER_FOR = 20000, SAID_FOR = 10000, CHANGE_FOR = 30000, THANKS_EVERY = 10;
const thanks = `/project/${encodeURIComponent(project.short_name)}/thanks`; // the page that tells what this volunteer did
let count = Number($("count")?.dataset.count || 0), quiet = 0;

function bundle(strokes, fresh) {
  const mark = (d, last) => `<path ${fresh && last ? 'class="new" ' : ""}d="${d}"/>`;
  const upright = [3, 9, 15, 21].slice(0, strokes).map((x, i) => mark(`M${x} 3v16`, i === strokes - 1));
  return `<svg viewBox="-2 0 29 22">${upright.join("")}${strokes > 4 ? mark("M-1 17 25 5", true) : ""}</svg>`;
}
function draw(fresh) {
  if (!$("count")) return;
  const first = Math.max(0, Math.ceil(count / 5) - 4); // the last twenty are drawn, the figure tells the rest
  let drawn = first ? "…" : "";
  for (let at = first; at * 5 < count; at++) drawn += bundle(Math.min(5, count - at * 5), fresh && (at + 1) * 5 >= count);
  $("marks").innerHTML = drawn;
  $("count").textContent = number.format(count);
  $("count").hidden = !count;
}
function say(what, good, figures = {}) {
  if (!$("said")) return;
  const words = $("said").dataset[what === "idle" && !count ? "first" : what];
  $("said").textContent = words.replace(/\{(\w+)\}/g, (_, name) => number.format(name === "count" ? count : figures[name]));
  $("said").classList.toggle("ok", good === true);
}

/* Whether the answer to a gold task was right. It stays until the next answer: who learns reads slowly. */
function feedBack(gold) {
  const box = $("gold");
  if (!box) return;
  box.hidden = !gold || typeof gold.is_right !== "boolean";
  if (box.hidden) return;
  box.classList.toggle("ok", gold.is_right);
  box.classList.toggle("warn", !gold.is_right);
  $("gold-said").textContent = gold.is_right ? box.dataset.right : box.dataset.wrong;
  const words = [gold.answers].flat().map((one) => (one === null ? box.dataset.unsure : typeof one !== "object" ? String(one) : one.length === 0 ? box.dataset.nothing : ""));
  $("gold-answer").textContent = gold.is_right ? "" : words.filter(Boolean).join(" · ");
  $("gold-message").textContent = gold.message || "";
}

on("presenter:saved", ({ task, late, changed, gold }) => {
  feedBack(gold);
  if (!changed) count++;
  draw(!changed);
  say(changed ? "changed" : late ? "late" : isTenth() ? "milestone" : count === 1 ? "thanks" : "saved", true);
  clearTimeout(quiet);
  quiet = setTimeout(say, SAID_FOR, "idle");
  $("refused").hidden = true;
  until = 0; // what was asked to wait may go on
  offerChange(gold ? 0 : task);
  if (changed) return;
  offerAccount();
  if (isTenth()) tellResults();
  if (isTenth() || $("rank")?.hidden) askRank(); // without an answer there is none
});
on("presenter:progress", ({ done }) => {
  if (!(done > count)) return; // never backwards: the figure may be older than the last answer
  count = done;
  draw();
});
on("presenter:refused", ({ message, code }) => {
  $("refused-why").textContent = $("refused-why").dataset[code] || message;
  $("refused").hidden = false;
});

// Second thoughts: the last answer can be changed for a while.
let answered = 0, offering = 0, ended = false, shown = 0;
function offerChange(task) {
  if (!$("change")) return;
  answered = task;
  clearTimeout(offering);
  $("change").hidden = !task || !$("changing").hidden;
  if (task) offering = setTimeout(withdrawChange, CHANGE_FOR);
}
function withdrawChange() {
  if ($("change").contains(document.activeElement)) offering = setTimeout(withdrawChange, CHANGE_FOR);
  else offerChange(0);
}
$("change")?.addEventListener("click", () => {
  const task = answered;
  $("presenter").querySelector("iframe")?.focus(); // the button goes
  offerChange(0);
  tell("presenter:change", { task });
});
$("unchanged")?.addEventListener("click", () => tell("presenter:change", { task: null }));
on("presenter:changing", ({ task }) => {
  if (!$("changing")) return;
  if (task && $("changing").hidden) ended = !$("finished").hidden;
  $("changing").hidden = !task;
  if (task || !ended) return;
  $("finished").hidden = ended = false; // there was nothing behind it
  showOthers();
});
on("presenter:no-line", () => advise("later"));
on("page:press-again", () => advise("again"));
/* What the volunteer wants to know at once, also where the line has the place. */
function advise(what) {
  say(what, false);
  $("unsent").textContent = $("said").textContent;
  clearTimeout(quiet);
  quiet = setTimeout(() => { say("idle"); showLine(); }, SAID_FOR);
}

async function askRank() {
  if (!$("rank")) return;
  const { user } = await fetch("/account/profile", { headers: json }).then((answer) => answer.json()).catch(() => ({}));
  if (!user?.rank || !user.score) return;
  $("rank").textContent = $("rank").dataset.words.replace("{rank}", number.format(user.rank));
  $("rank").hidden = false;
}

const isTenth = () => count > 0 && count % THANKS_EVERY === 0;
async function tellResults() {
  const told = count;
  const { recent, settled } = await fetch(thanks, { headers: json }).then((answer) => answer.json()).catch(() => ({}));
  if (settled && count === told) say("settled", true, { recent, settled });
}
// The offer of an account: after the third answer and the one after each thanks, for a while, until it is declined.
function offerAccount() {
  const box = $("sign-up");
  if (box && isTenth()) box.hidden = true; // thanks have the line for themselves
  if (!box || !(count === OFFER_AFTER || (count % THANKS_EVERY === 1 && count > 1)) || recall("sign-up-offer")) return;
  box.hidden = false;
  setTimeout(() => { box.hidden = !box.matches(":hover, :focus-within"); }, OFFER_FOR);
}
$("sign-up-no")?.addEventListener("click", () => {
  $("sign-up").hidden = true;
  remember("sign-up-offer", "declined");
});

// The link to comment leads to the task that is shown: "done" ends it. Those who sign in come back to what they had begun.
function linkComment(task) {
  if (!$("comment")) return;
  $("comment").hidden = !task;
  if (!task) return;
  const here = `${$("comment").dataset.home}task/${task}`, join = $("sign-up")?.querySelector("a");
  $("comment").href = `${here}/comment`;
  if (join) join.href = `/account/register?next=${encodeURIComponent(here)}`;
}
linkComment((location.pathname.match(/\/task\/(\d+)/) || [])[1]);

// The end, and what comes near to it
on("presenter:task", ({ task }) => {
  linkComment(task);
  $("finished").hidden = true;
  hideOthers();
  $("frame").classList.remove("over");
});
on("presenter:done", ({ reason, held, retryAfter }) => {
  linkComment(0);
  const why = $("finished-why").dataset;
  const wait = reason === "wait", network = reason === "network";
  $("finished-why").textContent = wait ? others(held) : network ? why.network : whole() ? why.whole : why.none;
  $("finished-when").textContent = wait && retryAfter ? soon(retryAfter) : "";
  $("look-again").hidden = !wait;
  if ($("by-account")) $("by-account").hidden = !network;
  $("finished").hidden = false;
  $("frame").classList.add("over"); // thanks need little room: what comes next stands right below
  showOthers();
});
const whole = () => $("progress") && $("progress").value >= $("progress").max;
function others(held) {
  const forms = JSON.parse($("finished-why").dataset.held);
  const form = forms[new Intl.PluralRules(locale).select(held || 1)] || forms.other;
  return form.replace("{num}", number.format(held) + (held >= 100 ? "+" : ""));
}
function soon(seconds) {
  const words = new Intl.RelativeTimeFormat(locale), minutes = Math.ceil(seconds / 60);
  const time = minutes < 90 ? words.format(minutes, "minute") : words.format(Math.ceil(minutes / 60), "hour");
  return $("finished-when").dataset.words.replace("{time}", time);
}

// What this volunteer did, and other projects: parts of a page of ours, which the server wrote.
async function showOthers() {
  const asked = ++shown;
  const text = await fetch(thanks, { headers: { Accept: "text/html" } }).then((answer) => answer.text()).catch(() => "");
  if (asked !== shown) return; // there is a task again, or somebody asked later
  const page = new DOMParser().parseFromString(text, "text/html");
  for (const [name, parts] of [["did", "#did > *"], ["others-list", "#next li"]]) $(name).replaceChildren(...page.querySelectorAll(parts));
  $("did").hidden = !$("did").children.length;
  $("others").hidden = !$("others-list").children.length;
  if (!$("others").hidden) $("another").href = "#others"; // below the frame: what people are about to touch stays where it is
}
function hideOthers() {
  shown++;
  $("did").hidden = $("others").hidden = true;
}

// The project's figures change in place and announce nothing; that it closes is said.
let refused = "", hasTask = false; // why no more tasks are handed out; whether one was shown on this page
on("presenter:task", () => { hasTask = true; });
on("presenter:closed", ({ code }) => close((refused = code)));
function close(why) {
  $("closed-why").textContent = $("closed-why").dataset[why === "paused" && !hasTask ? "resting" : why];
  $("closed").hidden = false;
  showOthers();
}
function showState({ status, n_completed_tasks: done, n_tasks: total, overall_progress: share }) {
  if ($("progress") && total > 0) {
    $("progress").value = share;
    $("progress").classList.toggle("done", share >= 100);
    $("share").textContent = number.format(share) + "\u00a0%";
    $("done").textContent = number.format(done);
    $("total").textContent = number.format(total);
  }
  if (status === "paused") return close("paused");
  if ($("closed").hidden || ["gone", "barred"].includes(refused)) return;
  $("closed").hidden = true; // it goes on
  hideOthers();
  if (refused) tell("presenter:restart");
  refused = "";
}
if ($("presenter").dataset.live) watch($("presenter").dataset.live, showState);

// Files of an answer on their way
on("presenter:uploading", ({ share }) => {
  if (!$("uploading")) return;
  $("uploading").hidden = share >= 1;
  $("uploading-share").value = Math.floor(100 * share);
});

// The line
let unsent = 0, isLoose = false; // whether an answer would be lost with this page
function showLine() {
  const words = $("unsent").dataset;
  $("offline").hidden = navigator.onLine && !unsent;
  const said = !unsent ? words.none : isLoose ? words.loose : unsent > 1 ? words.many : words.one;
  $("unsent").textContent = said.replace("{count}", number.format(unsent));
  $("offline").title = $("unsent").textContent; // there is little room
}
on("presenter:waiting", ({ count: waiting, task, kept }) => {
  unsent = waiting;
  isLoose = unsent > 0 && (isLoose || kept === false);
  showLine();
  if (task) offerChange(task);
});
addEventListener("online", showLine);
addEventListener("offline", showLine);
addEventListener("beforeunload", (event) => isLoose && event.preventDefault());

// Too many requests: they go out by themselves when the time has come. The seconds are for those who look, not to be read out.
let until = 0, counting = 0;
on("presenter:throttled", ({ until: moment }) => {
  until = Math.max(until, moment);
  clearInterval(counting);
  counting = setInterval(countDown, 1000);
  countDown();
});
function countDown() {
  const left = Math.ceil((until - Date.now()) / 1000);
  $("throttled").hidden = left <= 0;
  $("throttled-for").textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
  if (left <= 0) clearInterval(counting);
}

draw();
showLine();
