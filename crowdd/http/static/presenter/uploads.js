/* Files that a presenter's volunteer has chosen: kept until the answer that names them is sent, and sent before it in parts, so that
   a line that is cut costs one part.  An answer names each as "sent:<key>"; the server says by which address it is known from then on. */
import { headers, volunteer } from "./caller.js";

const MAX = { files: 40, bytes: 400e6 }; // of what a presenter may have kept
const PART = volunteer ? 1e6 : 25e4; // bytes; the server takes less without an account
const NAME = /sent:([0-9a-f]{32})/g, KEY = /^[0-9a-f]{32}$/, PATIENCE = 120000; // milliseconds

const kept = new Map(), addresses = new Map(); // by key

/** Keeps a file that has its key as its name. */
export function keep(file) {
  if (!(file instanceof File) || !KEY.test(file.name)) return;
  const bytes = [...kept.values()].reduce((sum, { size }) => sum + size, file.size);
  if (kept.size < MAX.files && bytes <= MAX.bytes) kept.set(file.name, file.slice());
}

/** The files that an answer names, by their keys. */
export function namedIn(body) {
  const keys = [...body.matchAll(NAME)].map(([, key]) => key).filter((key) => kept.has(key));
  return Object.fromEntries(keys.map((key) => [key, kept.get(key)]));
}

/** Forgets a file that has been sent, but for its address: the volunteer may change the answer. */
export function settle(key, address) {
  kept.delete(key);
  addresses.set(key, address);
}

/** A text with the addresses of files that have been sent. */
export function addressed(text) {
  return text.replace(NAME, (name, key) => addresses.get(key) ?? name);
}

/**
 * Sends a part of a file for a task, from `offset` on: {status, value, retryAfter}, of which the value has the new offset and, at the
 * end, the file.  `moved(bytes)` hears how much of the file is on its way.  Throws without a line.
 */
export function sendPart(task, key, file, offset, moved) {
  const end = Math.min(file.size, offset + PART), request = new XMLHttpRequest();
  request.open("PUT", `/api/task/${Number(task)}/file/${key}?offset=${offset}&bytes=${file.size}`);
  request.timeout = PATIENCE;
  for (const [name, value] of Object.entries({ ...headers(), "Content-Type": "application/octet-stream" })) request.setRequestHeader(name, value);
  request.upload.addEventListener("progress", ({ loaded }) => moved(offset + loaded));
  return new Promise((resolve, reject) => {
    request.addEventListener("load", () => {
      const value = (() => { try { return JSON.parse(request.responseText); } catch { return null; } })();
      resolve({ status: request.status, value, retryAfter: Number(request.getResponseHeader("Retry-After")) || 0 });
    });
    for (const name of ["error", "timeout", "abort"]) request.addEventListener(name, () => reject(new TypeError("There is no line.")));
    request.send(file.slice(offset, end));
  });
}
