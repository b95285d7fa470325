/* Any number of several answers. */
import { element, keyCap } from "../element.js";

export const unnamed = () => true;

export function create(question, context) {
  const place = element("div", { className: "choices" }), { min = 0, max = Infinity } = question;
  const choices = question.choices.map(({ value, text, key: wanted }) => {
    const key = context.keyed ? wanted : undefined;
    const words = context.write(element("span"), text);
    const input = element("input", { type: "checkbox", "aria-keyshortcuts": key, "aria-describedby": context.errorId });
    input.addEventListener("change", context.changed);
    place.append(element("label", { className: "choice" }, input, words, key ? keyCap(key) : null));
    return { value, key, input, words };
  });
  const chosen = () => choices.filter(({ input }) => input.checked).map(({ value }) => value);
  return {
    element: place,
    value: () => (chosen().length ? chosen() : undefined),
    set: (value) => choices.forEach((choice) => { choice.input.checked = Array.isArray(value) && value.includes(choice.value); }),
    problem() {
      const n = chosen().length;
      if (!n) return "";
      return n < min ? context.word("at_least", { n: min }) : n > max ? context.word("at_most", { n: max }) : "";
    },
    focus: () => choices[0].input.focus(),
    keys: () => Object.fromEntries(choices.filter(({ key }) => key).map(({ key, words }) => [key, words.textContent])),
    key(key) {
      const choice = choices.find((each) => each.key === key.toLowerCase());
      choice?.input.click();
      return Boolean(choice);
    },
  };
}
