/* The list of steps, each with its media and questions, and the forms of those that are open. */
import { element } from "../questions/element.js";
import { condition } from "./controls/shown_if.js";
import { control } from "./controls/controls.js";
import { labelled, line, pointer, typed } from "./controls/field.js";
import { pick } from "./controls/simple.js";
import { text } from "./controls/texts.js";
import { follows, rename, slug, unique } from "./names.js";
import { idOf, put } from "./store.js";
import { anyWords } from "./texts.js";

const SMALL = ["integer", "number", "day"];
const list = (value) => (Array.isArray(value) ? value : []);

/** The questions that come before a path, in their order: those that a condition may name. */
export function earlier(document, path) {
  const [, step, kind, nth, each, inner] = path, found = [];
  list(document.steps).slice(0, step).forEach(({ questions }) => found.push(...list(questions)));
  if (kind === "questions") found.push(...list(document.steps[step].questions).slice(0, each ? nth + 1 : nth));
  if (each) found.push(...list(document.steps[step].questions[nth].each).slice(0, inner));
  return found;
}

export class Items {
  constructor(ui) {
    this.ui = ui;
  }

  steps() {
    const { ui } = this, steps = list(ui.document.steps);
    const place = element("ol", { className: "b-steps x" }, ...steps.map((step, nth) => this.step(step, nth)));
    place.dataset.list = JSON.stringify(["steps"]);
    return place;
  }

  step(step, nth) {
    const { ui } = this, path = ["steps", nth], id = `b${idOf(step)}`, name = ui.word("step_n", { n: nth + 1 });
    const words = element("span", { className: "b-said", dir: "auto" }), write = () => { words.textContent = anyWords(ui.at(path)?.title, ui.language, ui.main); };
    write();
    ui.sync(write);
    const place = element("li", { className: "b-step" }, this.bar({ node: step, path, icon: "page", kind: name, words }));
    if (ui.open.has(idOf(step))) place.append(this.stepForm(step, path, id));
    const { media, questions } = ui.declared.limits;
    place.append(
      this.entries(step, path, "media", ui.word("media"), media, (medium, here) => this.medium(medium, here)),
      this.entries(step, path, "questions", ui.word("questions"), questions, (question, here) => this.question(question, here)));
    return this.placed(place, path);
  }

  stepForm(step, path, id) {
    const { ui } = this, [title] = ui.declared.step;
    const told = (words, before) => this.retext(path, "title", words, before, "step");
    return this.body(id,
      text({ id: `${id}-text`, path: [...path, "title"], option: title }, ui, { lines: 1, told }),
      this.showIf(id, path), this.nameField(id, path));
  }

  /* A list within a step: its heading, its entries and the button for one more. */
  entries(step, path, key, heading, limit, draw) {
    const { ui } = this, found = list(step[key]), here = [...path, key], id = `b${idOf(step)}-${key}`;
    const add = element("button", { type: "button", className: "btn sm", id: `${id}-add` }, ui.icon("plus"), ui.word(key === "media" ? "add_medium" : "add_question"));
    add.setAttribute("aria-haspopup", "dialog");
    add.addEventListener("click", () => ui.choose(key, here, add.id));
    const entries = element("ol", { className: "b-list x" }, ...found.map((entry, nth) => draw(Object(entry), [...here, nth])));
    entries.dataset.list = JSON.stringify(here);
    const place = element("div", { className: `b-part b-${key}`, role: "group" }, element("h3", { className: "over" }, heading), entries, found.length < limit ? add : null);
    place.setAttribute("aria-label", `${ui.word("step_n", { n: path[1] + 1 })}: ${heading}`);
    place.dataset.pointer = pointer(here);
    return place;
  }

  medium(medium, path) {
    const { ui } = this, kind = ui.declared.medium(medium.type), id = `b${idOf(medium)}`;
    const words = element("span", { className: "b-said", dir: "auto" }), write = () => { words.textContent = this.sourceWords(ui.at(path)?.source); };
    write();
    ui.sync(write);
    const place = element("li", { className: "b-item" }, this.bar({ node: medium, path, icon: `medium_${medium.type}`, kind: kind?.label ?? String(medium.type), words }));
    if (ui.open.has(idOf(medium))) place.append(this.body(id, ...(kind ? this.options(kind.options, path, id) : [this.unknown()]), this.nameField(id, path)));
    return this.placed(place, path);
  }

  sourceWords(source) {
    return [source ?? []].flat().map((one) => one?.column ?? one?.url ?? "").filter(Boolean).join(", ");
  }

  question(question, path) {
    const { ui } = this, kind = ui.declared.type(question.type), id = `b${idOf(question)}`;
    const said = () => anyWords(ui.at(path)?.text, ui.language, ui.main);
    const words = element("span", { className: "b-said", dir: "auto" }), write = () => { words.textContent = said() || ui.word("no_text"); };
    write();
    ui.sync(write);
    const flags = element("span", { className: "tiny soft" }, [question.required && ui.word("required_flag"), question.show_if && ui.word("condition_flag")].filter(Boolean).join(" · "));
    const place = element("li", { className: "b-item" }, this.bar({ node: question, path, icon: question.type, kind: kind?.label ?? String(question.type), words, flags }));
    if (ui.open.has(idOf(question))) place.append(this.questionForm(question, kind, path, id));
    return this.placed(place, path);
  }

  questionForm(question, kind, path, id) {
    const { ui } = this, [asked, ...common] = ui.declared.common;
    const told = (words, before) => this.retext(path, "text", words, before, slug(question.type));
    const first = text({ id: `${id}-text`, path: [...path, "text"], option: asked }, ui, { told });
    if (!kind) return this.body(id, first, this.unknown());
    const parts = [first];
    if (kind.media.length && path.length === 4) parts.push(this.on(kind, path, id));
    const [help, ...ticks] = this.options(common, path, id), right = ticks.pop(), suggested = ticks.pop();
    parts.push(...this.options(kind.options, path, id), ...ticks);
    if (kind.each && path.length === 4) parts.push(this.each(question, path, id));
    const further = this.further(question, help, path.length === 4 ? suggested : null, right, this.showIf(id, path), this.typeField(kind, path, id), this.nameField(id, path));
    return this.body(id, ...parts, further);
  }

  /* Controls of options; small ones that follow each other stand in a row. */
  options(options, path, id) {
    const made = [];
    for (const option of options) {
      const field = control({ id: `${id}-${option.name}`, path: [...path, option.name], option }, this.ui), row = made.at(-1);
      if (!SMALL.includes(option.control)) made.push(field);
      else if (row?.classList.contains("b-row")) row.append(field);
      else made.push(element("div", { className: "b-row" }, field));
    }
    return made;
  }

  /* Settings that are seldom needed. */
  further(node, ...fields) {
    const { more } = this.ui, id = idOf(node), place = element("details", { className: "b-more", open: more.has(id) });
    place.addEventListener("toggle", () => (place.open ? more.add(id) : more.delete(id)));
    place.append(element("summary", { id: `b${id}-more` }, this.ui.icon("down"), ` ${this.ui.word("more")}`), element("div", { className: "b-fields" }, ...fields));
    return place;
  }

  on(kind, path, id) {
    const { ui } = this, step = path.slice(0, 2), fitting = () => list(ui.at([...step, "media"])).filter((medium) => kind.media.includes(medium?.type));
    const label = (medium) => `${ui.declared.medium(medium.type).label}: ${this.sourceWords(medium.source) || medium.name}`;
    const entries = () => [...(kind.needs_medium ? [] : [["", ui.word("on_nothing")]]), ...fitting().map((medium) => [medium.name, label(medium)])];
    return pick({ id: `${id}-on`, path: [...path, "on"], option: { label: ui.word("on"), hint: ui.word("on_hint") } }, ui, entries, (name) => ui.set([...path, "on"], name || undefined));
  }

  each(question, path, id) {
    const { ui } = this, here = [...path, "each"], found = list(question.each);
    const add = element("button", { type: "button", className: "btn sm", id: `${id}-each-add` }, ui.icon("plus"), ui.word("add_question"));
    add.setAttribute("aria-haspopup", "dialog");
    add.addEventListener("click", () => ui.choose("each", here, add.id));
    const entries = element("ol", { className: "b-list x" }, ...found.map((each, nth) => this.question(Object(each), [...here, nth])));
    entries.dataset.list = JSON.stringify(here);
    const place = element("fieldset", { className: "field b-group" }, element("legend", {}, ui.word("each")), element("p", { className: "hint" }, ui.word("each_hint")), entries, add);
    place.dataset.pointer = pointer(here);
    return place;
  }

  showIf(id, path) {
    const { ui } = this, option = { label: ui.word("show_if"), hint: ui.word(path.length === 2 ? "show_if_step_hint" : "show_if_hint") };
    return condition({ id: `${id}-show_if`, path: [...path, "show_if"], option }, ui, earlier(ui.document, path));
  }

  typeField(kind, path, id) {
    const { ui } = this, fits = ui.declared.types.filter((type) => path.length === 4 || !type.needs_medium).map(({ name, label }) => [name, label]);
    const choose = (type) => {
      const now = ui.at(path), made = ui.declared.turned(now, type), next = put(ui.document, path, made);
      ui.alike(now, made);
      ui.commit(next, { focus: `${id}-type` });
    };
    return pick({ id: `${id}-type`, path: [...path, "type"], option: { label: ui.word("type"), hint: ui.word("type_hint") } }, ui, () => [...fits], choose);
  }

  nameField(id, path) {
    const { ui } = this, option = { label: ui.word(path.length === 2 || path[2] === "media" ? "name" : "result_name"), hint: ui.word("name_hint") };
    const input = line({ dir: "ltr", autocapitalize: "none", spellcheck: false, maxLength: 40, className: "few" });
    typed({ path: [...path, "name"] }, { at: (here) => ui.at(here), sync: (act) => ui.sync(act), set: (_, name) => ui.commit(rename(ui.document, path, ui.at(path).name, name), { key: `${id}-name`, structural: false }) }, input, (value) => value ?? "", (value) => value.trim());
    return labelled({ id: `${id}-name`, path: [...path, "name"], option }, input);
  }

  unknown() {
    return element("p", { className: "hint" }, this.ui.word("unknown_type"));
  }

  body(id, ...fields) {
    return element("div", { className: "b-body", id: `${id}-body` }, ...fields);
  }

  placed(place, path) {
    Object.assign(place.dataset, { pointer: pointer(path), entry: JSON.stringify(path) });
    return place;
  }

  /* Another text; the name follows it as long as nobody has chosen one, and no answer has it. */
  retext(path, key, words, before, fallback) {
    const { ui } = this, { name } = ui.at(path), base = (said) => slug(said) || fallback;
    let next = put(ui.document, [...path, key], words);
    if (follows(name, base(before)) && !ui.isAnswered(path, name)) {
      const taken = ui.declared.taken(ui.document);
      taken.delete(name);
      next = rename(next, path, name, unique(base(anyWords(words, ui.main, ui.main)), taken));
    }
    ui.commit(next, { key: `${path.join("/")}/${key}`, structural: false });
  }

  /* The head of an entry: what it is, and what can be done with it. */
  bar({ node, path, icon, kind, words, flags = null }) {
    const { ui } = this, name = () => ui.nameOf(path), label = (word) => () => ui.word(word, { name: name() }), id = `b${idOf(node)}`, open = ui.open.has(idOf(node));
    const head = element("button", { type: "button", className: "b-name", id: `${id}-head` }, ui.icon(icon), element("span", {}, element("span", { className: "b-kind" }, kind), " ", words), flags, element("span", { className: "b-count" }));
    head.setAttribute("aria-expanded", String(open));
    head.setAttribute("aria-keyshortcuts", "Alt+ArrowUp Alt+ArrowDown Delete");
    head.addEventListener("click", () => ui.toggle(node, head.id));
    const siblings = list(ui.at(path.slice(0, -1))).length, nth = path.at(-1);
    const first = nth === 0 && (path.length !== 4 || path[1] === 0), last = nth === siblings - 1 && (path.length !== 4 || path[1] === list(ui.document.steps).length - 1);
    const tools = element("span", { className: "b-tools" },
      ui.tool("up", label("move_up"), () => ui.step(path, -1, name()), { id: `${id}-up`, disabled: first }),
      ui.tool("down", label("move_down"), () => ui.step(path, 1, name()), { id: `${id}-down`, disabled: last }),
      ui.tool("copy", label("duplicate"), () => ui.duplicate(path, name()), { id: `${id}-copy` }),
      ui.tool("bin", label("delete"), () => ui.drop(path, name()), { id: `${id}-delete` }));
    return element("div", { className: "b-bar" }, ui.grip(), path.length === 2 ? element("h2", {}, head) : head, tools);
  }
}
