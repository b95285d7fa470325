/* Where a medium comes from: a column of the tasks, or one address for all tasks. */
import { element } from "../../questions/element.js";
import { insert, put, remove } from "../store.js";
import { grouped, labelled, line, typed } from "./field.js";

const known = (value) => (Object.hasOwn(Object(value), "url") ? "url" : "column");

/* The kind and the value of a source, for a field with a label of its own. */
function inputs({ id, path, label }, ui) {
  const kind = known(ui.at(path)), name = `${label}: ${ui.word("source_kind")}`;
  const which = element("select", { id: `${id}-kind`, ariaLabel: name },
    element("option", { value: "column" }, ui.word("from_column")), element("option", { value: "url" }, ui.word("same_address")));
  which.value = kind;
  which.addEventListener("change", () => ui.set(path, { [which.value]: "" }, { structural: true, focus: which.id }));
  const input = typed({ path: [...path, kind] }, ui, line({ dir: kind === "url" ? "ltr" : "auto" }), (value) => value ?? "", (value) => value.trim());
  if (kind === "column") input.setAttribute("list", "builder-columns");
  else input.placeholder = "https://…";
  return { which, input, kind };
}

export function source(field, ui) {
  const { id, path, option } = field;
  if (!option.needed && ui.at(path) === undefined) {
    const add = element("button", { type: "button", className: "btn sm", id }, ui.word("add_source"));
    add.addEventListener("click", () => ui.set(path, { column: "" }, { structural: true, focus: id }));
    return grouped({ ...field, id: `${id}-group` }, add);
  }
  const { which, input, kind } = inputs({ id, path, label: option.label }, ui);
  const place = labelled({ ...field, path: [...path, kind] }, input, which);
  if (!option.needed) place.append(button(ui, "remove_source", () => ui.set(path, undefined, { structural: true, focus: id })));
  return place;
}

/** A list of sources. */
export function sources(field, ui) {
  const { id, path, option } = field, list = Array.isArray(ui.at(path)) ? ui.at(path) : [];
  const rows = list.map((_, nth) => {
    const label = ui.word("source_n", { n: nth + 1 }), here = { id: `${id}-${nth}`, path: [...path, nth], label };
    const { which, input, kind } = inputs(here, ui), move = (to) => ui.commit(insert(remove(ui.document, here.path), path, to, ui.at(here.path)), { focus: `${id}-${to}` });
    const buttons = element("div", { className: "row" }, which,
      ui.tool("up", ui.word("move_up", { name: label }), () => move(nth - 1), { disabled: nth === 0 }),
      ui.tool("down", ui.word("move_down", { name: label }), () => move(nth + 1), { disabled: nth === list.length - 1 }),
      ui.tool("bin", ui.word("delete", { name: label }), () => ui.commit(remove(ui.document, here.path), { focus: `${id}-${Math.max(0, nth - 1)}` }), { disabled: list.length === 1 }));
    return labelled({ ...here, path: [...here.path, kind], option: { label } }, input, buttons);
  });
  const add = button(ui, "add_picture", () => ui.commit(put(ui.document, path, [...ui.at(path), { column: "" }]), { focus: `${id}-${list.length}` }));
  return grouped(field, ...rows, list.length < option.limits.max ? add : null);
}

const SHARE = /^\s*\d+([.,]\d+)?\s*$/;
const percent = (share) => (typeof share === "number" ? String(Math.round(share * 1000) / 10) : share ?? "");
const shareOf = (text) => (text.trim() === "" ? undefined : SHARE.test(text) ? Number(text.replace(",", ".")) / 100 : text);

/** Where a suggested answer comes from, and how many tasks show none. */
export function suggest(field, ui) {
  const { id, path, option } = field, value = Object(ui.at(path)), kind = ["column", "model"].find((each) => Object.hasOwn(value, each)) ?? "";
  const which = element("select", {}, ...[["", "no_suggestion"], ["column", "from_column"], ["model", "from_model"]].map(([each, word]) => element("option", { value: each }, ui.word(word))));
  which.value = kind;
  which.addEventListener("change", () => ui.set(path, which.value ? { [which.value]: "" } : undefined, { structural: true, focus: which.id }));
  const place = labelled(field, which);
  if (!kind) return place;
  const input = typed({ path: [...path, kind] }, ui, line({ dir: "auto" }), (words) => words ?? "", (words) => words.trim());
  if (kind === "column") input.setAttribute("list", "builder-columns");
  const share = typed({ path: [...path, "hidden_share"] }, ui, line({ className: "few", inputMode: "decimal", dir: "ltr", placeholder: percent(option.limits.share) }), percent, shareOf);
  place.append(labelled({ id: `${id}-of`, path: [...path, kind], option: { label: ui.word(kind === "column" ? "suggested_column" : "suggested_model") } }, input),
    labelled({ id: `${id}-share`, path: [...path, "hidden_share"], option: { label: ui.word("hidden_share"), hint: ui.word("hidden_share_hint") } }, share));
  return place;
}

function button(ui, word, act) {
  const made = element("button", { type: "button", className: "btn sm" }, ui.word(word));
  made.addEventListener("click", act);
  return made;
}
