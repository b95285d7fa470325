/* A number, with its unit behind the field.  The field takes text: those of browsers change at a turn of the wheel, and read
   "1,5" by the language of the browser, not of the page.  What was understood is said where it was written otherwise. */
import { element } from "../element.js";
import { exact, typed, understood } from "../texts.js";

export function create(question, context) {
  const { min, max, whole, unit } = question, unitId = unit ? context.newId() : "", readId = context.newId(), language = document.documentElement.lang || "en";
  const input = element("input", {
    type: "text", inputMode: min >= 0 ? "decimal" : "text", autocomplete: "off", spellcheck: false, required: Boolean(question.required),
    "aria-labelledby": `${context.labelledBy} ${unitId}`.trim(), "aria-describedby": `${context.describedBy} ${readId}`.trim(),
  });
  const reading = element("output", { id: readId, className: "soft small", dir: "ltr" });
  const place = element("div", { className: "number" }, input, unit ? context.write(element("span", { className: "soft", id: unitId }), unit) : null, reading);
  const digits = () => understood(input.value, language);
  const say = () => {
    const text = input.value.trim(), read = digits();
    reading.textContent = read !== null && read !== text ? `${text} = ${read}` : "";
  };
  input.addEventListener("input", () => {
    say();
    context.changed();
  });
  const number = () => {
    const read = digits();
    return read === null ? undefined : exact(read) ?? undefined;
  };
  return {
    element: place, value: number,
    set(value) {
      input.value = value === undefined ? "" : typed(value, language);
      say();
    },
    problem() {
      if (!input.value.trim()) return "";
      if (digits() === null) return context.word("not_number");
      const value = number();
      if (value === undefined) return context.word("too_exact");
      if (whole && !Number.isInteger(value)) return context.word("not_whole");
      if (value < min) return context.word("too_small", { min: typed(min, language) });
      return value > max ? context.word("too_large", { max: typed(max, language) }) : "";
    },
    focus: () => input.focus(),
  };
}
