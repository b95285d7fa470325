/* The browser's own database: answers that nobody has confirmed yet (outbox.js), and tasks that were taken along (ride.js).  Each row
   has the `memory` of caller.js, a project and an account, and no other one sees it. */
const STORES = { answers: "key", rides: "memory", tasks: "key" };
export const NAME = "answers";
let opened = null;

function database() {
  opened ??= new Promise((resolve, reject) => {
    const opening = indexedDB.open(NAME, 2);
    opening.onupgradeneeded = () => {
      const { result, transaction } = opening;
      for (const [name, keyPath] of Object.entries(STORES)) {
        const store = result.objectStoreNames.contains(name) ? transaction.objectStore(name) : result.createObjectStore(name, { keyPath });
        if (keyPath !== "memory" && !store.indexNames.contains("memory")) store.createIndex("memory", "memory");
      }
    };
    opening.onsuccess = () => {
      opening.result.onversionchange = () => { // it is removed (forget.js), or a newer page is there
        opening.result.close();
        opened = null;
      };
      resolve(opening.result);
    };
    opening.onerror = opening.onblocked = () => { // blocked: by a page of an earlier release
      opened = null;
      reject(opening.error);
    };
  });
  return opened;
}

/** Resolves with the result of the request that `act(store)` returns, once the transaction has ended. */
export async function carryOut(name, mode, act) {
  const store = (await database()).transaction(name, mode).objectStore(name), request = act(store);
  return new Promise((resolve, reject) => {
    store.transaction.oncomplete = () => resolve(request?.result);
    store.transaction.onabort = () => reject(store.transaction.error);
  });
}

/** All rows of a store, or those with this `memory`. */
export function rowsOf(name, memory) {
  return carryOut(name, "readonly", (store) => (memory === undefined ? store : store.index("memory")).getAll(memory));
}
