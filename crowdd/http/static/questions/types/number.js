/* A number, with its unit behind the field. */
import { element } from "../element.js";

export function create(question, context) {
  const { min, max, whole, unit } = question, unitId = unit ? context.newId() : "";
  const input = element("input", {
    type: "number", inputMode: whole ? "numeric" : "decimal", step: whole ? "1" : "any", min: min === undefined ? "" : String(min), max: max === undefined ? "" : String(max),
    required: Boolean(question.required), "aria-labelledby": `${context.labelledBy} ${unitId}`.trim(), "aria-describedby": context.describedBy, autocomplete: "off",
  });
  input.addEventListener("input", context.changed);
  const place = element("div", { className: "number" }, input, unit ? context.write(element("span", { className: "soft", id: unitId }), unit) : null);
  const number = () => (input.value === "" ? undefined : Number(input.value));
  return {
    element: place, value: number,
    set: (value) => { input.value = value === undefined ? "" : String(value); },
    problem() {
      const value = number();
      if (input.validity.badInput) return context.word("not_number");
      if (value === undefined) return "";
      if (whole && !Number.isInteger(value)) return context.word("not_whole");
      if (value < min) return context.word("too_small", { min });
      return value > max ? context.word("too_large", { max }) : "";
    },
    focus: () => input.focus(),
  };
}
