/* Lists of choices, rows, columns and labels.  The stored value follows the text until somebody changes it, and so does a key
   that is a letter of the text.  In questions of a template that nobody has answered, both follow whatever they were. */
import { element } from "../../questions/element.js";
import { at, idOf, insert, put, remove } from "../store.js";
import { follows, slug } from "../names.js";
import { anyWords } from "../texts.js";
import { grouped, line, pointer, typed } from "./field.js";
import { wordsInput } from "./texts.js";

export function choices(field, ui) {
  const { id, path, option } = field, list = ui.at(path);
  const entries = Array.isArray(list) ? list : [];
  const rows = entries.map((entry, nth) => (entry && typeof entry === "object" ? row({ field, ui, entries, nth }) : null));
  const add = element("button", { type: "button", className: "btn sm", id: `${id}-add` }, ui.icon("plus"), ui.word("add_entry", { list: option.label }));
  add.addEventListener("click", () => append(field, ui, ui.at(path) ?? [], entries.length, [""]));
  const place = element("ol", { className: "b-choices" }, ...rows);
  place.dataset.list = JSON.stringify(path);
  if (option.parts.some(({ name }) => name === "key")) place.classList.add("keyed");
  return grouped(field, rows.length ? place : null, entries.length < option.limits.max ? element("p", {}, add) : null);
}

/* New entries with these texts, and the focus in the last one. */
function append({ path, option }, ui, entries, index, texts) {
  let next = put(ui.document, path, entries), made = null;
  for (const [nth, words] of texts.slice(0, option.limits.max - entries.length).entries()) {
    made = ui.declared.newEntry(option, entries.length + nth + 1);
    if (words) Object.assign(made, { text: words, value: value(words, at(next, path)) });
    else made.value = free(made.value, at(next, path));
    next = insert(next, path, index + nth, made);
  }
  if (made) ui.commit(next, { focus: `b${idOf(made)}-text` });
}

const taken = (entries) => new Set(entries.map((entry) => entry?.value));
function free(base, entries) {
  const known = taken(entries);
  for (let n = 1; ; n++) {
    const made = n > 1 ? `${base}_${n}` : base;
    if (!known.has(made)) return made;
  }
}
/* A value may have any letters, so that texts without Latin ones make values, too. */
const value = (words, entries) => free(slug(words) || words.trim().slice(0, 190) || "choice", entries);
const isDerived = (stored, words) => stored === "" || /^(choice|row|column|label|entry)(_\d+)*$/.test(stored) || follows(stored, slug(words) || words.trim().slice(0, 190));

const LETTER = /^[a-gi-rt-y]$/; // others are keys of the page
/* The key that an entry has if it is still a letter of its text, otherwise the first one that nothing else in the step has. */
function keyOf(words, now, others) {
  const made = slug(words), initials = made.split("_").map(([letter]) => letter);
  if (now && made.includes(now)) return now;
  return [...initials, ...made].find((letter) => LETTER.test(letter) && !others.has(letter));
}

function takenKeys(ui, here) {
  const found = new Set(), own = ui.at(here), visit = (node) => {
    if (node === own || !node || typeof node !== "object") return;
    if (typeof node.key === "string") found.add(node.key);
    Object.values(node).forEach(visit);
  };
  visit(ui.at(here.slice(0, 2)));
  return found;
}

function row({ field, ui, entries, nth }) {
  const { path, option } = field, here = [...path, nth], id = `b${idOf(entries[nth])}`, word = (name) => `${ui.word("entry_n", { list: option.label, n: nth + 1 })}: ${name}`;
  const parts = Object.fromEntries(option.parts.map((part) => [part.name, part]));
  let derived = null; // as it was before the first letter: a text that is replaced is empty or another one meanwhile
  const told = (words, before) => {
    const now = ui.at(here), others = ui.at(path).filter((_, other) => other !== nth), said = anyWords(words, ui.main, ui.main);
    derived ??= {
      value: (ui.borrowed || isDerived(now.value, before)) && !ui.isAnswered(path, now.value),
      key: LETTER.test(now.key ?? "") && (ui.borrowed || slug(before).includes(now.key)),
    };
    let next = put(ui.document, [...here, "text"], words);
    if (derived.value && said) next = put(next, [...here, "value"], value(said, others));
    if (derived.key && said) next = put(next, [...here, "key"], keyOf(said, now.key, takenKeys(ui, here)));
    ui.commit(next, { key: `${id}-text`, structural: false });
  };
  const text = wordsInput({ path: [...here, "text"], empty: "" }, ui, { told });
  Object.assign(text, { id: `${id}-text`, ariaLabel: word(parts.text.label) });
  text.placeholder ||= parts.text.label;
  text.addEventListener("paste", (event) => several(event, field, ui, nth, text));
  text.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.isComposing) return;
    event.preventDefault();
    if (entries.length < option.limits.max) append(field, ui, ui.at(path), nth + 1, [""]);
  });
  const fields = [text, small(here, "value", id, word, parts, ui), small(here, "key", id, word, parts, ui), small(here, "colour", id, word, parts, ui)];
  const place = element("li", { className: "b-choice" }, ui.grip(), ...fields, tools({ field, ui, entries, nth, id, text }));
  Object.assign(place.dataset, { pointer: pointer(here), entry: JSON.stringify(here) });
  return place;
}

/* Several lines that are pasted become several entries. */
function several(event, field, ui, nth, text) {
  const lines = event.clipboardData.getData("text").split(/\r?\n/).map((each) => each.trim()).filter(Boolean);
  if (lines.length < 2 || text.value) return;
  event.preventDefault();
  const entries = ui.at(field.path).filter((_, other) => other !== nth);
  append(field, ui, entries, nth, lines);
}

const SMALL = { // the fields beside the text
  value: { className: "b-value", dir: "auto", maxLength: 200 },
  key: { className: "b-key", maxLength: 1, dir: "ltr", autocapitalize: "none" },
  colour: { className: "b-colour", maxLength: 7, dir: "ltr" },
};
function small(here, name, id, word, parts, ui) {
  if (!parts[name]) return null;
  const input = line({ ...SMALL[name], id: `${id}-${name}`, ariaLabel: word(parts[name].label), title: parts[name].label, placeholder: parts[name].label });
  const write = (text) => (name === "value" ? text : name === "key" ? text.toLowerCase() || undefined : text.trim() || undefined);
  const place = element("span", { className: `b-small ${SMALL[name].className}` }, typed({ path: [...here, name] }, ui, input, (found) => found ?? "", write));
  place.dataset.pointer = pointer([...here, name]);
  if (name === "colour") place.append(swatch([...here, name], ui, word(parts[name].label)));
  return place;
}

function swatch(path, ui, label) {
  const input = element("input", { type: "color", ariaLabel: ui.word("pick_colour", { name: label }) });
  const read = () => { input.value = /^#[0-9a-f]{6}$/i.test(ui.at(path) ?? "") ? ui.at(path) : "#7a868e"; };
  read();
  ui.sync(read);
  input.addEventListener("input", () => ui.set(path, input.value));
  return input;
}

function tools({ field, ui, entries, nth, id, text }) {
  const { path, option } = field, name = () => text.value || ui.word("entry_n", { list: option.label, n: nth + 1 });
  const label = (word) => () => ui.word(word, { name: name() });
  const move = (to) => ui.move([...path, nth], [...path, to], name());
  const drop = () => {
    const beside = entries[nth + 1] ?? entries[nth - 1], said = name();
    ui.commit(remove(ui.document, [...path, nth]), { focus: beside ? `b${idOf(beside)}-text` : `${field.id}-add` });
    ui.say("deleted", { name: said });
  };
  return element("span", { className: "b-tools" },
    ui.tool("up", label("move_up"), () => move(nth - 1), { id: `${id}-up`, disabled: nth === 0 }),
    ui.tool("down", label("move_down"), () => move(nth + 2), { id: `${id}-down`, disabled: nth === entries.length - 1 }),
    ui.tool("bin", label("delete"), drop, { id: `${id}-delete` }));
}
