/* One mark in the list: a button that chooses it and takes the keys, its numbers, and the questions about it. */
import { element } from "../element.js";
import { exact, typed, understood } from "../texts.js";
import { step } from "./shapes.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
let count = 0;

export class Item {
  /** `field` is the MarksField; `answers` are those to the questions about the mark. */
  constructor(field, { id = `mark-${++count}`, geometry, label, answers }) {
    Object.assign(this, { field, id, geometry, label, given: answers, group: null, wrong: false, nth: 0 });
    const { context, question } = field;
    this.words = element("span");
    this.place = element("span", { className: "soft small num" });
    this.keysId = context.newId();
    this.button = element("button", { type: "button", className: "mark", "aria-describedby": this.keysId }, this.words, this.place);
    this.deleteButton = element("button", { type: "button", className: "btn bare" }, field.word("delete"));
    this.numbers = element("div", { className: "mark-numbers" });
    const acts = this.acts();
    this.tools = element("p", { className: "row", hidden: !acts.length }, ...acts);
    this.keys = element("p", { className: "mark-keys small soft", id: this.keysId }, field.word(field.kind.resized ? "mark_keys_size" : "mark_keys"));
    this.exact = element("details", { className: "exact small" }, element("summary", {}, field.word("exact_position")), this.numbers);
    this.body = element("div", { className: "mark-body", hidden: true });
    if (question.each?.length) {
      this.group = context.group(question.each, () => {
        this.wrong = false;
        context.changed();
      });
      this.group.set(answers ?? {});
      this.body.append(this.group.element);
    }
    this.body.append(this.keys, this.tools, this.exact);
    this.element = element("li", { className: "mark-item" }, element("div", { className: "mark-head" }, this.button, this.deleteButton), this.body);
    this.listen();
  }

  listen() {
    this.button.addEventListener("click", () => this.field.select(this.field.selected === this ? null : this));
    this.button.addEventListener("keydown", (event) => this.key(event));
    this.deleteButton.addEventListener("click", () => this.field.remove(this));
  }

  /* Arrow keys go by a hundredth of the medium, with Control by the smallest step; Shift changes the size. */
  key(event) {
    const { field } = this, { kind, drawer } = field, arrow = ARROWS[event.key];
    if (!drawer || event.altKey || event.metaKey) return;
    if (event.key === "Delete" || event.key === "Backspace") {
      event.preventDefault();
      event.stopPropagation();
      field.remove(this);
      return;
    }
    if (!arrow) return;
    event.preventDefault();
    event.stopPropagation();
    if (field.current !== this) field.select(this);
    const by = (kind.step ?? step)(drawer.size, event.ctrlKey), [x, y] = arrow.map((way) => way * by);
    const change = event.shiftKey ? kind.resized : kind.moved;
    if (change) field.change(this, change(this.geometry, x, y, drawer.size));
  }

  show() {
    const { field } = this, { kind, context } = field, chosen = field.current === this;
    const { place = "", size = "" } = kind.says(this.geometry, context), where = [place, size].filter(Boolean).join(" · ");
    const state = JSON.stringify([field.full(this), where, chosen, field.selected === this]);
    if (state === this.state && !chosen) return; // hundreds of marks are asked at each change
    this.state = state;
    this.words.textContent = field.full(this);
    this.place.textContent = where;
    this.place.dir = kind.words ? "auto" : "ltr";
    this.place.classList.toggle("sr", !kind.readable);
    this.button.setAttribute("aria-expanded", String(chosen));
    this.element.classList.toggle("selected", field.selected === this);
    this.deleteButton.setAttribute("aria-label", field.word("delete_mark", { name: field.full(this) }));
    this.element.classList.toggle("chosen", chosen);
    this.body.hidden = !chosen;
    this.keys.classList.toggle("hint", field.hinted === this);
    if (chosen && field.drawer) this.showNumbers();
  }

  /* Inputs stay while they are typed into. */
  showNumbers() {
    const { field } = this, { kind, drawer } = field, fields = kind.fields(this.geometry, drawer.size, this.nth);
    const points = this.geometry.points?.length ?? 0, form = `${fields.length} ${points}`;
    if (this.form !== form) {
      this.form = form;
      this.nth = Math.min(this.nth, Math.max(points - 1, 0));
      this.inputs = fields.map((each, at) => this.input(each, at));
      this.numbers.replaceChildren(...(kind.longer ? [this.points(points)] : []), ...this.inputs.map((input) => input.label));
    }
    for (const [at, { input }] of this.inputs.entries()) {
      const { value } = fields[at];
      if (document.activeElement !== input || this.number(input) !== value) input.value = typed(value, this.language);
    }
  }

  /* Text fields, as for questions of type number: the wheel and the browser's own language change nothing that people type. */
  get language() {
    return document.documentElement.lang || "en";
  }
  number(input) {
    return exact(understood(input.value, this.language) ?? "");
  }
  input({ word, step: by }, at) {
    const { field } = this, input = element("input", { type: "text", inputMode: "decimal", autocomplete: "off", spellcheck: false });
    const now = () => field.kind.fields(this.geometry, field.drawer.size, this.nth)[at];
    input.addEventListener("change", () => {
      const number = this.number(input);
      if (number !== null) field.change(this, now().set(number));
      input.value = typed(now().value, this.language);
    });
    input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") { // it ends the number, not the task
        event.preventDefault();
        input.dispatchEvent(new Event("change"));
      }
      const way = { ArrowUp: 1, ArrowDown: -1 }[event.key];
      if (!way) return;
      event.preventDefault();
      input.value = typed(Math.round(((this.number(input) ?? 0) + way * by) * 1e6) / 1e6, this.language);
      input.dispatchEvent(new Event("change"));
    });
    return { input, label: element("label", {}, element("span", { className: "small" }, field.word(`number_${word}`)), input) };
  }

  /* What else a kind can do: {word: act(geometry, drawer) → geometry, or nothing}. */
  acts() {
    const { field } = this, { kind } = field;
    return Object.entries(kind.acts ?? {}).map(([word, act]) => {
      const button = element("button", { type: "button", className: "btn" }, field.word(word));
      button.addEventListener("click", () => {
        const geometry = act(this.geometry, field.drawer);
        if (geometry) field.change(this, geometry);
      });
      return button;
    });
  }

  /* Which point the numbers are of, and points more and fewer. */
  points(length) {
    const { field } = this, { kind } = field, choice = element("select");
    for (let nth = 0; nth < length; nth++) choice.append(element("option", { value: String(nth) }, field.word("point_n", { n: nth + 1, total: length })));
    choice.value = String(this.nth);
    choice.addEventListener("change", () => {
      this.nth = Number(choice.value);
      this.showNumbers();
    });
    const button = (word, act) => {
      const made = element("button", { type: "button", className: "btn" }, field.word(word));
      made.addEventListener("click", () => {
        const geometry = act();
        if (geometry) field.change(this, geometry);
        this.numbers.querySelector("select")?.focus();
      });
      return made;
    };
    return element("div", { className: "mark-points" }, element("label", {}, element("span", { className: "small" }, field.word("point")), choice),
      button("add_point_here", () => kind.longer(this.geometry, this.nth++, field.drawer.size)), button("remove_point", () => kind.shorter(this.geometry, this.nth)));
  }

  answers() {
    return this.group ? this.group.value() : this.given;
  }
  value() {
    const { field } = this, { selector, ...geometry } = field.kind.answer(this.geometry);
    return { ...geometry, ...(this.label === undefined || !field.labels.length ? {} : { label: this.label }), ...(selector ? { selector } : {}), ...(this.group ? { answers: this.group.value() } : {}) };
  }
  problem() {
    const words = this.group?.problem() ?? "";
    this.wrong = Boolean(words);
    return words;
  }
  /** Whether the first question about the mark is answered by typing. */
  asksForText() {
    return /_text$/.test(this.field.question.each?.[0].type);
  }
  focus() {
    if (this.group) this.group.focus();
    else this.button.focus();
  }
  /** Takes the focus as a mark, for the keys that move it. */
  focused() {
    this.button.focus();
  }
  destroy() {
    this.group?.destroy();
    this.element.remove();
  }
}
