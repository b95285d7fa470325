/* A text of the task, or of an address; of a very long one the beginning, and a sentence that says so. */
import { element } from "../element.js";
import { broughtOr, isAddress } from "../sources.js";

const MAX = 1e5; // characters of a text: browsers take minutes to lay out ten times as many

export function create(medium, context) {
  const root = element("blockquote", { className: "words", dir: "auto" }), rest = element("p", { className: "rest", hidden: true });
  const place = element("div", { className: "text" }, root, rest), surface = { root, text: "" };
  const scrolls = new ResizeObserver(() => { // a long text scrolls by itself, also by keyboard
    if (place.scrollHeight > place.clientHeight + 1) place.tabIndex = 0;
    else place.removeAttribute("tabindex");
  });
  for (const part of [place, root]) scrolls.observe(part);
  let shown = null;
  return {
    element: place, surface,
    async show(task) {
      const source = context.source(task);
      root.setAttribute("aria-label", context.description(task));
      root.textContent = surface.text = "";
      rest.hidden = true;
      shown = task;
      const far = "url" in medium.source, text = far ? await fetched(source) : source;
      if (shown !== task) throw new Error("Another task is shown by now.");
      root.textContent = surface.text = text.slice(0, MAX).replace(/[\uD800-\uDBFF]$/, ""); // no half of a character
      if (text.length > MAX) tell(rest, surface.text.length, far ? { address: source } : { total: text.length }, context);
      place.scrollTop = 0;
      if (!surface.text) throw new Error("No text.");
    },
  };
}

/* How much of the text is shown; how long a text of an address is, nobody knows. */
function tell(place, count, { total, address }, context) {
  const digits = new Intl.NumberFormat(document.documentElement.lang || "en"), shown = digits.format(count);
  place.textContent = total ? context.word("text_part", { shown, total: digits.format(total) }) : context.word("text_beginning", { shown });
  if (address) place.append(" ", element("a", { href: address, target: "_blank" }, context.word("text_whole")));
  place.hidden = false;
}

async function fetched(address) {
  if (!isAddress(address)) throw new Error("No address.");
  const answer = await fetch(broughtOr(address));
  if (!answer.ok) throw new Error("The text did not load.");
  return start(answer.body);
}

/* The beginning of what an address sends, which may be anything. */
async function start(body) {
  const decoder = new TextDecoder(), reader = body.getReader();
  let text = "";
  for (let part = await reader.read(); !part.done && text.length <= MAX; part = await reader.read()) text += decoder.decode(part.value, { stream: true });
  reader.cancel().catch(() => {});
  return text;
}
