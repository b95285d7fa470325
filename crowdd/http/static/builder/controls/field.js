/* A labelled field with its explanation, and the place for what is wrong with it.
     field  {id, path, option: {label, hint, …}}    `id` of the input, `path` in the document
     ui     what controls share (builder.js): {word, set, at, sync, language, main, declared, …} */
import { element } from "../../questions/element.js";

/** The JSON pointer of a path. */
export const pointer = (path) => path.map((key) => "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1")).join("");

/** A field around an input; `beside` stands behind it. */
export function labelled({ id, path, option }, input, ...beside) {
  const label = element("label", { htmlFor: id }, option.label);
  const hint = option.hint ? element("p", { className: "hint", id: `${id}-hint` }, option.hint) : null;
  if (hint) input.setAttribute("aria-describedby", hint.id);
  input.id = id;
  const place = element("div", { className: "field" }, label, hint, input, ...beside);
  place.dataset.pointer = pointer(path);
  return place;
}

/** A box to tick with its label and explanation. */
export function ticked({ id, path, option }, box) {
  box.id = id;
  const words = element("span", {}, option.label, option.hint ? element("small", {}, option.hint) : null);
  const place = element("div", { className: "field" }, element("label", { className: "check" }, box, words));
  place.dataset.pointer = pointer(path);
  return place;
}

/** Several inputs under one heading. */
export function grouped({ id, path, option }, ...content) {
  const hint = option.hint ? element("p", { className: "hint", id: `${id}-hint` }, option.hint) : null;
  const place = element("fieldset", { className: "field b-group", id, tabIndex: -1 }, element("legend", {}, option.label), hint, ...content);
  if (hint) place.setAttribute("aria-describedby", hint.id);
  place.dataset.pointer = pointer(path);
  return place;
}

/** An input for one value: `read(value)` is what it shows, `write(text)` what is stored of it, undefined for nothing. */
export function typed({ path }, ui, input, read, write) {
  const shown = () => { input.value = read(ui.at(path)); };
  shown();
  input.addEventListener("input", () => ui.set(path, write(input.value)));
  ui.sync(() => document.activeElement !== input && shown());
  return input;
}

export const line = (properties = {}) => element("input", { type: "text", autocomplete: "off", ...properties });
