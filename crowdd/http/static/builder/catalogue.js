/* The dialog in which a type of question or medium is chosen: groups of types with icon, name, a sentence, and the medium that
   each needs.  A field searches them. */
import { element } from "../questions/element.js";

export class Catalogue {
  constructor(ui) {
    this.ui = ui;
    this.search = element("input", { type: "search", id: "builder-search", autocomplete: "off" });
    this.search.setAttribute("aria-label", ui.word("search_types"));
    this.search.placeholder = ui.word("search_types");
    this.groups = element("div", { className: "stack" });
    this.none = element("p", { className: "soft", role: "status" });
    this.title = element("h2", { id: "builder-types-title" });
    const close = ui.tool("close", ui.word("close"), () => this.dialog.close());
    this.dialog = element("dialog", { className: "b-catalogue" }, element("div", { className: "row far" }, this.title, close), this.search, this.groups, this.none);
    this.dialog.setAttribute("aria-labelledby", this.title.id);
    this.search.addEventListener("input", () => this.filter());
    this.dialog.addEventListener("click", (event) => event.target === this.dialog && this.dialog.close());
    document.body.append(this.dialog);
  }

  /** Asks for a type; `kind` is questions, each (questions about a mark) or media.  `chosen(name)` gets the answer. */
  ask(kind, chosen) {
    this.title.textContent = this.ui.word(kind === "media" ? "choose_medium" : "choose_question");
    this.groups.replaceChildren(...this.tiles(kind, (name) => {
      this.dialog.close();
      chosen(name);
    }));
    this.search.value = "";
    this.filter();
    this.dialog.showModal();
    this.search.focus();
  }

  /** Groups of tiles, one for each type. */
  tiles(kind, chosen, level = 3) {
    const { declared } = this.ui;
    if (kind === "media") return [element("ul", { className: "b-tiles x" }, ...declared.media.map((medium) => this.tile(medium, `medium_${medium.name}`, "", chosen)))];
    const types = declared.types.filter((type) => kind !== "each" || !type.needs_medium);
    const needs = ({ media, needs_medium }) => (needs_medium ? this.ui.word("needs", { media: media.map((name) => declared.medium(name).label).join(" / ") }) : "");
    return declared.groups.map((group) => {
      const found = types.filter((type) => type.group === group.name);
      if (!found.length) return null;
      const heading = element(`h${level}`, { className: "over" }, group.label);
      return element("section", {}, heading, element("ul", { className: "b-tiles x" }, ...found.map((type) => this.tile(type, type.name, needs(type), chosen))));
    }).filter(Boolean);
  }

  tile({ name, label, sentence }, icon, needs, chosen) {
    const words = element("span", {}, element("strong", {}, label), element("small", {}, sentence, needs ? element("em", {}, ` ${needs}`) : null));
    const button = element("button", { type: "button", className: "b-tile" }, this.ui.icon(icon), words);
    button.dataset.type = name;
    button.addEventListener("click", () => chosen(name));
    return element("li", {}, button);
  }

  filter() {
    const wanted = this.search.value.trim().toLowerCase();
    for (const tile of this.groups.querySelectorAll("li")) tile.hidden = !tile.textContent.toLowerCase().includes(wanted);
    for (const group of this.groups.querySelectorAll("section")) group.hidden = !group.querySelector("li:not([hidden])");
    this.none.textContent = this.groups.querySelector("li:not([hidden])") ? "" : this.ui.word("no_types");
  }
}
