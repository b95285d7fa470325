/* When a question or a step is shown: answers to earlier questions, of which one must have been given. */
import { element } from "../../questions/element.js";
import { put } from "../store.js";
import { anyWords } from "../texts.js";
import { grouped, labelled, line, pointer } from "./field.js";
import { numeric, written } from "./simple.js";

const MAX_SCALE = 25; // values of a scale that are shown as boxes

/** `earlier` are the questions before this place. */
export function condition(field, ui, earlier) {
  const { id, path, option } = field, stored = ui.at(path), list = [stored ?? []].flat();
  const usable = earlier.filter((question) => ui.declared.type(question?.type)?.compared);
  const now = () => [ui.at(path) ?? []].flat(); // values may have changed since this was drawn
  const store = (conditions, focus) => {
    const next = conditions.length ? (conditions.length > 1 || Array.isArray(stored) ? conditions : conditions[0]) : undefined;
    ui.commit(put(ui.document, path, next), { focus });
  };
  const rows = list.map((one, nth) => row({ id: `${id}-${nth}`, path: Array.isArray(stored) ? [...path, nth] : path, one: Object(one), nth, usable, ui, drop: () => store(now().filter((_, other) => other !== nth), `${id}-add`) }));
  const add = element("button", { type: "button", className: "btn sm", id: `${id}-add` }, ui.icon("plus"), ui.word(list.length ? "add_condition" : "first_condition"));
  add.addEventListener("click", () => {
    const [first] = usable.slice(-1);
    store([...now(), { question: first.name, is: values(first, ui).slice(0, 1).map(([value]) => value) }], `${id}-${list.length}`);
  });
  const possible = usable.length && list.length < ui.declared.limits.conditions;
  const none = !usable.length && !list.length ? element("p", { className: "hint" }, ui.word("no_earlier")) : null;
  return grouped(field, list.length > 1 ? element("p", { className: "hint" }, ui.word("all_conditions")) : null, ...rows, none, possible ? element("p", {}, add) : null);
}

function row({ id, path, one, nth, usable, ui, drop }) {
  const select = element("select"), question = usable.find(({ name }) => name === one.question);
  const names = usable.map(({ name, text }) => [name, anyWords(text, ui.language, ui.main) || name]);
  if (!question) names.push([String(one.question ?? ""), String(one.question ?? "") || ui.word("choose")]);
  select.append(...names.map(([value, words]) => element("option", { value }, words)));
  select.value = String(one.question ?? "");
  select.addEventListener("change", () => {
    const found = usable.find(({ name }) => name === select.value);
    ui.set(path, { question: select.value, is: found ? values(found, ui).slice(0, 1).map(([value]) => value) : [] }, { structural: true, focus: id });
  });
  const asked = labelled({ id, path: [...path, "question"], option: { label: ui.word("condition_question", { n: nth + 1 }) } }, select);
  const is = Array.isArray(one.is) ? one.is : [], fields = question ? answers({ id: `${id}-is`, path: [...path, "is"], question, is, ui }) : null;
  const gone = ui.tool("bin", ui.word("delete", { name: ui.word("condition_question", { n: nth + 1 }) }), drop);
  const place = element("div", { className: "b-condition" }, element("div", { className: "row" }, asked, gone), fields);
  place.dataset.pointer = pointer(path);
  return place;
}

/* The answers that a question can have, as pairs of value and words; none where any number can be one. */
function values(question, ui) {
  const { compared } = ui.declared.type(question.type), own = question.unsure ? [[null, typeof question.unsure === "boolean" ? ui.word("unsure") : anyWords(question.unsure, ui.language, ui.main)]] : [];
  if (compared === "yes_no") return [[true, ui.word("yes")], [false, ui.word("no")], ...own];
  if (compared === "choices") return [...(Array.isArray(question.choices) ? question.choices : []).map((choice) => [choice?.value, anyWords(choice?.text, ui.language, ui.main) || choice?.value]), ...own];
  const { min = 1, max = 5, step = 1 } = question, scale = [];
  if (compared === "integer" && step > 0 && (max - min) / step <= MAX_SCALE) for (let value = min; value <= max; value += step) scale.push([value, String(value)]);
  return [...scale, ...own];
}

function answers({ id, path, question, is, ui }) {
  const known = values(question, ui), others = is.filter((value) => !known.some(([each]) => each === value));
  const numeric = ["integer", "number"].includes(ui.declared.type(question.type).compared);
  const store = (next) => ui.set(path, next);
  const boxes = [...known, ...(numeric ? [] : others.map((value) => [value, ui.word("no_answer", { value: JSON.stringify(value) })]))].map(([value, words], nth) => {
    const box = element("input", { type: "checkbox", id: `${id}-${nth}`, checked: is.includes(value) });
    box.addEventListener("change", () => {
      const now = ui.at(path).filter((each) => each !== value);
      store(box.checked ? [...now, value] : now);
    });
    return element("label", { className: "check" }, box, element("span", { dir: "auto" }, String(words)));
  });
  const free = numeric && !known.some(([value]) => value !== null) ? numbers({ id, path, is, ui }) : null;
  return grouped({ id, path, option: { label: ui.word("condition_is") } }, ...boxes, free);
}

/* Numbers in one line, for answers that can be any number. */
function numbers({ id, path, is, ui }) {
  const input = line({ inputMode: "decimal", dir: "ltr", value: is.filter((value) => value !== null).map(written).join(" ") });
  input.addEventListener("input", () => {
    const typed = input.value.split(/[\s;]+/).filter(Boolean).map(numeric);
    ui.set(path, [...typed, ...ui.at(path).filter((value) => value === null)]);
  });
  return labelled({ id: `${id}-numbers`, path, option: { label: ui.word("condition_numbers") } }, input);
}
