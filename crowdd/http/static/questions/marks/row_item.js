/* One line of a transcription: its text, and its box where there is a picture. */
import { element } from "../element.js";
import { Item } from "./item.js";

export class RowItem extends Item {
  constructor(field, mark) {
    super(field, mark);
    const { context, kind } = field;
    this.line = element("input", { type: "text", dir: "auto", maxLength: kind.max, autocomplete: "off", spellcheck: false, "aria-describedby": context.describedBy || null });
    this.line.addEventListener("input", () => this.typed());
    this.line.addEventListener("keydown", (event) => this.next(event));
    // A press opens the line when it is over: until then nothing may move under the pointer.
    this.line.addEventListener("pointerdown", () => { this.pressed = true; });
    this.line.addEventListener("focus", () => this.pressed || this.begin());
    this.line.addEventListener("click", () => this.begin());
    this.nthWords = element("span", { className: "small soft num", "aria-hidden": "true" });
    this.boxButton = element("button", { type: "button", className: "btn" });
    this.boxButton.addEventListener("click", () => this.turnBox());
    this.element.firstElementChild.replaceChildren(this.nthWords, this.line, this.deleteButton);
    this.body.prepend(element("div", { className: "row" }, this.boxButton, this.button));
  }

  begin() {
    const { field } = this;
    this.pressed = false;
    if (field.current === this) return;
    field.turnTo(this);
    field.drawer?.activate(field.layer);
    field.show();
  }

  typed() {
    const { field } = this;
    this.begin();
    field.note(`text ${this.id}`);
    this.geometry = { ...this.geometry, text: this.line.value };
    field.nothing.checked = false;
    field.context.changed();
    field.undoButton.disabled = false;
  }

  /* Enter goes to the next line, and makes one at the end. */
  next(event) {
    if (event.key !== "Enter" || event.isComposing || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    event.stopPropagation();
    const { items } = this.field, after = items[items.indexOf(this) + 1];
    if (after) after.focus();
    else this.field.put();
  }

  turnBox() {
    const { field } = this, { drawer, kind, items } = field, { text, x } = this.geometry;
    field.note();
    this.geometry = x === undefined ? kind.box({ text }, drawer.size, items.indexOf(this)) : { text };
    field.changed();
    field.say(x === undefined ? "mark_added" : "box_removed", this);
    if (x === undefined) this.button.focus();
  }

  show() {
    super.show();
    const { field } = this, { text, x } = this.geometry, boxed = x !== undefined;
    if (!this.line) return;
    if (this.line.value !== text) this.line.value = text;
    this.line.ariaLabel = field.name(this);
    this.nthWords.textContent = String(field.items.indexOf(this) + 1);
    this.words.textContent = field.word("mark_box", { n: field.items.indexOf(this) + 1 });
    this.body.hidden = this.body.hidden || !field.kind.pictured;
    this.button.hidden = !boxed;
    this.numbers.hidden = !boxed;
    this.keys.hidden = !boxed;
    this.boxButton.textContent = field.word(boxed ? "remove_box" : "add_box");
  }

  focus() {
    this.line.focus();
  }
  focused() {
    this.line.focus();
  }
}
