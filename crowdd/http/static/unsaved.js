// No page of an account loses what was typed: the browser asks before it is gone, and long texts are kept as drafts in this
// browser until they are saved. A draft belongs to an account and an address. Signing out removes all (ui.js).
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const { account, words, restore, discard } = document.querySelector("script[data-account]").dataset;
const posts = () => [...document.forms].filter(form => form.method === "post");

// What is typed and not saved. A form that was refused came back with what was typed, and one with data-unsaved, too. Passwords are never counted.
const differs = field => {
  if (field.type === "checkbox" || field.type === "radio") return field.checked !== field.defaultChecked;
  if (field.options) return ![...field.options].some(option => option.defaultSelected && option.selected) && field.selectedIndex > 0;
  if (["hidden", "password", "submit", "search"].includes(field.type) || "must" in field.dataset) return false;
  return "defaultValue" in field && field.value !== field.defaultValue;
};
const unsaved = form => "unsaved" in form.dataset || form.querySelector("[aria-invalid]") || [...form.elements].some(differs);
let sent = null; // the form that is on its way: what it holds is being saved

const ask = event => {
  if (navigator.userActivation?.hasBeenActive === false) return; // nobody has touched the page: the browser would refuse to ask
  event.preventDefault();
  setTimeout(() => { sent = null; }); // the page stays
};
function guard() {
  const open = posts().some(form => form !== sent && unsaved(form));
  if (open) addEventListener("beforeunload", ask); else removeEventListener("beforeunload", ask);
}
addEventListener("input", () => { sent = null; guard(); });
addEventListener("submit", event => {
  if (event.target.method !== "post") return;
  sent = event.target;
  guard();
  if (!event.defaultPrevented) leaving(event.target);
});
guard();

// Drafts. The storage may be switched off or full: then there are none.
const KEPT_DAYS = 30, MAX_CHARACTERS = 200000, WAIT = 400, SENT = "drafts-sent";
const SECRET = /passw|secret|token|key/i;
const here = location.pathname + location.search;
const mine = `draft ${account} `;
const keyOf = field => `${mine}${here} ${field.name}`;
const plain = text => text.replaceAll("\r\n", "\n");
const attempt = act => { try { return act(); } catch { return undefined; } };
const read = key => attempt(() => JSON.parse(localStorage.getItem(key)));
const texts = form => all("textarea[name]", form).filter(field => !SECRET.test(field.name) && !field.readOnly);

function keep(form) {
  for (const field of texts(form)) attempt(() => {
    if ((field.value === field.defaultValue && !("unsaved" in form.dataset)) || field.value.length > MAX_CHARACTERS) localStorage.removeItem(keyOf(field));
    else localStorage.setItem(keyOf(field), JSON.stringify({ text: field.value, at: Date.now() }));
  });
}
let waiting = 0;
addEventListener("input", ({ target }) => {
  if (target.form?.method !== "post") return;
  clearTimeout(waiting);
  waiting = setTimeout(keep, WAIT, target.form);
});
function leaving(form) {
  clearTimeout(waiting);
  keep(form);
  attempt(() => sessionStorage.setItem(SENT, JSON.stringify({ from: here, keys: texts(form).map(keyOf) })));
}

// The page after a form: the text is saved when it says so, or is another page that the form led to; a refused form keeps its draft.
function settle() {
  const { from, keys } = attempt(() => JSON.parse(sessionStorage.getItem(SENT))) || {};
  attempt(() => sessionStorage.removeItem(SENT));
  const refused = document.querySelector("[aria-invalid], .flash.bad");
  const led = from !== here && document.referrer === location.origin + from;
  if (keys && !refused && (led || document.querySelector(".flashes"))) for (const key of keys) localStorage.removeItem(key);
}
function tidy() {
  for (const key of Object.keys(localStorage).filter(each => each.startsWith("draft ")))
    if (!key.startsWith(mine) || !(read(key)?.at > Date.now() - KEPT_DAYS * 86400000)) localStorage.removeItem(key);
}
function ago(at) {
  const format = new Intl.RelativeTimeFormat(document.documentElement.lang), minutes = Math.round((Date.now() - at) / 60000);
  if (minutes < 60) return format.format(-minutes, "minute");
  return minutes < 1440 ? format.format(-Math.round(minutes / 60), "hour") : format.format(-Math.round(minutes / 1440), "day");
}
function button(label, act) {
  const made = Object.assign(document.createElement("button"), { type: "button", className: "btn sm", textContent: label });
  made.addEventListener("click", act);
  return made;
}
function offer(field, { text, at }) {
  const box = Object.assign(document.createElement("div"), { className: "flash", role: "status" });
  const line = Object.assign(document.createElement("div"), { className: "row" });
  const said = Object.assign(document.createElement("span"), { textContent: words.replace("{time}", ago(at)) });
  line.append(said, button(restore, () => {
    field.value = text;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    box.remove();
    field.focus();
  }), button(discard, () => {
    attempt(() => localStorage.removeItem(keyOf(field)));
    box.remove();
    field.focus();
  }));
  box.append(line);
  const place = document.getElementById(field.dataset.offer); // of a field that another view may hide
  if (place) place.append(box); else field.before(box);
}
attempt(settle);
attempt(tidy);
for (const form of posts().filter(each => "unsaved" in each.dataset)) keep(form);
for (const field of posts().filter(form => !("unsaved" in form.dataset)).flatMap(texts)) {
  const draft = read(keyOf(field));
  if (draft && plain(draft.text) !== plain(field.value)) offer(field, draft);
  else if (draft && !field.closest("form").querySelector("[aria-invalid]")) attempt(() => localStorage.removeItem(keyOf(field)));
}
