// Volunteers whose session ended while they were at a task sign in again in another tab: a presenter's frame could take the
// keys of a password that is typed beside it. This page keeps what was typed and what waits, looks for the new session by
// itself, and goes on.
import { project, renew, volunteer } from "./presenter/caller.js";
const $ = (id) => document.getElementById(id);
const SOONEST = 1000, EVERY = 15000, LONGEST = 3600000; // milliseconds: between two looks, and how long to look
let away = false, since = 0, looked = -Infinity, due = 0;

// The token for what this page writes from now on stands in the page that the new session would get.
async function renewToken() {
  const address = `/project/${encodeURIComponent(project.short_name)}/newtask`;
  const text = await (await fetch(address, { headers: { Accept: "text/html" } })).text();
  const page = new DOMParser().parseFromString(text, "text/html").getElementById("presenter");
  if (page?.dataset.volunteer === volunteer) renew(page.dataset.csrf);
  return page?.dataset.volunteer === volunteer;
}

async function look() {
  const answer = await fetch("/account/profile", { headers: { Accept: "application/json" } });
  const { user } = await answer.json();
  $("away-other").hidden = !user || String(user.id) === volunteer;
  if (!user || !$("away-other").hidden || !(await renewToken())) return;
  away = false;
  $("away").hidden = true;
  document.dispatchEvent(new CustomEvent("presenter:signed-in"));
}
function lookSoon() {
  if (!away || due) return;
  due = setTimeout(() => {
    due = 0;
    looked = performance.now();
    look().catch(() => {}); // without a connection: later
  }, Math.max(0, looked + SOONEST - performance.now()));
}

function wait() {
  if (!away || performance.now() - since > LONGEST) return;
  setTimeout(() => {
    if (!document.hidden) lookSoon();
    wait();
  }, EVERY);
}

document.addEventListener("presenter:signed-out", () => {
  if (away) return;
  away = true;
  since = performance.now();
  $("away").hidden = false;
  wait();
});
addEventListener("focus", lookSoon);
document.addEventListener("visibilitychange", lookSoon);
new BroadcastChannel("pages").addEventListener("message", ({ data }) => data === "loaded" && lookSoon()); // ui.js
