// The volunteer's page around the presenter frame: what was saved, own count, shortcuts, help, the line, the offer of an account.
// It never sees a task; presenter/bridge.js tells by events what happens in the frame (its head lists them).
const $ = (id) => document.getElementById(id);
const locale = document.documentElement.lang || "en";
const remember = (key, value) => { try { localStorage.setItem(key, value); } catch { /* switched off */ } };
const recall = (key) => { try { return localStorage.getItem(key); } catch { return null; } };
const tell = (name, detail) => document.dispatchEvent(new CustomEvent(name, { detail }));
const on = (name, act) => document.addEventListener(name, (event) => act(event.detail));

// Own answers: a stroke each, the fifth crosses the bundle.
const OFFER_AFTER = 3, OFFERED_FOR = 20000, SAID_FOR = 10000;
let count = Number($("count")?.dataset.count || 0), quiet = 0;

function bundle(strokes, fresh) {
  const mark = (d, last) => `<path ${fresh && last ? 'class="new" ' : ""}d="${d}"/>`;
  const upright = [3, 9, 15, 21].slice(0, strokes).map((x, i) => mark(`M${x} 3v16`, i === strokes - 1));
  return `<svg viewBox="-2 0 29 22">${upright.join("")}${strokes > 4 ? mark("M-1 17 25 5", true) : ""}</svg>`;
}
function draw(fresh) {
  if (!$("count")) return;
  const first = Math.max(0, Math.ceil(count / 5) - 4); // the last twenty are drawn, the figure tells the rest
  let drawn = "";
  for (let at = first; at * 5 < count; at++) drawn += bundle(Math.min(5, count - at * 5), fresh && (at + 1) * 5 >= count);
  $("marks").innerHTML = drawn;
  $("count").textContent = count.toLocaleString(locale);
}
function say(what, good) {
  if (!$("said")) return;
  $("said").textContent = $("said").dataset[what];
  $("said").classList.toggle("ok", good === true);
}

on("presenter:saved", () => {
  count++;
  draw(true);
  say("saved", true);
  clearTimeout(quiet);
  quiet = setTimeout(say, SAID_FOR, "idle");
  $("refused").hidden = true;
  offerAccount();
  refresh();
});
on("presenter:progress", ({ done }) => {
  if (!(done > count)) return; // never backwards: the figure may be older than the last answer
  count = done;
  draw();
});
on("presenter:refused", ({ message, status, retryAfter }) => {
  const why = $("refused-why");
  why.textContent = status === 429 && retryAfter ? why.dataset.throttled.replace("{seconds}", retryAfter) : message;
  $("refused").hidden = false;
});
on("presenter:task", () => { $("finished").hidden = true; });
on("presenter:done", ({ wait, held, retryAfter }) => {
  $("finished-why").textContent = wait ? others(held) : $("finished-why").dataset.none;
  $("finished-when").textContent = wait && retryAfter ? soon(retryAfter) : "";
  $("look-again").hidden = !wait;
  $("finished").hidden = false;
});
function others(held) {
  const forms = JSON.parse($("finished-why").dataset.held);
  const form = forms[new Intl.PluralRules(locale).select(held || 1)] || forms.other;
  return form.replace("{num}", held.toLocaleString(locale) + (held >= 100 ? "+" : ""));
}
function soon(seconds) {
  const words = new Intl.RelativeTimeFormat(locale), minutes = Math.ceil(seconds / 60);
  const time = minutes < 90 ? words.format(minutes, "minute") : words.format(Math.ceil(minutes / 60), "hour");
  return $("finished-when").dataset.words.replace("{time}", time);
}

// The project's figures change in place, at most every ten seconds, and announce nothing.
const REFRESH_EVERY = 10000;
let refreshed = performance.now();
async function refresh() {
  if (!$("progress") || performance.now() - refreshed < REFRESH_EVERY) return;
  refreshed = performance.now();
  try {
    const answer = await fetch($("leave").href, { headers: { Accept: "application/json" }, signal: AbortSignal.timeout(10000) });
    const { n_completed_tasks: done, n_tasks: total } = await answer.json();
    if (Number.isInteger(done) && total > 0) showProgress(done, total);
  } catch { /* the next answer asks again */ }
}
function showProgress(done, total) {
  Object.assign($("progress"), { max: total, value: done });
  $("done").textContent = done.toLocaleString(locale);
  $("total").textContent = total.toLocaleString(locale);
}

// The line
let unsent = 0;
function showLine() {
  const words = $("unsent").dataset;
  $("offline").hidden = navigator.onLine && !unsent;
  const many = words.many.replace("{count}", unsent.toLocaleString(locale));
  $("unsent").textContent = unsent > 1 ? many : unsent ? words.one : words.none;
}
on("presenter:waiting", ({ count: waiting }) => {
  unsent = waiting;
  showLine();
  if (unsent) say("waiting", false);
});
addEventListener("online", showLine);
addEventListener("offline", showLine);
addEventListener("beforeunload", (event) => unsent && event.preventDefault());

// The offer of an account: after the third answer and every tenth, for a while, until it is declined.
function offerAccount() {
  if (!$("sign-up") || !(count === OFFER_AFTER || (count % 10 === 0 && count > 0)) || recall("sign-up-offer")) return;
  $("sign-up").hidden = false;
  setTimeout(() => { $("sign-up").hidden = !$("sign-up").contains(document.activeElement); }, OFFERED_FOR);
}
$("sign-up-no")?.addEventListener("click", () => {
  $("sign-up").hidden = true;
  remember("sign-up-offer", "declined");
});

// Help beside the task
function help(open) {
  if (!$("help")) return;
  $("help").hidden = !open;
  $("frame").classList.toggle("helped", open);
  $("help-open").ariaExpanded = String(open);
  $(open ? "help-close" : "help-open").focus();
}
$("help-open")?.addEventListener("click", () => help($("help").hidden));
$("help-close")?.addEventListener("click", () => help(false));

// Keys: those of the page here, all others go to the presenter, wherever the focus is.
const useKeys = $("use-keys");
const press = (key) => tell("presenter:press", { key });
function listOffers({ keys }) {
  const rows = keys.map(([key, label]) => {
    const row = document.createElement("tr");
    row.innerHTML = '<th scope="row"><kbd></kbd></th><td></td>';
    row.querySelector("kbd").textContent = key.toUpperCase();
    row.querySelector("td").textContent = label;
    return row;
  });
  $("offers").hidden = !rows.length;
  $("offers").replaceChildren($("offers").rows[0], ...rows);
  $("skip").dataset.offered = keys.some(([key]) => key.toLowerCase() === "s") ? "yes" : "";
  $("key-skip").hidden = $("skip").dataset.offered === "yes"; // it stands among those of the presenter
}
// The presenter's own way of skipping, where it has one; else leases.js takes another task.
const skip = () => ($("skip").dataset.offered ? press("s") : tell("presenter:skip"));
function escape(event) {
  if ($("help") && !$("help").hidden) help(false);
  else if (!event.isTrusted) $("leave").focus(); // from the frame: the way out for people without a mouse
}
function takesKey(event) {
  return event.target instanceof Element && (event.target.matches("input, textarea, select, [contenteditable]")
    || (/^(Enter| )$/.test(event.key) && event.target.matches("button, a, summary")));
}
addEventListener("keydown", (event) => {
  if (document.querySelector("dialog[open]") || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.key === "Escape") return escape(event);
  if (!useKeys?.checked || takesKey(event)) return;
  if (event.key === "?") $("keys").showModal();
  else if (event.key.toLowerCase() === "h" && $("help")) help($("help").hidden);
  else if (event.key.toLowerCase() === "s" && !$("skip").hidden && !$("skip").dataset.offered) skip();
  else if (event.isTrusted && /^([^ ]|Enter)$/.test(event.key)) return press(event.key);
  else return;
  event.preventDefault();
});
if (useKeys) {
  on("presenter:offers", listOffers);
  $("keys-open").addEventListener("click", () => $("keys").showModal());
  $("skip").addEventListener("click", skip);
  useKeys.checked = recall("shortcuts") !== "off";
  const apply = () => tell("presenter:shortcuts", { on: useKeys.checked });
  useKeys.addEventListener("change", () => {
    remember("shortcuts", useKeys.checked ? "on" : "off");
    apply();
  });
  addEventListener("DOMContentLoaded", apply); // bridge.js is there by then
}
draw();
showLine();
