/* The document that is edited.  It is never changed in place: each change makes a new one that shares what has not changed, so
   that undo is a list of documents.  An entry keeps its id through changes and moves, by which the page finds its element. */
const MAX_UNDO = 200, PAUSE = 1500; // steps; milliseconds after which typing in one field is another step
const ids = new WeakMap();
let last = 0;

/** A number for an object of the document, the same for its later versions. */
export function idOf(node) {
  if (!ids.has(node)) ids.set(node, ++last);
  return ids.get(node);
}

function copy(node) {
  const made = Array.isArray(node) ? [...node] : { ...node };
  if (ids.has(node)) ids.set(made, ids.get(node));
  return made;
}

/** Gives an object the id of another that it stands for. */
export function alike(before, made) {
  if (ids.has(before)) ids.set(made, ids.get(before));
  return made;
}

/** What is at a path (a list of names and indices), undefined where there is nothing. */
export function at(document, path) {
  return path.reduce((node, key) => node?.[key], document);
}

/** A document with another value at a path; undefined takes the property away. */
export function put(node, [key, ...rest], value) {
  const made = copy(node ?? (typeof key === "number" ? [] : {}));
  const next = rest.length ? put(made[key], rest, value) : value;
  if (next === undefined) delete made[key];
  else made[key] = next;
  return made;
}

/** A document with an entry more in a list. */
export function insert(document, list, index, value) {
  return put(document, list, (at(document, list) ?? []).toSpliced(index, 0, value));
}

/** A document with an entry less in a list; a list that becomes empty stays. */
export function remove(document, path) {
  const list = path.slice(0, -1);
  return put(document, list, at(document, list).toSpliced(path.at(-1), 1));
}

/* Gives the entries of a parsed document the ids of those that are at the same place in another. */
function adopt(node, before) {
  if (!node || !before || typeof node !== "object" || typeof before !== "object" || Array.isArray(node) !== Array.isArray(before)) return;
  if (ids.has(before)) ids.set(node, ids.get(before));
  for (const key of Object.keys(node)) adopt(node[key], before[key]);
}

export class Store {
  /** `changed({structural, focus})` is called after each change; structural: entries have come, gone or moved. */
  constructor(document, changed) {
    Object.assign(this, { document, changed, first: document, past: [], future: [], key: "", when: 0 });
  }

  at(path) {
    return at(this.document, path);
  }

  /** Takes over a new document.  Changes with one `key` that follow each other quickly are undone together. */
  commit(next, { key = "", structural = true, focus = "" } = {}) {
    const now = performance.now(), together = key && key === this.key && now - this.when < PAUSE;
    if (!together) this.past = [...this.past, this.document].slice(-MAX_UNDO);
    Object.assign(this, { document: next, future: [], key, when: now });
    this.changed({ structural, focus });
  }

  /** Another value at a path, as somebody types it. */
  set(path, value, { structural = false, focus } = {}) {
    this.commit(put(this.document, path, value), { key: structural ? "" : path.join("/"), structural, focus });
  }

  /** Takes over what was written as JSON. */
  adopt(document) {
    adopt(document, this.document);
    this.commit(document, { key: "json" });
  }

  undo() {
    return this.turn(this.past, this.future);
  }

  redo() {
    return this.turn(this.future, this.past);
  }

  turn(from, to) {
    if (!from.length) return false;
    to.push(this.document);
    Object.assign(this, { document: from.pop(), key: "" });
    this.changed({ structural: true });
    return true;
  }
}
