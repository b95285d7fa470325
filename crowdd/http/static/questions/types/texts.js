/* A text of one line or of several: short_text and long_text. */
import { element } from "../element.js";

const MAX = { short_text: 500, long_text: 10000 };

export function create(question, context) {
  const max = question.max_length ?? MAX[question.type], long = question.type === "long_text";
  const about = { maxLength: max, dir: "auto", required: Boolean(question.required), "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy };
  const input = long ? element("textarea", { ...about, rows: 5 }) : element("input", { ...about, type: "text", autocomplete: "off" });
  input.addEventListener("input", context.changed);
  return {
    element: element("div", {}, input),
    value: () => input.value.trim() || undefined,
    set: (value) => { input.value = value ?? ""; },
    problem: () => ([...input.value.trim()].length > max ? context.word("too_long", { max }) : ""),
    focus: () => input.focus(),
  };
}
