/* The field of a question about marks: what may be added, a list of the marks, and numbers for each.  Everything that a
   pointer does on the medium can be done here by keyboard: the medium draws, this list knows.

   `kind` (shapes.js has those on pictures) turns geometry into answers; `open(layer)` begins to draw:
     drawer   a board (board.js): {size, draw(layer, marks, current, selected), leave(layer), arm(on), activate(layer), stroke?(what)}
   One mark is `current`: the last one made, or the `selected` one.  Labels are those of the next mark, unless one was selected on
   purpose, by a click on it or on its row. */
import { element, keyCap } from "../element.js";
import { History } from "./history.js";
import { Item } from "./item.js";
import { whenReleased } from "../pointer.js";
import { colour } from "./colours.js";

const MARKS_MAX = 500; // of one question, where it says no other number
const HINTED = "mark-keys"; // in localStorage: somebody has read what keys do with a mark

/* Whether keys are hinted at now: once in a project, where there is a mouse and so a keyboard.  They are always in the page's list. */
function isFirst() {
  const first = matchMedia("(pointer: fine)").matches && !localStorage.getItem(HINTED);
  if (first) localStorage.setItem(HINTED, "yes");
  return first;
}
const isSmall = () => document.documentElement.hasAttribute("data-small"); // presenter/prelude.js

export class MarksField {
  constructor(question, context, kind, open) {
    Object.assign(this, { question, context, kind, items: [], current: null, selected: null, corners: 0, label: undefined, drawer: null, ended: false });
    this.labels = question.labels ?? [];
    const digits = [...context.digits];
    this.labelKeys = new Map(this.labels.map((label) => [label.value, label.key ?? digits.shift() ?? ""]));
    this.history = new History();
    this.draw();
    this.layer = {
      kind, only: question.max === 1, created: (geometry, id) => this.created(geometry, id), changed: (id, geometry) => this.change(this.item(id), geometry),
      selected: (id) => this.select(this.item(id)), turned: (on) => this.turned(on), stroking: (corners) => this.stroking(corners), refused: (word) => this.tell(this.word(word)), undo: () => this.undo(),
    };
    this.ready = Promise.resolve().then(() => open(this.layer)).then((drawer) => {
      if (this.ended) return drawer.leave(this.layer);
      this.drawer = drawer;
      this.toggle.hidden = !drawer.arm;
      this.addButton.disabled = false;
      this.show();
    }).catch((error) => {
      console.error(error);
      this.hint.textContent = this.word("marks_failed");
    });
  }

  word(name, values) {
    return this.context.word(name, values);
  }

  draw() {
    const { context, kind } = this, button = (word, act, properties = {}) => {
      const made = element("button", { type: "button", className: "btn", ...properties }, this.word(word));
      made.addEventListener("click", act);
      return made;
    };
    this.hint = element("p", { className: "small soft", id: `${context.id}-hint` }, this.word(`hint_${kind.word}`));
    this.toggle = button("draw_marks", () => this.drawing(this.toggle.getAttribute("aria-pressed") !== "true"), { hidden: true, "aria-pressed": "false" });
    this.addButton = button(`add_${kind.word}`, () => this.put(), { disabled: true, "aria-describedby": this.hint.id });
    this.undoButton = button("undo", () => this.undo(), { disabled: true });
    this.finishButton = button("finish_stroke", () => this.drawer.stroke("finish"), { hidden: true });
    this.cancelButton = button("delete", () => this.drawer.stroke("cancel"), { hidden: true });
    this.news = element("p", { className: "marks-news small", "aria-hidden": "true" }); // what is announced, too
    // On a phone only the mark that is asked about is shown, and the others are behind their number.
    this.fold = element("button", { type: "button", className: "btn bare marks-fold num", hidden: true, "aria-expanded": String(!isSmall() || kind.word === "row") });
    this.fold.addEventListener("click", () => this.fold.setAttribute("aria-expanded", String(this.isFolded())));
    this.list = element("ol", { className: "marks-list", "aria-labelledby": context.labelledBy, hidden: true });
    this.nothing = element("input", { type: "checkbox" });
    this.nothing.addEventListener("change", () => this.changed());
    this.none = element("label", { className: "choice un" }, this.nothing, element("span", {}, this.word("nothing_to_mark")));
    const tools = element("div", { className: "row marks-tools" }, this.toggle, this.addButton, this.undoButton, this.finishButton, this.cancelButton);
    const row = element("div", { className: "marks-row" }, this.labels.length ? this.choices() : null, tools), palette = element("div", { className: "marks-palette" }, row, this.news);
    this.element = element("div", { className: "marks", role: "group", "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy || null }, this.hint, palette, this.fold, this.list, this.none);
  }

  /* The row of tools stays as it is, or labels would leave it on a phone. */
  focusTools() {
    this.addButton.focus({ preventScroll: isSmall() });
  }

  isFolded() {
    return this.fold.getAttribute("aria-expanded") === "false";
  }

  /* The label of the next marks, or of the selected one. */
  choices() {
    const { context } = this, legend = element("legend", { className: "small" }), name = `${context.id}-label-of-marks`;
    this.legend = legend;
    this.radios = this.labels.map((label, nth) => {
      const key = this.keyOf(label), input = element("input", { type: "radio", name, value: label.value, "aria-keyshortcuts": key || null });
      input.addEventListener("change", () => this.choose(label));
      const swatch = element("span", { className: "swatch", "aria-hidden": "true" });
      swatch.style.background = label.colour ?? colour(nth);
      return { label, input, element: element("label", { className: "choice" }, input, swatch, context.write(element("span"), label.text), key ? keyCap(key) : null) };
    });
    this.label = (this.labels.find(({ value }) => value === this.keptLabels()[this.question.name]) ?? this.labels[0]).value;
    return element("fieldset", { className: "marks-labels" }, legend, ...this.radios.map((radio) => radio.element));
  }
  keyOf({ value }) {
    return this.labelKeys.get(value);
  }
  labelWords(value) {
    const label = this.labels.find((each) => each.value === value);
    return label ? this.context.text(label.text) : "";
  }

  choose(label) {
    const { selected } = this;
    this.selected = null; // it is labelled: the next label is for the next mark
    if (!selected) this.keep(this.label = label.value);
    else if (selected.label !== label.value) {
      this.note();
      selected.label = label.value;
      this.changed();
      return this.tell(this.word("mark_relabelled", { name: this.name(selected), label: this.labelWords(label.value) }));
    }
    this.show();
  }

  /* The labels of the next marks of this task, by question: they outlive a reload, as marks do. */
  keptLabels() {
    const [task, labels] = JSON.parse(sessionStorage.getItem("labels")) ?? [];
    return task === this.context.task.id ? labels : {};
  }
  keep(label) {
    sessionStorage.setItem("labels", JSON.stringify([this.context.task.id, { ...this.keptLabels(), [this.question.name]: label }]));
  }

  /* Says something that people must see, too. */
  tell(words) {
    this.news.textContent = words;
    this.context.announce(words);
  }

  /* ---- the marks ---- */

  make(mark) {
    return new Item(this, mark);
  }

  item(id) {
    return this.items.find((item) => item.id === id) ?? null;
  }

  /* What a pointer drew.  The only place that there may be moves. */
  created(geometry, id) {
    const [item] = this.items;
    if (item && this.layer.only && this.kind.spot) this.change(item, geometry);
    else if (this.add(geometry, "mark_drawn", id)?.asksForText()) this.current.group.focus();
  }

  add(geometry, said, id) {
    const most = this.question.max ?? MARKS_MAX;
    if (this.items.length >= most) {
      this.show(); // what was drawn goes away
      return void this.tell(this.word("marks_at_most", { n: most }));
    }
    this.note();
    const item = this.make({ id, geometry: this.kind.drawn ? this.kind.drawn(geometry, this.drawer.size) : this.fit(geometry), label: this.label });
    this.items.push(item);
    this.turnTo(item);
    this.nothing.checked = false;
    this.hinted = this.hinted === undefined && isFirst() ? item : null;
    this.changed();
    this.say(said, item);
    if (item.group && isSmall()) whenReleased(() => item.element.scrollIntoView({ block: "nearest" })); // what is asked about it
    return item;
  }
  /* Numbers of a pointer are as fine as its screen: those that are stored are rounded, and inside. */
  fit(geometry) {
    return this.kind.moved(geometry, 0, 0, this.drawer.size);
  }

  put() {
    this.drawer.activate(this.layer);
    const item = this.add(this.kind.start(this.drawer.size, this.items.length), "mark_added");
    item?.focused();
  }

  change(item, geometry) {
    if (!item) return;
    const fitted = this.fit(geometry);
    if (JSON.stringify(fitted) === JSON.stringify(item.geometry)) return;
    this.note(`move ${item.id}`);
    item.geometry = fitted;
    this.changed();
    this.say("mark_moved", item);
  }

  remove(item) {
    this.note();
    const nth = this.items.indexOf(item), name = this.name(item);
    this.items.splice(nth, 1);
    item.destroy();
    if (this.current === item) this.turnTo(null);
    this.changed();
    this.context.announce(this.word("mark_deleted", { name }));
    const next = this.items[nth] ?? this.items.at(-1);
    if (next && !this.isFolded()) next.focused();
    else this.focusTools();
  }

  /** Makes a mark the one that is shown with its questions and numbers, without handles; null for none. */
  turnTo(item) {
    if (item !== this.selected) this.selected = null;
    this.current = item;
    this.news.textContent = "";
  }

  /** Chooses a mark on purpose: it gets handles, and the next label. */
  select(item) {
    this.turnTo(item);
    this.selected = item;
    if (item) this.drawer?.activate(this.layer);
    this.show();
    const labelled = item && this.labels.length && this.word("mark_selected", { name: this.full(item) });
    const held = item && this.isDrawn() && !this.kind.words && this.word("mark_held", { draw: this.word("draw_marks") });
    if (labelled || held) this.tell([labelled, held].filter(Boolean).join(" "));
  }

  /* ---- undo ---- */

  state() {
    return this.items.map((item) => ({ id: item.id, geometry: item.geometry, label: item.label, answers: item.answers() }));
  }
  /** Keeps what there is before a change; changes with the same `name` one after the other are one. */
  note(name) {
    this.history.keep(this.state(), name);
  }
  undo() {
    if (this.corners) return this.drawer.stroke("shorten");
    const before = this.history.back();
    if (!before) return;
    const focused = document.activeElement, current = this.current?.id;
    this.restore(before);
    this.turnTo(this.item(current));
    this.changed();
    this.context.announce(this.word("undone"));
    if (!focused?.isConnected || focused.disabled) this.focusTools();
  }
  restore(marks) {
    for (const item of this.items) item.destroy();
    this.items = marks.map((mark) => this.make(mark));
    this.turnTo(null);
  }

  /* ---- what is shown ---- */

  name(item) {
    return this.word(`mark_${this.kind.word}`, { n: this.items.indexOf(item) + 1 });
  }
  full(item) {
    return [this.name(item), this.labelWords(item.label)].filter(Boolean).join(": ");
  }
  say(word, item) {
    const { place = "", size = "" } = this.kind.says(item.geometry, this.context);
    this.context.announce(this.word(word, { name: this.full(item), place: [place, size].filter(Boolean).join("; ") }));
  }

  changed() {
    this.show();
    this.context.changed();
  }

  show() {
    for (const [nth, item] of this.items.entries()) {
      item.show();
      if (this.list.children[nth] !== item.element) this.list.insertBefore(item.element, this.list.children[nth] ?? null);
    }
    this.list.hidden = !this.items.length;
    this.fold.hidden = this.items.length < 2;
    this.fold.textContent = this.word(this.kind.word === "row" ? "rows_count" : "marks_count", { n: this.items.length });
    this.none.hidden = Boolean(this.items.length || this.question.min);
    this.undoButton.disabled = this.history.empty && !this.corners;
    if (this.legend) {
      this.legend.textContent = this.selected ? this.word("label_of", { name: this.name(this.selected) }) : this.word("label_of_next");
      for (const { label, input } of this.radios) input.checked = label.value === (this.selected ? this.selected.label : this.label);
    }
    const order = (item) => this.labels.findIndex(({ value }) => value === item.label);
    this.drawer?.draw(this.layer, this.drawn().map((item) => ({ id: item.id, geometry: item.geometry, name: String(this.items.indexOf(item) + 1), words: this.full(item), colour: this.labels[order(item)]?.colour ?? colour(order(item)) })), this.drawn().includes(this.current) ? this.current.id : null, Boolean(this.selected));
  }

  /* The marks that there is something to draw of. */
  drawn() {
    return this.items;
  }

  drawing(on) {
    this.drawer.activate(this.layer);
    this.drawer.arm(on);
  }
  turned(on) {
    const before = this.toggle.getAttribute("aria-pressed");
    this.toggle.setAttribute("aria-pressed", String(on));
    if (before === String(on)) return;
    this.news.textContent = "";
    this.context.keysChanged();
  }
  /** Whether a pointer draws marks of this question now: its labels then have the keys. */
  isDrawn() {
    return this.toggle.getAttribute("aria-pressed") === "true";
  }
  /* A line or an outline has so many corners by now; none when it is finished or given up. */
  stroking(corners) {
    if (corners === this.corners) return;
    const focused = document.activeElement, ended = !corners, begun = !this.corners;
    this.corners = corners;
    if (corners) {
      this.nothing.checked = false;
      if (this.selected) this.select(null); // the next label is for what is being drawn
    }
    this.finishButton.hidden = this.cancelButton.hidden = ended;
    this.finishButton.disabled = corners < this.kind.fewest;
    this.undoButton.disabled = this.history.empty && ended;
    if (begun || ended) this.context.changed(); // it is work, and may have been what was wrong
    if (focused?.hidden || focused?.disabled) this.focusTools();
  }

  /* ---- the field ---- */

  /** Shows and hides the questions about marks, which may depend on answers before this one. */
  turn() {
    for (const item of this.items) item.group?.turn();
  }

  unfinished() {
    return this.corners > 0;
  }

  value() {
    if (!this.items.length) return this.nothing.checked ? [] : undefined;
    return this.items.map((item) => item.value());
  }

  set(value) {
    const marks = Array.isArray(value) ? value.map((answer) => ({ geometry: this.kind.geometry(Object(answer)), label: answer?.label, answers: answer?.answers })) : [];
    this.history.clear();
    this.restore(marks.filter(({ geometry }) => geometry).slice(0, this.question.max ?? MARKS_MAX));
    this.nothing.checked = Array.isArray(value) && !this.items.length;
    this.show();
  }

  problem() {
    if (this.corners) {
      this.drawer.activate(this.layer);
      return this.word(this.kind.word === "line" ? "unfinished_line" : "unfinished_area");
    }
    for (const item of this.items) {
      const words = item.problem();
      if (!words) continue;
      this.turnTo(item);
      this.show();
      return `${this.name(item)}: ${words}`;
    }
    const least = this.question.min ?? 0, some = this.items.length || this.nothing.checked;
    return some && this.items.length < least ? this.word("marks_at_least", { n: least }) : "";
  }

  focus() {
    const wrong = this.items.find((item) => item.wrong);
    if (wrong) wrong.focus();
    else if (this.corners && !this.finishButton.disabled) this.finishButton.focus();
    else if (this.corners) this.cancelButton.focus();
    else this.focusTools();
  }

  keys() {
    const labels = this.labels.map((label) => [this.keyOf(label), this.context.text(label.text)]).filter(([key]) => key);
    return { ...Object.fromEntries(labels), "← ↑ ↓ →": this.word("key_moves"), ...(this.kind.resized ? { "⇧ ← ↑ ↓ →": this.word("key_resizes") } : {}), Delete: this.word("key_deletes") };
  }
  key(key) {
    const found = this.labels.find((label) => this.keyOf(label).toLowerCase() === key.toLowerCase());
    if (found) this.choose(found);
    return Boolean(found);
  }

  destroy() {
    this.ended = true;
    for (const item of this.items) item.destroy();
    this.drawer?.leave(this.layer);
  }
}
