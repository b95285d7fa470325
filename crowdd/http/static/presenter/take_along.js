/* The button by which a volunteer takes tasks along to where there is no line. */
import { inWords, sizeOf } from "../questions/sizes.js";

/** `load(addresses)` makes the frame load media; what this returns is to be called when it has. */
export function offerToTakeAlong({ client, tasks, load }) {
  const button = document.getElementById("take-along"), said = document.getElementById("along-said");
  if (!button) return () => {};
  const locale = document.documentElement.lang || "en", lease = 1000 * tasks.lease;
  let values = null; // of what is being loaded

  const say = (word) => {
    said.textContent = said.dataset[word].replace(/\{(\w+)\}/g, (_, name) => values[name]);
  };
  button.addEventListener("click", async () => {
    button.disabled = true;
    const time = new Intl.DateTimeFormat(locale, { timeStyle: "short" }).format(Date.now() + lease);
    const list = await client.fetchAhead(tasks.many, { whole: true }).catch(() => []), addresses = tasks.addresses(list);
    const own = addresses.filter((address) => new URL(address, location.origin).origin === location.origin);
    const bytes = (await Promise.all(own.map(sizeOf))).reduce((sum, size) => sum + (size || 0), JSON.stringify(list).length);
    values = { count: new Intl.NumberFormat(locale).format(list.length), size: inWords(bytes, locale), time };
    say(list.length ? "loading" : "none");
    button.disabled = list.length > 0;
    if (list.length) load(addresses);
  });
  return () => {
    if (!values) return;
    say("taken");
    button.disabled = false;
  };
}
