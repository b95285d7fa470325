// A list of cards that open: add, move by mouse and by keyboard, duplicate, delete.
import { button, made } from "./fields.js";

/**
 * `list` is changed in place. `title(part)` names a card, `body(part)` are its fields, made when it is opened; `copy(part)` prepares a
 * duplicate; `problems(nth)` are sentences about one. `most` is how many there may be.
 */
export class Cards {
  constructor({ editor, list, title, body, copy, problems, add, most, heading }) {
    Object.assign(this, { editor, list, title, body, copy, problems, most });
    this.items = made("ol", { className: "cards", "aria-label": heading });
    this.more = button(add.words, () => this.insert(this.list.length, add.make()), "btn");
    this.element = made("section", { className: "stack" }, made("h2", {}, heading), this.items, made("p", { className: "row" }, this.more));
    this.draw();
  }

  draw(open, focus) {
    const opened = open ?? [...this.items.children].flatMap((item, nth) => (item.firstElementChild.open ? [this.list[nth]] : []));
    this.items.replaceChildren(...this.list.map((part, nth) => this.card(part, nth, opened.includes(part))));
    this.more.disabled = this.list.length >= this.most;
    if (focus !== undefined) this.items.children[focus]?.querySelector("summary").focus();
  }

  card(part, nth, open) {
    const { words } = this.editor, name = made("span", { className: "card-title", dir: "auto" }, this.title(part) || words.unnamed);
    const place = made("span", { className: "soft num" }, `${nth + 1}`), wrong = this.problems?.(nth) ?? [];
    const summary = made("summary", { draggable: true }, place, " ", name);
    const box = made("details", { open }, summary), item = made("li", { className: wrong.length ? "wrong" : "" }, box);
    const act = (label, to, off) => button(label, to, "btn sm", { disabled: off, ariaLabel: `${label}: ${this.title(part) || nth + 1}` });
    const bar = made("p", { className: "row" }, act(words.up, () => this.move(nth, nth - 1), nth === 0),
      act(words.down, () => this.move(nth, nth + 1), nth === this.list.length - 1), act(words.duplicate, () => this.insert(nth + 1, this.copy(part)), this.list.length >= this.most),
      act(words.remove, () => this.remove(nth), false));
    const fill = () => box.open && box.childElementCount === 1 && box.append(...wrong.map((sentence) => made("p", { className: "err" }, sentence)), made("div", { className: "stack" }, ...this.body(part)), bar);
    box.addEventListener("toggle", fill);
    box.addEventListener("input", () => { name.textContent = this.title(part) || words.unnamed; });
    fill();
    this.dragged(item, summary, nth);
    summary.addEventListener("keydown", (event) => {
      if (!event.altKey || !["ArrowUp", "ArrowDown"].includes(event.key)) return;
      event.preventDefault();
      this.move(nth, nth + (event.key === "ArrowUp" ? -1 : 1));
    });
    return item;
  }

  dragged(item, summary, nth) {
    summary.addEventListener("dragstart", (event) => {
      event.dataTransfer.setData("text/plain", this.title(this.list[nth]));
      this.from = nth;
    });
    summary.addEventListener("dragend", () => { this.from = undefined; });
    item.addEventListener("dragover", (event) => this.from !== undefined && event.preventDefault());
    item.addEventListener("drop", (event) => {
      if (this.from === undefined) return;
      event.preventDefault();
      this.move(this.from, nth);
    });
  }

  move(from, to) {
    if (to < 0 || to >= this.list.length || from === to) return;
    const { editor } = this, opened = this.opened();
    editor.model.mark();
    const [part] = this.list.splice(from, 1);
    this.list.splice(to, 0, part);
    editor.changed(editor.words.moved.replace("{name}", this.title(part)).replace("{place}", to + 1).replace("{total}", this.list.length));
    this.draw(opened, to);
  }

  opened() {
    return [...this.items.children].flatMap((item, nth) => (item.firstElementChild.open ? [this.list[nth]] : []));
  }

  insert(at, part) {
    const opened = this.opened();
    this.editor.model.mark();
    this.list.splice(at, 0, part);
    this.editor.changed(this.editor.words.added);
    this.draw([...opened, part], at);
    this.items.children[at].querySelector("input, textarea, select")?.focus();
  }

  remove(nth) {
    const opened = this.opened();
    this.editor.model.mark();
    this.list.splice(nth, 1);
    this.editor.changed(this.editor.words.removed, true);
    this.draw(opened, Math.min(nth, this.list.length - 1));
  }
}
