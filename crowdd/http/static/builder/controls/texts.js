/* Controls of texts in several languages. */
import { uploader } from "../../guides/pictures.js";
import { element } from "../../questions/element.js";
import { directionOf } from "../../questions/texts.js";
import { anyWords, isHelp, withWords, wordsOf } from "../texts.js";
import { labelled, line, pointer, ticked, typed } from "./field.js";

/** An input for the words of a text in the language that is chosen. */
export function wordsInput({ path, empty }, ui, { lines = 1, told } = {}) {
  const input = lines > 1 ? element("textarea", { rows: lines, className: "b-words" }) : line();
  const { language, main } = ui;
  Object.assign(input, { lang: language, dir: directionOf(language) === "rtl" ? "rtl" : "auto", maxLength: ui.declared.limits.text });
  const other = () => (language === main ? "" : anyWords(ui.at(path), main, main));
  const read = () => {
    if (document.activeElement !== input) input.value = wordsOf(ui.at(path), language, main);
    input.placeholder = other();
    input.classList.toggle("b-missing", !input.value && Boolean(other()));
  };
  read();
  ui.sync(read);
  input.addEventListener("input", () => {
    const before = anyWords(ui.at(path), main, main), next = withWords(ui.at(path), language, input.value, main, empty);
    if (told) told(next, before);
    else ui.set(path, next);
  });
  return input;
}

export function text(field, ui, { lines = 2, told } = {}) {
  const here = { ...field, empty: field.option.needed ? "" : undefined };
  return labelled(field, wordsInput(here, ui, { lines, told }));
}

/** A box to tick, and the words that stand in place of ours. */
export function unsure(field, ui) {
  const { path, id } = field, box = element("input", { type: "checkbox" }), place = ticked(field, box);
  const own = labelled({ id: `${id}-words`, path: [...path, "words"], option: { label: ui.word("own_words"), hint: ui.word("own_words_hint") } }, line({ lang: ui.language, dir: "auto" }));
  const input = own.querySelector("input"), value = () => ui.at(path), words = () => (typeof value() === "boolean" || value() === undefined ? undefined : value());
  const read = () => {
    box.checked = Boolean(value());
    own.hidden = !box.checked;
    if (document.activeElement !== input) input.value = wordsOf(words(), ui.language, ui.main);
  };
  read();
  ui.sync(read);
  box.addEventListener("change", () => { ui.set(path, box.checked || undefined); });
  input.addEventListener("input", () => ui.set(path, withWords(words(), ui.language, input.value, ui.main) ?? true));
  own.dataset.pointer = pointer(path);
  place.append(own);
  return place;
}

/** A text, or an object of a text and the address of a picture, which is uploaded here. */
export function help(field, ui) {
  const { path, id, option } = field;
  const part = (name) => (isHelp(ui.at(path)) ? ui.at(path)[name] : name === "text" ? ui.at(path) : undefined);
  const store = (words, picture) => {
    const pictured = picture ? { ...(words ? { text: words } : {}), picture } : words;
    ui.set(path, pictured);
  };
  const words = element("textarea", { rows: 2, className: "b-words", lang: ui.language, dir: "auto", maxLength: ui.declared.limits.text });
  const shown = element("div", { className: "b-picture" });
  const draw = () => {
    const address = part("picture");
    if (address) {
      const away = element("button", { type: "button", className: "btn sm" }, ui.word("picture_remove"));
      away.addEventListener("click", () => { store(part("text"), ""); draw(); });
      shown.replaceChildren(element("img", { src: address, alt: "", className: "print" }), away);
    } else {
      shown.replaceChildren(uploader(ui, ui.word("help_picture"), (path) => { store(part("text"), path); draw(); }));
    }
    shown.dataset.shows = address ?? "";
  };
  const read = () => {
    if (document.activeElement !== words) words.value = wordsOf(part("text"), ui.language, ui.main);
    words.placeholder = ui.language === ui.main ? "" : anyWords(part("text"), ui.main, ui.main);
    if (shown.dataset.shows !== (part("picture") ?? "")) draw();
  };
  read();
  ui.sync(read);
  words.addEventListener("input", () => store(withWords(part("text"), ui.language, words.value, ui.main), part("picture")));
  const first = labelled({ id, path: isHelp(ui.at(path)) ? [...path, "text"] : path, option }, words);
  shown.dataset.pointer = pointer([...path, "picture"]);
  const place = element("div", { className: "b-pair" }, first, shown);
  place.dataset.pointer = pointer(path);
  return place;
}

/** A text, or a column of the tasks. */
export function description(field, ui) {
  const { path, id, option } = field, column = () => Object.hasOwn(Object(ui.at(path)), "column");
  const which = element("select", { ariaLabel: `${option.label}: ${ui.word("source_kind")}`, id: `${id}-kind` },
    element("option", { value: "text" }, ui.word("same_text")), element("option", { value: "column" }, ui.word("from_column")));
  which.value = column() ? "column" : "text";
  which.addEventListener("change", () => ui.set(path, which.value === "column" ? { column: "" } : undefined, { structural: true, focus: which.id }));
  if (!column()) return labelled({ ...field }, wordsInput(field, ui), which);
  const input = typed({ path: [...path, "column"] }, ui, line({ dir: "auto" }), (value) => value ?? "", (value) => value);
  input.setAttribute("list", "builder-columns");
  return labelled({ ...field, path: [...path, "column"] }, input, which);
}
