// The command palette: a combobox in a dialog. What can be gone to comes from /palette; language, display and sign-out are the
// buttons of the page's head, which it presses.
const PAUSE = 120, MOST = 150; // milliseconds, entries
const dialog = document.getElementById("palette");
const input = dialog.querySelector("[role=combobox]"), list = dialog.querySelector("[role=listbox]");
const status = dialog.querySelector("[role=status]");
const locale = document.documentElement.lang || "en";
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLocaleLowerCase(locale);

let places = [], timer = 0, asking = null, going = null, shown = [], active = -1;

/** Opens the palette; `button` is what opened it. */
export function open(button) {
  input.value = "";
  for (const menu of document.querySelectorAll("details.menu[open]")) menu.open = false;
  if (!dialog.open) dialog.showModal();
  places = [...buttons()];
  show(places);
  going = ask("").then((entries) => {
    places = [...entries, ...buttons()];
    if (!input.value.trim()) show(places);
    else typed();
  });
  dialog.addEventListener("close", () => button.focus(), { once: true });
}

// What the head of the page can do, under the name of its menu.
function* buttons() {
  for (const button of document.querySelectorAll("button[form=preferences], button[form=sign-out]")) {
    if (button.hasAttribute("aria-current")) continue;
    const group = button.closest("details").querySelector("summary").getAttribute("aria-label");
    yield { group, words: button.textContent.trim(), lang: button.lang, button };
  }
}

async function ask(text) {
  asking?.abort();
  asking = new AbortController();
  const [, project = ""] = location.pathname.match(/^\/project\/([^/]+)\//) || [];
  const query = new URLSearchParams({ q: text, project: decodeURIComponent(project) });
  try { query.set("recent", JSON.parse(localStorage["recent-projects"] || "[]").map(decodeURIComponent).join()); } catch { /* none */ }
  try {
    const answer = await fetch(`/palette?${query}`, { headers: { Accept: "application/json" }, signal: asking.signal });
    return (await answer.json()).entries || [];
  } catch { return []; } // offline, signed out or overtaken by the next letter
}

// What is known already is shown at once; own projects beyond these and tasks come from the server after a pause.
function typed() {
  clearTimeout(timer);
  const text = input.value.trim();
  if (!text) return show(places);
  show([...matching(text), search(text)]);
  going = new Promise((done) => {
    timer = setTimeout(async () => {
      const entries = await ask(text);
      if (input.value.trim() === text) show([...merged(entries, matching(text)), search(text)]);
      done();
    }, PAUSE);
  });
}
function matching(text) {
  const words = plain(text).split(/\s+/);
  const fits = (entry) => words.every((word) => plain(`${entry.words} ${entry.group}`).includes(word));
  const first = (entry) => plain(entry.words).startsWith(words[0]);
  const found = places.filter(fits);
  return [...found.filter(first), ...found.filter((entry) => !first(entry))];
}
function merged(entries, known) {
  const addresses = new Set(known.map((entry) => entry.address).filter(Boolean));
  const tasks = entries.filter((entry) => /\/tasks\/\d+$/.test(entry.address));
  const others = entries.filter((entry) => !tasks.includes(entry) && !addresses.has(entry.address));
  return [...tasks, ...known, ...others];
}
function search(text) {
  const address = `/project/search?q=${encodeURIComponent(text)}`;
  return { group: "", words: dialog.dataset.search.replace("{text}", () => text), address, last: true };
}

function show(entries) {
  shown = entries.slice(0, MOST);
  if (entries.length > MOST && entries.at(-1).last) shown.push(entries.at(-1));
  const groups = new Map();
  for (const entry of shown) groups.set(entry.group, [...(groups.get(entry.group) || []), entry]);
  shown = [...groups.values()].flat();
  list.replaceChildren(...[...groups].map(([name, members]) => group(name, members)));
  const count = shown.filter((entry) => !entry.last).length, forms = JSON.parse(dialog.dataset.count);
  const words = forms[new Intl.PluralRules(locale).select(count)] || forms.other;
  status.textContent = input.value.trim() ? words.replace("{count}", new Intl.NumberFormat(locale).format(count)) : "";
  choose(shown.length ? 0 : -1);
}
function group(name, members) {
  const box = document.createElement("div");
  if (!name) { box.role = "presentation"; box.append(...members.map(option)); return box; }
  const heading = document.createElement("div");
  Object.assign(box, { role: "group", ariaLabel: name });
  heading.className = "tiny soft";
  heading.textContent = name;
  heading.setAttribute("aria-hidden", "true");
  box.append(heading, ...members.map(option));
  return box;
}
function option(entry) {
  const element = document.createElement(entry.address ? "a" : "button");
  Object.assign(element, { id: `palette-${shown.indexOf(entry)}`, role: "option", tabIndex: -1, lang: entry.lang || "" });
  if (!entry.lang) element.removeAttribute("lang");
  if (entry.address) element.href = entry.address;
  else element.addEventListener("click", () => { dialog.close(); entry.button.click(); });
  element.append(Object.assign(document.createElement("span"), { textContent: entry.words, dir: "auto" }));
  if (entry.note) element.append(Object.assign(document.createElement("span"), { textContent: entry.note, dir: "auto", className: "tiny soft" }));
  return element;
}
function choose(number) {
  active = number;
  for (const element of list.querySelectorAll("[role=option]")) element.ariaSelected = String(element.id === `palette-${number}`);
  const element = document.getElementById(`palette-${number}`);
  if (!element) return input.removeAttribute("aria-activedescendant");
  input.setAttribute("aria-activedescendant", element.id);
  if (number) element.scrollIntoView({ block: "nearest" });
  else list.scrollTop = 0; // with the heading above it
}

// Enter goes to what is chosen, with what the server says to the last letter; with Ctrl or ⌘ in a new tab.
async function go(event) {
  if (active <= 0) await going;
  document.getElementById(`palette-${active}`)?.dispatchEvent(
    new MouseEvent("click", { bubbles: true, cancelable: true, ctrlKey: event.ctrlKey, metaKey: event.metaKey }),
  );
}

input.addEventListener("input", typed);
input.addEventListener("keydown", (event) => {
  const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 8, PageUp: -8 }[event.key];
  if (event.isComposing) return;
  if (event.key === "Enter") { event.preventDefault(); go(event); }
  if (!step || !shown.length) return;
  event.preventDefault();
  if (Math.abs(step) === 1) choose((active + step + shown.length) % shown.length);
  else choose(Math.min(Math.max(active + step, 0), shown.length - 1));
});
dialog.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  dialog.close();
});
dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
dialog.addEventListener("close", () => { clearTimeout(timer); asking?.abort(); });
