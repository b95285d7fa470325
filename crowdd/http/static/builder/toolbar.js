/* Undo and redo, the two views, what the check says, and the button that saves. */
import { element } from "../questions/element.js";

export class Toolbar {
  constructor(ui) {
    this.ui = ui;
    this.undo = ui.tool("undo", ui.word("undo"), () => ui.undo(), { id: "builder-undo" });
    this.redo = ui.tool("redo", ui.word("redo"), () => ui.redo(), { id: "builder-redo" });
    this.undo.setAttribute("aria-keyshortcuts", "Control+Z");
    this.redo.setAttribute("aria-keyshortcuts", "Control+Shift+Z");
    this.views = ["forms", "json"].map((view) => this.view(view));
    this.element = element("div", { className: "b-toolbar row" }, this.undo, this.redo, ...this.views, ui.checks.status, ui.save.onward ?? ui.save.button);
    addEventListener("keydown", (event) => this.key(event));
  }

  view(name) {
    const button = element("button", { type: "button", className: "btn sm", id: `builder-view-${name}` }, this.ui.word(`view_${name}`));
    button.addEventListener("click", () => this.ui.show(name));
    return button;
  }

  draw() {
    const { store, view } = this.ui;
    this.undo.setAttribute("aria-disabled", String(!store.past.length));
    this.redo.setAttribute("aria-disabled", String(!store.future.length));
    this.views.forEach((button) => button.setAttribute("aria-pressed", String(button.id.endsWith(view))));
  }

  /* In the field with the JSON, and in other forms, these keys are those of the browser. */
  key(event) {
    const { key, ctrlKey, metaKey, shiftKey, altKey, target } = event;
    if (!(ctrlKey || metaKey) || altKey || (target.form && target.form.method === "post") || target.closest?.("dialog")) return;
    const redo = (key.toLowerCase() === "z" && shiftKey) || key.toLowerCase() === "y";
    if (!redo && key.toLowerCase() !== "z") return;
    event.preventDefault();
    if (redo) this.ui.redo();
    else this.ui.undo();
  }
}
