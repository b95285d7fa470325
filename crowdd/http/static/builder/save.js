/* Saving: what is wrong keeps the page as it is, and what a change means for answers is said before. */
import { element } from "../questions/element.js";

export class Save {
  constructor(ui, form, checks) {
    Object.assign(this, { ui, form, checks, agreed: false });
    this.button = element("button", { className: "btn main" }, ui.word("save"));
    this.button.setAttribute("form", form.id);
    this.onward = form.elements.onward ? this.further(form.elements.onward) : null;
    this.effects = element("ul", { className: "stack tight" });
    this.dialog = this.ask();
    form.addEventListener("submit", (event) => this.submit(event), true);
  }

  /* While a project has no tasks, what comes next is the same press. */
  further(onward) {
    const button = element("button", { className: "btn main" }, this.ui.word("save_onward"));
    button.setAttribute("form", this.form.id);
    this.button.className = "btn";
    this.form.addEventListener("submit", ({ submitter }) => { if (submitter) onward.value = submitter === button ? "on" : ""; }, true);
    return button;
  }

  ask() {
    const { ui } = this, title = element("h2", { id: "builder-effects-title" }, ui.word("effects_title"));
    const go = element("button", { type: "button", className: "btn main" }, ui.word("save_version")), stay = element("button", { type: "button", className: "btn" }, ui.word("cancel"));
    const dialog = element("dialog", {}, element("div", { className: "stack" }, title, this.effects, element("p", { className: "row" }, go, stay)));
    dialog.setAttribute("aria-labelledby", title.id);
    go.addEventListener("click", () => {
      dialog.close();
      this.send();
    });
    stay.addEventListener("click", () => dialog.close());
    document.body.append(dialog);
    return dialog;
  }

  show(result) {
    this.effects.replaceChildren(...(result?.effects ?? []).map((words) => element("li", {}, words)));
  }

  submit(event) {
    if (this.agreed || event.submitter?.name) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.decide();
  }

  async decide() {
    const { ui, checks } = this, result = await checks.now();
    if (result?.problems.length) {
      checks.insist();
      if (ui.view === "json" || !result.problems[0].path) checks.heading.focus();
      else ui.reveal(result.problems[0].path);
    } else if (result?.effects.length) this.dialog.showModal();
    else this.send();
  }

  send() {
    this.agreed = true;
    this.form.requestSubmit();
    this.agreed = false;
  }
}
