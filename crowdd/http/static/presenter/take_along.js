/* The button by which a volunteer takes tasks along to where there is no line. */
import { inWords, sizeOf } from "../questions/sizes.js";
import * as ride from "./ride.js";

/** `load(addresses)` makes the frame load media; what this returns is to be called when it has. */
export function offerToTakeAlong({ client, tasks, announce, load }) {
  const button = document.getElementById("take-along"), said = document.getElementById("along-said");
  if (!button) return () => {};
  const locale = document.documentElement.lang || "en", lease = 1000 * tasks.lease;
  const digits = (number) => new Intl.NumberFormat(locale).format(number);
  let values = null, last = "taken"; // of what is being loaded, and what is said in the end

  const say = (word) => {
    said.textContent = said.dataset[word].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  };
  /* In the browser, so that this page opens again; what that is not possible for stays with this page. */
  async function pack(list, until) {
    if (!ride.isPossible()) return false;
    const { ids, bytes } = await ride.pack(list, until).catch((error) => {
      if (error instanceof ride.Full) last = "full";
      else console.warn(error);
      return { ids: [] };
    });
    if (!ids.length) return false;
    values = { ...values, count: digits(ids.length), size: inWords(bytes, locale) };
    say("packed");
    announce("presenter:along", { tasks: ids });
    return true;
  }
  button.addEventListener("click", async () => {
    button.disabled = true;
    last = "taken";
    const until = Date.now() + lease, time = new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(until);
    const list = await client.fetchAhead(tasks.many, { whole: true }).catch(() => []), addresses = tasks.addresses(list);
    const own = addresses.filter((address) => new URL(address, location.origin).origin === location.origin);
    const bytes = (await Promise.all(own.map(sizeOf))).reduce((sum, size) => sum + (size || 0), JSON.stringify(list).length);
    values = { count: digits(list.length), size: inWords(bytes, locale), time };
    say(list.length ? "loading" : "none");
    if (list.length && !(await pack(list, until))) load(addresses);
    else button.disabled = false;
  });
  return () => {
    if (!values) return;
    say(last);
    button.disabled = false;
  };
}
