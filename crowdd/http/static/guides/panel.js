// The field guide beside a task. It is asked for when the panel is first opened. The words that were searched for and the open entry
// are remembered for this tab. What is in the task's frame is not touched.
const $ = (id) => document.getElementById(id);
const panel = $("guide"), content = $("guide-content"), said = $("guide-said");
const words = JSON.parse(panel.dataset.words), locale = document.documentElement.lang || "en";
const PLACE = `guide ${panel.dataset.address}`;
const number = new Intl.NumberFormat(locale), plural = new Intl.PluralRules(locale);
let view = null;

function made(name, properties = {}, ...children) {
  const element = Object.assign(document.createElement(name), properties);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}
function put(element, { words: text, lang, dir }) {
  element.textContent = text;
  if (lang !== locale) Object.assign(element, { lang, dir });
  return element;
}
const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
const recall = () => { try { return JSON.parse(sessionStorage.getItem(PLACE)) ?? {}; } catch { return {}; } };
const remember = (place) => { try { sessionStorage.setItem(PLACE, JSON.stringify(place)); } catch { /* switched off */ } };

class View {
  constructor({ groups, entries }) {
    this.entries = entries.map((entry) => ({ ...entry, plain: plain(entry.find) }));
    this.groups = [...groups, { name: undefined, title: groups.length ? { words: words.others, lang: locale, dir: "" } : null }];
    this.search = made("input", { type: "search", id: "guide-search", autocomplete: "off" });
    this.list = made("div", { className: "stack" });
    this.shown = made("article", { className: "stack", hidden: true });
    const label = made("label", { htmlFor: "guide-search", textContent: words.search });
    this.top = made("div", { className: "stack" }, made("p", { className: "field" }, label, this.search), this.list);
    const tab = made("a", { href: panel.dataset.address, target: "_blank", rel: "noopener", textContent: words.tab });
    content.replaceChildren(this.top, this.shown, made("p", { className: "small" }, tab));
    this.search.addEventListener("input", () => this.find());
    const { typed = "", entry, scroll = 0 } = recall();
    this.search.value = typed;
    this.find();
    const known = this.entries.find(({ name }) => name === entry);
    if (known) this.open(known, false);
    panel.scrollTop = scroll;
    panel.addEventListener("scrollend", () => this.keep());
    addEventListener("pagehide", () => this.keep());
  }

  keep() {
    remember({ typed: this.search.value, entry: this.opened?.name, scroll: panel.scrollTop });
  }

  find() {
    const wanted = plain(this.search.value).split(/\s+/).filter(Boolean);
    const found = this.entries.filter((entry) => wanted.every((word) => entry.plain.includes(word)));
    this.list.replaceChildren(...this.groups.flatMap((group) => this.group(group, found.filter((entry) => entry.group === group.name))));
    const forms = words.found, count = (forms[plural.select(found.length)] ?? forms.other).replace("{num}", number.format(found.length));
    said.textContent = found.length ? count : words.none;
    this.keep();
  }

  group({ title }, entries) {
    if (!entries.length) return [];
    const list = made("ul", {}, ...entries.map((entry) => made("li", {}, this.item(entry))));
    return title ? [put(made("h3"), title), list] : [list];
  }

  item(entry) {
    const [first] = entry.pictures, name = put(made("span"), entry.title);
    const picture = first ? made("img", { src: first.url, alt: "", loading: "lazy" }) : null;
    const button = made("button", { type: "button", className: "entry" }, picture, name);
    button.dataset.entry = entry.name;
    button.addEventListener("click", () => this.open(entry));
    return button;
  }

  open(entry, focus = true) {
    this.opened = entry;
    const back = made("button", { type: "button", className: "btn sm", textContent: words.all });
    back.addEventListener("click", () => this.close());
    const title = put(made("h3", { tabIndex: -1 }), entry.title), text = made("div", { className: "prose stack" });
    if (entry.text) {
      text.innerHTML = entry.text.html; // crowdd has cleaned it
      if (entry.text.lang !== locale) Object.assign(text, { lang: entry.text.lang, dir: entry.text.dir });
    }
    this.shown.replaceChildren(made("p", {}, back), title, ...entry.pictures.map((picture) => this.picture(picture)), text);
    this.turn(true);
    panel.scrollTop = 0;
    if (focus) title.focus({ preventScroll: true });
    this.keep();
  }

  picture({ url, description, credit }) {
    const image = made("img", { src: url, alt: description || words.picture, loading: "lazy" });
    const link = made("a", { href: url, target: "_blank", rel: "noopener", title: words.picture }, image);
    const caption = [description, credit].filter(Boolean).join(" · ");
    return made("figure", {}, link, caption ? made("figcaption", { className: "tiny soft", textContent: caption }) : null);
  }

  close() {
    const { name } = this.opened;
    this.opened = null;
    this.turn(false);
    (this.list.querySelector(`[data-entry="${name}"]`) ?? this.search).focus();
    this.keep();
  }

  turn(entry) {
    this.top.hidden = entry;
    this.shown.hidden = !entry;
    said.hidden = entry;
  }
}

async function load() {
  said.textContent = words.loading;
  try {
    const answer = await fetch(panel.dataset.address, { headers: { Accept: "application/json" } });
    if (!answer.ok) throw new Error(String(answer.status));
    const { field_guide: guide } = await answer.json();
    view = new View(guide);
    if (document.activeElement === $("guide-close")) (view.opened ? view.shown.querySelector("h3") : view.search).focus();
  } catch {
    const again = made("button", { type: "button", className: "btn sm", textContent: words.again });
    again.addEventListener("click", load);
    content.replaceChildren(made("p", {}, again));
    said.textContent = words.failed;
  }
}

/** The panel was opened: shows the field guide where it was left. */
export function show() {
  if (!view) return load();
  (view.opened ? view.shown.querySelector("h3") : view.search).focus({ preventScroll: true });
}
