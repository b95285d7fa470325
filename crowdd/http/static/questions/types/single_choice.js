/* One of several answers: single_choice and yes_no.  As the only question of a task its answers are buttons that send. */
import { element, keyCap } from "../element.js";

export const ownUnsure = () => true;
export const unnamed = (_, { immediate }) => immediate; // buttons

export function create(question, context) {
  const choices = question.type === "yes_no" ? yesNo(context) : question.choices.map((choice) => ({ ...choice, write: (place) => context.write(place, choice.text) }));
  if (question.unsure) choices.push({ value: null, write: context.writeUnsure, un: true });
  keyed(choices, context);
  return context.immediate ? buttons(choices, context) : radios(question, choices, context);
}

function yesNo({ word }) {
  return [["yes", true], ["no", false]].map(([name, value]) => ({ value, write: (place) => Object.assign(place, { textContent: word(name) }) }));
}

/* As the only question, answers without a key have digits that are free: that of their place, or the next one. */
function keyed(choices, { immediate, keyed: has, digits }) {
  const free = [...digits];
  for (const [nth, choice] of choices.entries()) {
    if (!has) choice.key = undefined;
    else if (immediate) choice.key ??= free.splice(Math.max(free.indexOf(String(nth + 1)), 0), 1)[0];
    choice.words = element("span");
    choice.write(choice.words);
  }
}

function keys(choices) {
  return Object.fromEntries(choices.filter(({ key }) => key).map(({ key, words }) => [key, words.textContent]));
}
const byKey = (choices, key) => choices.find((choice) => choice.key?.toLowerCase() === key.toLowerCase());
const cap = ({ key }) => (key ? keyCap(key) : null);

function buttons(choices, context) {
  const two = choices.filter(({ un }) => !un), place = element("div", { className: two.length === 2 ? "choices two" : "choices" });
  let chosen; // undefined, or a choice
  const mark = () => choices.forEach((choice) => choice.input.setAttribute("aria-pressed", String(choice === chosen)));
  for (const choice of choices) {
    choice.input = element("button", { type: "button", className: choice.un ? "answer un" : "answer", "aria-keyshortcuts": choice.key }, choice.words, cap(choice));
    choice.input.addEventListener("click", () => {
      chosen = choice;
      mark();
      context.changed();
      context.finish();
    });
    place.append(choice.input);
  }
  mark();
  return {
    element: place, value: () => chosen?.value, keys: () => keys(choices),
    set(value) {
      chosen = choices.find((choice) => choice.value === value);
      mark();
    },
    focus: () => choices[0].input.focus(),
    sides() {
      const [one, other] = two.map(({ input }) => input), right = Math.sign(other?.getBoundingClientRect().left - one.getBoundingClientRect().left);
      return two.length === 2 && right ? (right > 0 ? [one, other] : [other, one]) : null;
    },
    key(key) {
      const choice = byKey(choices, key);
      choice?.input.click();
      return Boolean(choice);
    },
  };
}

function radios(question, choices, context) {
  const place = element("div", { className: "choices", role: "radiogroup", "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy, "aria-required": question.required ? "true" : undefined });
  for (const choice of choices) {
    choice.input = element("input", { type: "radio", name: context.id, "aria-keyshortcuts": choice.key });
    choice.input.addEventListener("change", context.changed);
    place.append(element("label", { className: choice.un ? "choice un" : "choice" }, choice.input, choice.words, cap(choice)));
  }
  return {
    element: place, value: () => choices.find(({ input }) => input.checked)?.value, keys: () => keys(choices),
    set: (value) => choices.forEach((choice) => { choice.input.checked = value !== undefined && choice.value === value; }),
    focus: () => (choices.find(({ input }) => input.checked) ?? choices[0]).input.focus(),
    key(key) {
      const choice = byKey(choices, key);
      if (!choice) return false;
      choice.input.checked = true;
      context.changed();
      return true;
    },
  };
}
