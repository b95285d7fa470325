/* A text of the task, or of an address. */
import { element } from "../element.js";
import { isAddress } from "../stage.js";

const MAX = 1e6; // characters of a text from an address

export function create(medium, context) {
  const root = element("blockquote", { className: "words", dir: "auto" }), place = element("div", { className: "text" }, root);
  const surface = { root, text: "" };
  return {
    element: place, surface,
    async show(task) {
      const source = context.source(task);
      root.setAttribute("aria-label", context.description(task));
      surface.text = "url" in medium.source ? await fetched(source) : source;
      root.textContent = surface.text;
      if (!surface.text) throw new Error("No text.");
    },
  };
}

async function fetched(address) {
  if (!isAddress(address)) throw new Error("No address.");
  const answer = await fetch(address);
  if (!answer.ok) throw new Error("The text did not load.");
  return (await answer.text()).slice(0, MAX);
}
