/* Controls of one value: numbers, days, addresses, boxes to tick, choices of a few. */
import { element } from "../../questions/element.js";
import { exact, typed as asTyped, understood } from "../../questions/texts.js";
import { grouped, labelled, line, ticked, typed } from "./field.js";

const LANGUAGE = document.documentElement.lang || "en"; // it says what "1,234" is
const shown = (value) => (value === undefined || value === null ? "" : String(value));
export const written = (value) => (typeof value === "number" ? asTyped(value, LANGUAGE) : shown(value));
/** What is typed as a number. Text that is none is kept as typed, and the check reports it. */
export const numeric = (text) => (text.trim() === "" ? undefined : exact(understood(text, LANGUAGE) ?? "") ?? text);

export function number(field, ui) {
  return labelled(field, typed(field, ui, line({ className: "few", inputMode: "decimal", dir: "ltr" }), written, numeric));
}

/** A list of as many numbers as its option says. */
export function numbers(field, ui) {
  const { path, option } = field, inputs = Array.from({ length: option.limits.length }, (_, nth) => line({
    className: "few", inputMode: "decimal", dir: "ltr", ariaLabel: `${option.label} ${nth + 1}`, id: `${field.id}-${nth}`,
  }));
  const read = () => inputs.forEach((input, nth) => { if (document.activeElement !== input) input.value = written([ui.at(path) ?? []].flat()[nth]); });
  read();
  ui.sync(read);
  for (const input of inputs) input.addEventListener("input", () => {
    const values = inputs.map(({ value }) => numeric(value));
    ui.set(path, values.every((value) => value === undefined) ? undefined : values.map((value) => value ?? ""));
  });
  return grouped(field, element("div", { className: "row" }, ...inputs));
}

export function day(field, ui) {
  const known = ui.at(field.path), usual = known === undefined || /^\d{4}-\d\d-\d\d$/.test(known);
  return labelled(field, typed(field, ui, line({ type: usual ? "date" : "text", className: "few" }), shown, (text) => text || undefined));
}

export function address(field, ui) {
  return labelled(field, typed(field, ui, line({ inputMode: "url", dir: "ltr", placeholder: "https://…" }), shown, (text) => text.trim() || undefined));
}

export function boolean(field, ui) {
  const box = element("input", { type: "checkbox" }), read = () => { box.checked = Boolean(ui.at(field.path)); };
  read();
  ui.sync(read);
  box.addEventListener("change", () => ui.set(field.path, box.checked || undefined));
  return ticked(field, box);
}

/** One of several: `entries()` are pairs of value and words, read again after each change. */
export function pick(field, ui, entries, choose) {
  const select = element("select");
  const fill = () => {
    const value = shown(ui.at(field.path)), found = entries();
    if (!found.some(([each]) => each === value)) found.push([value, value || ui.word("choose")]);
    select.replaceChildren(...found.map(([each, words]) => element("option", { value: each }, words)));
    select.value = value;
  };
  fill();
  ui.sync(() => document.activeElement !== select && fill());
  select.addEventListener("change", () => choose(select.value));
  return labelled(field, select);
}

/** Whether an answer can be right. */
export function kind(field, ui) {
  const fact = () => (ui.at(field.path) === "fact" ? "fact" : "");
  return pick(field, ui, () => [[fact(), ui.word("is_fact")], ["opinion", ui.word("is_opinion")]], (value) => ui.set(field.path, value || undefined));
}
