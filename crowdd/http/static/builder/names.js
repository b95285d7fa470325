/* Names of steps, media and questions: derived from texts, different from each other, and changed where they are used. */
import { put } from "./store.js";

const LETTERS = { ß: "ss", æ: "ae", ø: "o", œ: "oe", ł: "l", đ: "d", ı: "i" };
const MAX = 40;

/** A name made of a text, "" if no letter of it can stand in one. */
export function slug(text) {
  const plain = String(text).toLowerCase().replace(/[ßæøœłđı]/g, (letter) => LETTERS[letter]).normalize("NFKD").replace(/\p{M}/gu, "");
  return plain.replace(/[^a-z0-9]+/g, "_").replace(/^[0-9_]+|_+$/g, "").slice(0, MAX).replace(/_+$/, "");
}

/** `base`, or `base_2` and so on if it is taken. */
export function unique(base, taken) {
  for (let n = 1; ; n++) {
    const end = n > 1 ? `_${n}` : "", name = base.slice(0, MAX - end.length) + end;
    if (!taken.has(name)) return name;
  }
}

/** Whether a name was made of `base`. */
export function follows(name, base) {
  return name === base || name.replace(/_\d+$/, "") === base.slice(0, MAX - (name.match(/_\d+$/)?.[0].length ?? 0));
}

/** All names of a part of a document. */
export function namesIn(node, found = new Set()) {
  if (Array.isArray(node)) node.forEach((each) => namesIn(each, found));
  else if (node && typeof node === "object") {
    if (typeof node.name === "string") found.add(node.name);
    for (const list of ["steps", "media", "questions", "each"]) if (node[list]) namesIn(node[list], found);
  }
  return found;
}

/* The same with other names, where they are given and where they are used. */
function renamed(node, names) {
  if (Array.isArray(node)) return node.map((each) => renamed(each, names));
  if (!node || typeof node !== "object") return node;
  const other = (value) => names.get(value) ?? value;
  const made = Object.fromEntries(Object.entries(node).map(([key, value]) => [key, ["steps", "media", "questions", "each"].includes(key) ? renamed(value, names) : value]));
  if ("name" in made) made.name = other(made.name);
  if ("on" in made) made.on = other(made.on);
  if (made.show_if) made.show_if = Array.isArray(made.show_if) ? made.show_if.map((one) => turned(one, other)) : turned(made.show_if, other);
  return made;
}
const turned = (condition, other) => (condition && typeof condition === "object" ? { ...condition, question: other(condition.question) } : condition);

/** A copy of an entry whose names are new in the document. */
export function duplicate(entry, document, reserved = []) {
  const taken = new Set([...namesIn(document), ...reserved]), names = new Map();
  for (const name of namesIn(entry)) {
    const other = unique(name.replace(/_\d+$/, ""), taken);
    taken.add(other);
    names.set(name, other);
  }
  return renamed(structuredClone(entry), names);
}

/** The document with another name at a path, and at the places that use it. */
export function rename(document, path, before, after) {
  let next = put(document, [...path, "name"], after);
  const use = (node, here) => {
    if (!node || typeof node !== "object") return;
    if (node.on === before) next = put(next, [...here, "on"], after);
    const conditions = [node.show_if ?? []].flat();
    conditions.forEach((one, nth) => {
      if (one?.question === before) next = put(next, [...here, "show_if", ...(Array.isArray(node.show_if) ? [nth] : []), "question"], after);
    });
    for (const list of ["steps", "questions", "each"]) if (Array.isArray(node[list])) node[list].forEach((each, nth) => use(each, [...here, list, nth]));
  };
  if (before) use(document, []);
  return next;
}
