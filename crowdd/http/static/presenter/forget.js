/* Removes what was taken along from this browser, and answers that wait. */
import { carryOut, NAME } from "./store.js";

const PATIENCE = 5000; // milliseconds: another page may keep the database open

/** How many answers wait in this browser. */
export const waiting = () => carryOut("answers", "readonly", (store) => store.count()).catch(() => 0);

function remove() {
  return new Promise((end) => {
    const removing = indexedDB.deleteDatabase(NAME);
    removing.onsuccess = removing.onerror = end;
  });
}
const clear = () => Promise.all(["rides", "tasks"].map((name) => carryOut(name, "readwrite", (store) => store.clear())));

/** Removes the pages with their workers and the tasks; with `answers` the whole database, and the badge. */
export async function forget({ answers = true } = {}) {
  const pages = async () => {
    for (const name of (await globalThis.caches?.keys()) ?? []) if (name.startsWith("along ")) await caches.delete(name);
  };
  const workers = async () => {
    for (const one of (await navigator.serviceWorker?.getRegistrations()) ?? []) await one.unregister();
  };
  const badge = async () => (answers ? navigator.clearAppBadge?.() : null);
  const all = Promise.allSettled([pages(), workers(), answers ? remove() : clear(), badge()]);
  await Promise.race([all, new Promise((end) => setTimeout(end, PATIENCE))]);
}
