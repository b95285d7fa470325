/* Where the media of a task are. */

const PICTURE = /^(https?:\/\/|\/)\S/;

/* A place from two columns, "" unless both say something. */
function placeOf({ column, longitude }, info) {
  const parts = [info[column], info[longitude]].map((part) => String(part ?? "").trim());
  return parts.every(Boolean) ? parts.join("; ") : "";
}

/** The address or text of a source for a task, "" if the task has none; a list for a list of sources. */
export function sourceOf(source, task) {
  if (Array.isArray(source)) return source.map((each) => sourceOf(each, task));
  if (!source || typeof source !== "object") return "";
  if ("longitude" in source) return placeOf(source, Object(task.info));
  const value = "column" in source ? Object(task.info)[source.column] : source.url;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Whether a value may be an address: of http, or a path of this server. */
export function isAddress(value) {
  return PICTURE.test(value);
}

/** From where an address is loaded: what the page has brought of it (presenter/ride.js), or the address itself. */
export function broughtOr(address) {
  return window.presenterBridge?.brought?.(address) ?? address;
}
