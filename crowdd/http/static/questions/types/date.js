/* A day. */
import { element } from "../element.js";

export function create(question, context) {
  const { min = "", max = "" } = question;
  const input = element("input", { type: "date", min, max: max || "9999-12-31", required: Boolean(question.required), "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy });
  input.addEventListener("input", context.changed);
  const words = (day) => new Intl.DateTimeFormat(context.language, { dateStyle: "long", timeZone: "UTC" }).format(new Date(`${day}T00:00Z`));
  return {
    element: element("div", { className: "date" }, input),
    value: () => input.value || undefined,
    set: (value) => { input.value = value ?? ""; },
    problem() {
      if (input.validity.badInput) return context.word("not_date");
      if (!input.value) return "";
      if (min && input.value < min) return context.word("too_early", { min: words(min) });
      return max && input.value > max ? context.word("too_late", { max: words(max) }) : "";
    },
    focus: () => input.focus(),
  };
}
