/* Where a presenter may send its volunteer. */
import { text } from "./limits.js";

const PAUSE = 1000; // milliseconds: browsers notice late that a tab has used up a click
let opened = -Infinity;
const HARMLESS = /^((newtask|tutorial|results|stats|task\/\d{1,15})\/?)?$/;

/** What the volunteer has done with this page; browsers that do not tell (before 2023) count as touched. */
export const touched = () => navigator.userActivation || { isActive: true, hasBeenActive: true };

/** `address` as a URL with single slashes, or null. */
export function parse(address) {
  try {
    const url = new URL(text(address, 2000), location.href);
    if (url.origin === location.origin) url.pathname = url.pathname.replace(/\/{2,}/g, "/");
    return url;
  } catch {
    return null;
  }
}

/** True for the pages that a GET cannot hurt; a navigation from here is same-origin, and the server would believe it. */
export function own(url, project) {
  if (url.origin !== location.origin) return false;
  const [before, rest, ...more] = url.pathname.split("/project/" + project.short_name + "/");
  return /^\/((app|project)\/?)?$/.test(url.pathname) || (before === "" && rest !== undefined && !more.length && HARMLESS.test(rest));
}

/** Goes to `address` or opens it in a tab, where the volunteer has touched something; false when nothing happened. */
export function visit(address, tab, project) {
  const url = parse(address);
  if (!url) return false;
  const ours = own(url, project);
  if (ours && !tab && touched().hasBeenActive) {
    location.assign(url.href);
    return true;
  }
  const foreign = url.origin !== location.origin && /^https?:$/.test(url.protocol);
  if (!(ours || foreign) || !touched().isActive || performance.now() - opened < PAUSE) return false;
  opened = performance.now();
  window.open(url.href, "_blank", "noopener,noreferrer");
  return true;
}
