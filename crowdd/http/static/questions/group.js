/* Questions one below the other, each with its heading, help, field and what is wrong.  A step is a group; so are the
   questions about one mark. */
import { holds } from "./show_if.js";
import { element } from "./element.js";

const DIGITS = "123456789"; // shortcuts of those for which the owner has chosen none
const INSTEAD = { nothing: [], unsure: null }; // answers in place of a value
const INPUTS = "input:not([type=radio]), select, textarea"; // of radio buttons the group is invalid

export class Group {
  /**
   * `questions` as in the document.  `around` has what they share:
   *   form       {texts, types, medium(name), id(), task, immediate, changed(), finish()}
   *   answer(name)   the answer to a question before this group, for show_if
   *   level      of the headings: 2 in a step
   */
  constructor(questions, { form, answer = () => undefined, level = 2, changed = form.changed }) {
    Object.assign(this, { form, level, changed, outside: answer });
    this.declared = new Set(questions.flatMap(({ choices = [], labels = [] }) => [...choices, ...labels]).map(({ key }) => key));
    this.element = element("div", { className: "questions-group" });
    this.blocks = questions.map((question) => this.block(question));
    this.byName = new Map(this.blocks.map((block) => [block.question.name, block]));
    this.element.append(...this.blocks.map(({ element: place }) => place));
    this.turn();
  }

  block(question) {
    const { texts } = this.form, id = this.form.id(), block = { question, field: null, instead: {} };
    const { words, tag } = texts.pick(question.text), optional = !question.required && !this.form.immediate;
    const heading = texts.write(element(`h${this.level}`, { id: `${id}-label` }), question.text);
    if (optional) heading.append(" ", element("small", { className: "soft", lang: texts.locale, dir: "auto" }, texts.word("optional")));
    const help = this.help(question.help, `${id}-help`);
    block.error = element("p", { className: "bad", id: `${id}-error`, hidden: true });
    const note = this.form.suggestions?.note(question, id, texts);
    const described = [help?.id, note?.id, block.error.id].filter(Boolean).join(" ");
    block.place = element("div", { className: "field" });
    block.context = this.context(block, { id, labelledBy: heading.id, describedBy: described, errorId: block.error.id, name: words, tag });
    block.element = element("div", { className: "question" }, heading, help, note, block.error, block.place);
    block.element.setAttribute("data-question", question.name);
    block.ready = this.make(block);
    return block;
  }

  /* A field on a medium begins when that is there. */
  make(block) {
    const { question, context } = block, module = this.form.types.get(question.type);
    const begin = () => {
      if (this.ended) return;
      block.field = module.create(question, context);
      block.place.replaceChildren(block.field.element);
      for (const name of Object.keys(INSTEAD)) if (question[name] && !(name === "unsure" && module.ownUnsure?.(question))) block.place.append(this.instead(block, name));
      this.named(block, module.unnamed?.(question, context));
      if (!("value" in block)) return;
      this.fill(block, block.value);
      this.turn();
    };
    const medium = question.on ? this.form.medium(question.on) : null;
    if (!medium) return begin();
    block.tried = medium.shown;
    const said = (word) => block.place.replaceChildren(element("p", { className: "soft" }, this.form.texts.word(word)));
    said("medium_loading");
    block.element.classList.add("waiting");
    const end = (act) => () => {
      act();
      requestAnimationFrame(() => block.element.classList.remove("waiting")); // what is below it has moved unseen
    };
    return medium.shown.then(end(begin), end(() => said("medium_missing")));
  }

  /** Media may have been loaded once more: what waited for one begins now. */
  seen() {
    for (const block of this.blocks) {
      if (!block.field && block.tried && block.tried !== this.form.medium(block.question.on).shown) this.make(block).then(() => this.form.keysChanged());
    }
  }

  /* A field says its question by itself, as a rule.  Where it does not, or another one is beside it, their group does. */
  named({ element: place, context, instead }, unnamed) {
    if (!unnamed && !Object.keys(instead).length) return;
    place.setAttribute("role", "group");
    place.setAttribute("aria-labelledby", context.labelledBy);
    if (unnamed) place.setAttribute("aria-describedby", context.describedBy);
  }

  help(help, id) {
    if (!help) return null;
    const { texts } = this.form, { text, picture } = typeof help === "string" || !("text" in help || "picture" in help) ? { text: help } : help;
    const place = element("div", { className: "help small soft", id });
    if (text) place.append(texts.write(element("p"), text));
    if (picture) place.append(element("img", { src: picture, alt: "", loading: "lazy" }));
    return place;
  }

  /* A box for an answer in place of a value. */
  instead(block, name) {
    const box = element("input", { type: "checkbox" });
    block.instead[name] = box;
    box.addEventListener("change", () => {
      if (box.checked) {
        for (const other of Object.values(block.instead)) other.checked = other === box;
        block.field.set(undefined);
      }
      this.told(block);
    });
    return element("label", { className: "choice un" }, box, this.writeInstead(element("span"), block.question, name));
  }

  writeInstead(place, question, name) {
    const { texts } = this.form, words = question[name];
    return words === true ? Object.assign(place, { textContent: texts.word(name) }) : texts.write(place, words);
  }

  /* What a type may use: see questions.js. */
  context(block, about) {
    const { form } = this, { texts } = form;
    return {
      ...about, maxFileBytes: form.maxFileBytes, task: form.task, language: texts.locale, languageDirection: texts.direction, immediate: form.immediate,
      text: (text) => texts.pick(text).words, write: (place, text) => texts.write(place, text), word: (name, values) => texts.word(name, values),
      writeUnsure: (place) => this.writeInstead(place, block.question, "unsure"), keyed: this.level === 2, digits: [...DIGITS].filter((digit) => !this.declared.has(digit)), keysChanged: () => form.keysChanged(),
      medium: (name) => form.medium(name), newId: () => form.id(), announce: (words) => form.announce(words), finish: () => form.finish(),
      group: (questions, changed) => new Group(questions, { form, changed: changed ?? this.changed, level: Math.min(this.level + 1, 6), answer: (name) => this.answer(name) }),
      changed: () => {
        if (block.field.value() !== undefined) for (const box of Object.values(block.instead)) box.checked = false;
        this.told(block);
      },
    };
  }

  told(block) {
    this.form.suggestions?.of(block.question)?.touch();
    if (block.error.textContent && !this.problemOf(block)) this.show(block, "");
    this.turn();
    this.changed();
  }

  /** Shows and hides questions by the answers before them.  Conditions look back only, so one pass in order is enough. */
  turn() {
    if (!this.byName) return; // a field without a medium is there before the group is
    for (const block of this.blocks) {
      block.element.hidden = !holds(block.question.show_if, (name) => this.answer(name));
      block.field?.turn?.();
    }
  }

  shown(block) {
    return !block.element.hidden;
  }

  /** Whether something was begun that is no answer yet. */
  unfinished() {
    return this.blocks.some((block) => this.shown(block) && block.field?.unfinished?.());
  }

  /** The answer to a question of this group or one before it, undefined if it has none or is not shown. */
  answer(name) {
    const block = this.byName?.get(name);
    if (!block) return this.outside(name);
    return this.shown(block) ? this.valueOf(block) : undefined;
  }

  valueOf(block) {
    if (!block.field) return block.value;
    const name = this.said(block);
    return name ? INSTEAD[name] : block.field.value();
  }

  /* Which answer stands in place of a value. */
  said(block) {
    return Object.keys(block.instead).find((name) => block.instead[name].checked);
  }

  /** The answers by name, without those to questions that are not shown or have none. */
  value() {
    const found = this.blocks.filter((block) => this.shown(block)).map((block) => [block.question.name, this.valueOf(block)]);
    return Object.fromEntries(found.filter(([, value]) => value !== undefined));
  }

  /** Fills in answers by name; fields without one become empty. */
  set(values = {}) {
    for (const block of this.blocks) {
      const value = Object.hasOwn(values, block.question.name) ? values[block.question.name] : undefined;
      if (block.field) this.fill(block, value);
      else block.value = value;
      this.show(block, "");
    }
    this.turn();
  }

  fill(block, value) {
    this.form.suggestions?.begin(this, block);
    this.put(block, value);
  }

  put(block, value) {
    const is = { nothing: Array.isArray(value) && !value.length, unsure: value === null };
    for (const [name, box] of Object.entries(block.instead)) box.checked = is[name];
    block.field.set(this.said(block) ? undefined : value);
    delete block.value;
  }

  problemOf(block) {
    const { texts } = this.form, value = this.valueOf(block);
    if (value === null || this.said(block)) return "";
    if (block.question.required && value === undefined && !block.field?.problem?.()) return texts.word("required");
    return block.field?.problem?.() || "";
  }

  /** Shows what is wrong at each question that is shown.  The first sentence, "" if nothing is. */
  problem() {
    const found = this.blocks.filter((block) => this.shown(block)).map((block) => [block, this.problemOf(block)]);
    for (const [block, words] of found) this.show(block, words);
    const wrong = found.find(([, words]) => words);
    this.wrong = wrong ? wrong[0] : null;
    return wrong ? wrong[1] : "";
  }

  show(block, words) {
    block.error.textContent = words;
    block.error.hidden = !words;
    block.element.classList.toggle("wrong", Boolean(words));
    const { element: field } = block.field ?? {};
    for (const input of field?.querySelectorAll(INPUTS) ?? []) if (input.closest(".question") === block.element) input.ariaInvalid = words ? "true" : null;
    if (field?.matches("[role=radiogroup]")) field.ariaInvalid = words ? "true" : null;
  }

  /** Focuses the first question that is wrong, otherwise the first one. */
  focus() {
    const block = this.wrong ?? this.blocks.find((each) => this.shown(each));
    if (block?.field) block.field.focus();
  }

  /** Keys of the fields that are shown: {key: label}.  Each key belongs to one field, and only that one shows it. */
  keys() {
    const owners = this.owners(), fields = this.fields();
    for (const field of fields) for (const cap of field.element.querySelectorAll("kbd")) cap.hidden = owners.get(cap.dataset.key) !== field;
    return Object.assign({}, ...fields.map((field) => Object.fromEntries(Object.entries(field.keys?.() ?? {}).filter(([key]) => owners.get(key.toLowerCase()) === field))));
  }

  /** True when the field to which a shortcut belongs has used it. */
  key(key) {
    return this.owners().get(key.toLowerCase())?.key(key) === true;
  }

  /* The field by key: the one with which something is drawn now, then the first one. */
  owners() {
    const found = new Map(), drawn = (field) => Number(field.isDrawn?.() ?? false);
    for (const field of this.fields().sort((one, other) => drawn(other) - drawn(one))) {
      for (const key of Object.keys(field.keys?.() ?? {})) if (!found.has(key.toLowerCase())) found.set(key.toLowerCase(), field);
    }
    return found;
  }

  fields() {
    return this.blocks.filter((block) => block.field && this.shown(block)).map(({ field }) => field);
  }

  destroy() {
    this.ended = true;
    for (const { field } of this.blocks) field?.destroy?.();
    this.element.remove();
  }
}
