/* Answers that nobody has confirmed yet, in the browser's own database: they are there when it is opened again.  Each belongs to a
   project and to the account that gave it (`memory` of caller.js), and no other one sees it. */
import { memory } from "./caller.js";

const ANSWERS = "answers";
let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open("answers", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore(ANSWERS, { keyPath: "key" }).createIndex("memory", "memory");
    opening.onsuccess = () => resolve(opening.result);
    opening.onerror = () => reject(opening.error);
  });
  return opened;
}

async function carryOut(mode, act) {
  const store = (await database()).transaction(ANSWERS, mode).objectStore(ANSWERS), request = act(store);
  return new Promise((resolve, reject) => {
    store.transaction.oncomplete = () => resolve(request.result);
    store.transaction.onabort = () => reject(store.transaction.error);
  });
}

/** Keeps an answer {key, method, url, body, files, saves, changes, replaced}: whether that worked. */
export function keep({ key, method, url, body, files, saves, changes, replaced }) {
  const row = { key, method, url, body, files, saves, changes, replaced, memory, at: Date.now() };
  return carryOut("readwrite", (store) => store.put(row)).then(() => true, () => false);
}

/** Forgets an answer. */
export function drop(key) {
  return carryOut("readwrite", (store) => store.delete(key)).catch(() => null);
}

/** What waits for this project and account, oldest first. */
export async function waiting() {
  const rows = await carryOut("readonly", (store) => store.index("memory").getAll(memory)).catch(() => []);
  return rows.sort((one, other) => one.at - other.at);
}
