/* The languages of the texts: a tab for each, what is missing in it, and the way to add or remove one. */
import { element } from "../questions/element.js";
import { put } from "./store.js";
import { eachText, languagesOf, missing, withWords } from "./texts.js";

export class LanguageBar {
  constructor(ui) {
    this.ui = ui;
    this.added = new Set(); // without a text as yet
    this.element = element("div", { className: "b-languages row", role: "group" });
    this.element.setAttribute("aria-label", ui.word("languages"));
  }

  nameOf(tag) {
    return this.ui.declared.languages[tag] ?? tag;
  }

  tags() {
    const { ui } = this;
    return [...new Set([...languagesOf(ui.document, ui.declared, ui.main), ...this.added])];
  }

  draw() {
    const { ui } = this, tags = this.tags();
    if (!tags.includes(ui.language)) ui.language = ui.main;
    const several = tags.length > 1;
    this.element.replaceChildren(...(several ? tags.map((tag) => this.tab(tag)) : []), this.adder(tags), ...(several && ui.language !== ui.main ? [this.remover()] : []));
  }

  tab(tag) {
    const { ui } = this, button = element("button", { type: "button", className: "btn sm", id: `builder-language-${tag}` }), lacking = element("span", { className: "tiny" });
    button.append(element("span", { lang: tag }, this.nameOf(tag)), lacking);
    button.setAttribute("aria-pressed", String(tag === ui.language));
    const write = () => {
      const count = missing(ui.document, ui.declared, tag, ui.main);
      lacking.textContent = count ? ui.count("missing_texts", count) : "";
    };
    write();
    ui.sync(write);
    button.addEventListener("click", () => {
      ui.language = tag;
      ui.render(button.id);
    });
    return button;
  }

  adder(tags) {
    const { ui } = this, select = element("select", { className: "b-add-language", id: "builder-add-language", ariaLabel: ui.word("add_language") });
    const others = Object.keys(ui.declared.languages).filter((tag) => !tags.includes(tag));
    const first = others.filter((tag) => ui.declared.locales.includes(tag)), rest = others.filter((tag) => !first.includes(tag));
    select.append(element("option", { value: "" }, ui.word("add_language")), ...[...first, ...rest].map((tag) => element("option", { value: tag, lang: tag }, this.nameOf(tag))));
    select.addEventListener("change", () => {
      if (!select.value) return;
      this.added.add(select.value);
      ui.language = select.value;
      ui.say("language_added", { name: this.nameOf(select.value) });
      ui.render(`builder-language-${select.value}`);
    });
    return select;
  }

  /* Takes all texts of a language away.  Undo brings them back. */
  remover() {
    const { ui } = this, tag = ui.language, name = this.nameOf(tag), button = element("button", { type: "button", className: "btn sm bare" }, ui.word("remove_language", { name }));
    button.addEventListener("click", () => {
      let next = ui.document;
      eachText(ui.document, ui.declared, (text, path) => {
        if (Object.hasOwn(Object(text), tag)) next = put(next, path, withWords(text, tag, "", ui.main, ""));
      });
      this.added.delete(tag);
      ui.language = ui.main;
      ui.say("language_removed", { name });
      if (next === ui.document) ui.render("builder-add-language");
      else ui.commit(next, { focus: "builder-add-language" });
    });
    return button;
  }
}
