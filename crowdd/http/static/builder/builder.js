/* The builder of questions: forms that are made of the declared types, and the same document as JSON.  Both views show the text
   of one field, which is what is saved.  Without this script the form with the JSON is all there is. */
import { element } from "../questions/element.js";
import { Catalogue } from "./catalogue.js";
import { Checks } from "./problems.js";
import { Declared, kindsOf, ofKind } from "./declared.js";
import { movable } from "./drag.js";
import { Items } from "./items.js";
import { LanguageBar } from "./languages.js";
import { duplicate, namesIn } from "./names.js";
import { Preview } from "./preview.js";
import { Save } from "./save.js";
import { anyWords, languagesOf } from "./texts.js";
import { alike, at, idOf, insert, put, remove, Store } from "./store.js";
import { Toolbar } from "./toolbar.js";

const text = document.getElementById("questions"), form = text.form, root = document.getElementById("builder");
const told = JSON.parse(root.dataset.told);
const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const areObjects = (value) => value === undefined || (Array.isArray(value) && value.every(isObject));
const parsed = (words) => { try { return JSON.parse(words); } catch { return undefined; } };

/* Whether the forms can show a document; what is wrong inside is said by the server. */
function isShown(found) {
  const questions = (list) => areObjects(list) && (list ?? []).every(({ each }) => questions(each));
  return isObject(found) && Array.isArray(found.steps) && areObjects(found.steps) && found.steps.every(({ media, questions: list }) => areObjects(media) && questions(list));
}

class Builder {
  constructor() {
    this.declared = new Declared(told.declared);
    this.words = told.words;
    this.pictures = root.dataset.pictures;
    this.root = element("div", { className: "b-root" });
    this.news = element("p", { className: "sr", role: "status" });
    this.open = new Set(); // entries whose form is shown, by their ids
    this.more = new Set(); // and those of which all settings are
    this.syncs = [];
    const found = parsed(text.value), fresh = !told.stored && !told.sent;
    this.example = fresh ? found : null;
    if (fresh) text.defaultValue = text.value = JSON.stringify({ version: this.declared.version, steps: [] }, null, 2);
    this.firstText = text.value;
    this.broken = !fresh && !isShown(found);
    this.store = new Store(fresh ? parsed(text.value) : this.broken ? { version: this.declared.version, steps: [] } : found, (how) => this.changed(how));
    this.main = this.language = text.dataset.language || this.likelyLanguage();
    this.borrowed = told.borrowed && !this.declared.n_answers; // from a template, and nobody has answered
    this.answered = told.stored && this.declared.n_answers > 0 ? { names: namesIn(this.document), values: new Set(JSON.stringify(this.document).match(/"value":"[^"]*"/g)) } : null;
    this.build();
  }

  build() {
    this.items = new Items(this);
    this.languages = new LanguageBar(this);
    this.catalogue = new Catalogue(this);
    const { version, language } = text.dataset, box = document.getElementById("preview");
    this.preview = new Preview(this, { box, said: document.getElementById("preview-said"), version: Number(version), language });
    this.checks = new Checks(this, { text, address: root.dataset.check, token: form.elements.csrf_token.value, told: (result) => this.checked(result) });
    this.save = new Save(this, form, this.checks);
    this.toolbar = new Toolbar(this);
    const columns = element("datalist", { id: "builder-columns" }, ...this.declared.columns.map((value) => element("option", { value })));
    const alone = this.save.onward ? element("p", { className: "row" }, this.save.button) : "";
    root.append(this.toolbar.element, this.checks.summary, this.languages.element, this.root, alone, columns, this.news);
    root.hidden = false;
    document.body.classList.add("builds");
    movable(this.root, (from, to) => this.move(from, to, this.nameOf(from)));
    this.root.addEventListener("keydown", (event) => this.key(event));
    text.addEventListener("input", () => this.writing || this.typedJson());
    this.show(this.broken ? "json" : "forms");
    this.render();
    this.checks.now();
  }

  get document() {
    return this.store.document;
  }

  /* Of a project that names no language: the one in which volunteers would read the texts on this page. */
  likelyLanguage() {
    const locale = document.documentElement.lang, tags = languagesOf(this.document, this.declared, "").filter(Boolean);
    return [locale, "en"].find((tag) => tags.includes(tag)) ?? tags[0] ?? locale;
  }

  // ------------------------------------------------------------------------------------------------ what controls use
  at(path) { return at(this.document, path); }
  set(path, value, how) { this.store.set(path, value, how); }
  commit(next, how) { this.store.commit(next, how); }
  sync(act) { this.syncs.push(act); }
  alike(before, made) { return alike(before, made); }

  word(name, values = {}) {
    return (this.words[name] ?? name).replace(/\{(\w+)\}/g, (all, key) => values[key] ?? all);
  }

  /** Words that depend on a number. */
  count(name, n) {
    const form = new Intl.PluralRules(document.documentElement.lang).select(n), forms = this.words[name];
    return (forms[form] ?? forms.other).replace("{n}", new Intl.NumberFormat(document.documentElement.lang).format(n));
  }

  icon(name) {
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), line = document.createElementNS("http://www.w3.org/2000/svg", "path");
    svg.setAttribute("class", ["back", "forward", "undo", "redo"].includes(name) ? "i flip" : "i");
    svg.setAttribute("viewBox", "0 0 24 24");
    svg.setAttribute("aria-hidden", "true");
    line.setAttribute("d", told.icons[name] ?? told.icons.note);
    svg.append(line);
    return svg;
  }

  /** A button with a drawing only; `label` may be a function.  One that can do nothing keeps the focus. */
  tool(icon, label, act, { id, disabled = false } = {}) {
    const button = element("button", { type: "button", className: "icon", id }, this.icon(icon)), changes = typeof label === "function";
    const write = () => { button.title = button.ariaLabel = changes ? label() : label; };
    write();
    if (changes) this.sync(write);
    if (disabled) button.setAttribute("aria-disabled", "true");
    button.addEventListener("click", () => button.getAttribute("aria-disabled") === "true" || act());
    return button;
  }

  /** What a pointer takes an entry by; keys have the buttons. */
  grip() {
    const made = element("span", { className: "b-grip", title: this.word("drag") }, this.icon("grip"));
    made.setAttribute("aria-hidden", "true");
    return made;
  }

  say(name, values) {
    this.news.textContent = this.word(name, values);
  }

  /** Whether answers exist to a question of this name, or with this value of a choice. */
  isAnswered(path, word) {
    if (!this.answered) return false;
    return typeof path.at(-1) === "string" ? this.answered.values.has(`"value":${JSON.stringify(word)}`) : this.answered.names.has(word);
  }

  /** What an entry is called when it is moved or deleted. */
  nameOf(path) {
    const entry = Object(this.at(path)), words = anyWords(entry.text, this.language, this.main);
    if (path.length === 2) return this.word("step_n", { n: path[1] + 1 });
    if (path[2] === "media") return `${this.declared.medium(entry.type)?.label ?? entry.type} ${entry.name}`;
    return words || String(entry.name ?? entry.value ?? "");
  }

  // ------------------------------------------------------------------------------------------------ changes of the list
  /** Asks for a type and adds an entry of it at the end of a list. */
  choose(kind, list, focus) {
    this.catalogue.ask(kind, (type) => this.add(kind, list, type));
    this.catalogue.dialog.addEventListener("close", () => document.activeElement === document.body && document.getElementById(focus)?.focus(), { once: true });
  }

  add(kind, list, type) {
    const step = this.at(list.slice(0, 2)), index = (this.at(list) ?? []).length;
    let next = this.document, made = null;
    if (kind === "media") made = this.declared.newMedium(type, next);
    else {
      const { question, medium } = this.declared.newQuestion(type, next, step);
      made = question;
      if (medium) {
        const media = [...list.slice(0, 2), "media"];
        next = insert(next, media, (this.at(media) ?? []).length, medium);
      }
    }
    this.begin(made, list);
    this.commit(insert(next, list, index, made), { focus: kind === "media" ? this.firstField(made) : `b${idOf(made)}-text` });
    this.say("added", { name: (kind === "media" ? this.declared.medium(type) : this.declared.type(type)).label });
  }

  firstField(made) {
    return `b${idOf(made)}-${"column" in Object(made.source) ? "source" : "head"}`;
  }

  /* A new entry is open, and no other one but those around it. */
  begin(made, list) {
    const around = list.length > 3 ? [this.at(list.slice(0, 4))] : [];
    this.open = new Set([made, ...around].map(idOf));
  }

  addStep() {
    const made = this.declared.newStep(this.document), steps = this.document.steps;
    this.open.add(idOf(made));
    this.commit(insert(this.document, ["steps"], steps.length, made), { focus: `b${idOf(made)}-text` });
    this.say("added", { name: this.word("step_n", { n: steps.length + 1 }) });
  }

  /** The first question of an empty list, with its step. */
  start(type) {
    const empty = put(this.document, ["steps"], this.document.steps.length ? this.document.steps : [this.declared.newStep(this.document)]);
    const { question, medium } = this.declared.newQuestion(type, empty, empty.steps[0]);
    let next = medium ? insert(empty, ["steps", 0, "media"], 0, medium) : empty;
    next = insert(next, ["steps", 0, "questions"], (empty.steps[0].questions ?? []).length, question);
    this.open.add(idOf(question));
    this.commit(next, { focus: `b${idOf(question)}-text` });
  }

  /* The example, with its question to be written. */
  startExample() {
    const [question] = this.example.steps[0].questions;
    this.open.add(idOf(question));
    this.commit(this.example, { focus: `b${idOf(question)}-text` });
  }

  /** Moves an entry; `to` is a path as it is before the move. */
  move(from, to, name) {
    const list = to.slice(0, -1), same = JSON.stringify(list) === JSON.stringify(from.slice(0, -1));
    const index = same && to.at(-1) > from.at(-1) ? to.at(-1) - 1 : to.at(-1);
    if (same && index === from.at(-1)) return;
    this.commit(insert(remove(this.document, from), list, index, this.at(from)));
    const total = this.at(list).length;
    this.say(list.length === 3 ? "moved_in_step" : "moved", { name, place: index + 1, total, step: list[1] + 1 });
  }

  /** One place up (-1) or down (1), from step to step. */
  step(path, by, name) {
    const list = path.slice(0, -1), nth = path.at(-1), siblings = this.at(list).length;
    if (by < 0 ? nth > 0 : nth < siblings - 1) return this.move(path, [...list, by < 0 ? nth - 1 : nth + 2], name);
    const other = path[1] + by;
    if (path.length !== 4 || other < 0 || other >= this.document.steps.length) return undefined;
    const target = ["steps", other, path[2]];
    return this.move(path, [...target, by < 0 ? (this.at(target) ?? []).length : 0], name);
  }

  duplicate(path, name) {
    const made = duplicate(this.at(path), this.document, this.declared.reserved);
    this.commit(insert(this.document, path.slice(0, -1), path.at(-1) + 1, made), { focus: `b${idOf(made)}-head` });
    this.say("duplicated", { name });
  }

  drop(path, name) {
    const list = path.slice(0, -1), siblings = this.at(list), beside = siblings[path.at(-1) + 1] ?? siblings[path.at(-1) - 1];
    const around = list.length === 1 ? "builder-add-step" : `b${idOf(this.at(list.slice(0, -1)))}-${list.at(-1)}-add`;
    this.commit(remove(this.document, path), { focus: beside ? `b${idOf(beside)}-head` : around });
    this.say("deleted", { name });
  }

  toggle(node, focus) {
    const id = idOf(node);
    if (!this.open.delete(id)) this.open.add(id);
    this.render(focus);
  }

  undo() { this.turn("undo", "undone"); }
  redo() { this.turn("redo", "redone"); }
  turn(how, words) {
    if (this.store[how]()) this.say(words);
  }

  key(event) {
    const { target, key, altKey } = event, entry = target.closest("[data-entry]"), writes = target.matches("input, textarea, select");
    if (!entry || writes) return;
    const path = JSON.parse(entry.dataset.entry), by = { ArrowUp: -1, ArrowDown: 1 }[key], name = this.nameOf(path);
    if (altKey && by) this.step(path, by, name);
    else if (key === "Delete" && target.matches(".b-name")) this.drop(path, name);
    else return;
    event.preventDefault();
  }

  // ------------------------------------------------------------------------------------------------ views
  changed({ structural, focus }) {
    if (!this.fromJson) this.write();
    if (structural) this.render(focus);
    else for (const act of this.syncs) act();
    this.toolbar.draw();
    this.checks.later();
  }

  /* The text follows the document; as it was loaded, it is what was loaded. */
  write() {
    this.writing = true;
    this.broken = false;
    text.value = this.document === this.store.first ? this.firstText : JSON.stringify(this.document, null, 2);
    text.dispatchEvent(new Event("input", { bubbles: true }));
    this.writing = false;
  }

  typedJson() {
    const found = parsed(text.value);
    this.broken = !isShown(found);
    if (this.broken) {
      this.checks.later();
      return;
    }
    this.fromJson = true;
    this.store.adopt(found);
    this.fromJson = false;
  }

  /** Shows the forms or the JSON. */
  show(view) {
    if (view === "forms" && this.broken) {
      this.say("mend_json");
      return;
    }
    this.view = view;
    document.body.classList.toggle("as-json", view === "json");
    this.root.hidden = this.languages.element.hidden = view === "json";
    this.toolbar.draw();
  }

  /** Whether nothing is asked as yet. */
  get isEmpty() {
    return !this.broken && !this.document.steps.some(({ questions, media }) => questions?.length || media?.length);
  }

  render(focus) {
    const active = focus || (root.contains(document.activeElement) ? document.activeElement.id : ""), selected = document.activeElement?.selectionStart;
    this.syncs = [];
    this.languages.draw();
    this.root.replaceChildren(...(!this.isEmpty ? [this.asks(), this.items.steps(), this.adder()] : [this.welcome()]));
    this.checks.mark();
    this.toolbar.draw();
    const target = active && document.getElementById(active);
    if (!target || target === document.activeElement) return;
    target.focus();
    if (!focus && typeof selected === "number" && target.setSelectionRange && target.type === "text") target.setSelectionRange(selected, selected);
  }

  /* Asked once for all questions: whether they have a right answer. A question that differs says so itself. */
  asks() {
    const place = element("fieldset", { className: "field b-asks" }, element("legend", {}, this.word("asks"))), name = "builder-asks";
    for (const kind of ["fact", "opinion"]) {
      const choice = element("input", { type: "radio", name, id: `${name}-${kind}` });
      const read = () => { choice.checked = kindsOf(this.document).every((each) => each === kind); };
      read();
      this.sync(read);
      choice.addEventListener("change", () => this.commit(ofKind(this.document, kind), { focus: choice.id }));
      place.append(element("label", { className: "check" }, choice, element("span", {}, this.word(`asks_${kind}`))));
    }
    return place;
  }

  adder() {
    const button = element("button", { type: "button", className: "btn", id: "builder-add-step" }, this.icon("plus"), this.word("add_step"));
    button.addEventListener("click", () => this.addStep());
    return element("p", {}, this.document.steps.length < this.declared.limits.steps ? button : null);
  }

  /* Nothing is asked as yet: the types, an example, and the gallery. */
  welcome() {
    const gallery = document.getElementById("builder-gallery"), ways = element("p", { className: "row" });
    if (this.example) {
      const button = element("button", { type: "button", className: "btn" }, this.word("start_example"));
      button.addEventListener("click", () => this.startExample());
      ways.append(button);
    }
    if (gallery) ways.append(gallery.content.cloneNode(true));
    return element("div", { className: "b-welcome stack" }, element("h2", {}, this.word("start_title")), element("p", { className: "soft" }, this.word("start_words")), ...this.catalogue.tiles("questions", (type) => this.start(type)), ways);
  }

  // ------------------------------------------------------------------------------------------------ checks
  checked(result) {
    this.toolbar.draw();
    this.save.show(result);
    if (result && !result.problems.length && this.checks.isCurrent) this.preview.update(parsed(text.value), result.suggested);
  }

  /** In words, where a JSON pointer leads: "Step 1 · Which animal? · ". */
  placeWords(path) {
    const keys = path.split("/").slice(1).map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~")), said = [];
    let node = this.document;
    keys.forEach((key, nth) => {
      node = node?.[key];
      if (keys[nth - 1] === "steps") said.push(this.word("step_n", { n: Number(key) + 1 }));
      else if (["questions", "each"].includes(keys[nth - 1])) said.push(`“${this.catalogueName(node)}”`);
      else if (keys[nth - 1] === "media") said.push(this.declared.medium(node?.type)?.label ?? key);
    });
    return said.length ? `${said.join(" · ")}: ` : "";
  }

  catalogueName(node) {
    return anyWords(node?.text, this.language, this.main) || String(node?.name ?? "") || this.declared.type(node?.type)?.label || "";
  }

  /** Opens what a JSON pointer names, and puts the focus there. */
  reveal(path) {
    if (this.view === "json") return text.focus();
    const keys = path.split("/").slice(1);
    let node = this.document;
    keys.forEach((key, nth) => {
      node = node?.[key];
      const entry = ["steps", "media", "questions", "each"].includes(keys[nth - 1]);
      const inside = !["media", "questions", undefined].includes(keys[nth + 1]) || keys[nth - 1] !== "steps";
      if (entry && isObject(node) && inside) this.open.add(idOf(node));
    });
    this.render();
    const place = this.checks.placeOf(path), more = place?.closest("details");
    if (more) more.open = true;
    const field = place?.matches("input, select, textarea, button") ? place : place?.querySelector("[aria-invalid], input:not([type=color]), select, textarea, button:not(.icon)");
    (field ?? place ?? this.checks.heading).focus();
    return (field ?? place)?.scrollIntoView({ block: "center" });
  }
}

new Builder();
