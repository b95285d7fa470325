/* Answers that nobody has confirmed yet, in the browser's own database: they are there when it is opened again.  Each belongs to a
   project and to the account that gave it (`memory` of caller.js), and no other one sees it. */
import { memory } from "./caller.js";
import { carryOut, rowsOf } from "./store.js";

const ANSWERS = "answers";

/** Keeps an answer {key, method, url, body, files, saves, changes, replaced, at}, given at the moment `at`: whether that worked. */
export function keep({ key, method, url, body, files, saves, changes, replaced, at }) {
  const row = { key, method, url, body, files, saves, changes, replaced, memory, at };
  return carryOut(ANSWERS, "readwrite", (store) => store.put(row)).then(() => true, () => false);
}

/** Forgets an answer. */
export function drop(key) {
  return carryOut(ANSWERS, "readwrite", (store) => store.delete(key)).catch(() => null);
}

/** What waits for this project and account, oldest first. */
export async function waiting() {
  const rows = await rowsOf(ANSWERS, memory).catch(() => []);
  return rows.sort((one, other) => one.at - other.at);
}
