/* A day, or in parts: then a month or a year may be all that is known, "1834-05" or "1834" (ISO 8601, reduced precision). */
import { element } from "../element.js";
import { latinDigits } from "../texts.js";

const PARTS = ["year", "month", "day"], MONTHS = Array.from({ length: 12 }, (_, nth) => String(nth + 1).padStart(2, "0"));
const LAST_DAY = "9999-12-31";

/** The fields of a date in parts do not say their question. */
export const unnamed = ({ partial }) => Boolean(partial);

export function create(question, context) {
  const { min = "", max = "" } = question;
  /* A month or a year is refused only where no day of it is in time. */
  const outside = (date) => {
    if (min && date < min.slice(0, date.length)) return context.word("too_early", { min: words(min, context) });
    return max && date > max.slice(0, date.length) ? context.word("too_late", { max: words(max, context) }) : "";
  };
  return question.partial ? inParts(question, context, outside) : whole(question, context, outside);
}

function format({ language }, parts) {
  const options = { year: "numeric", month: "long", day: "numeric" };
  return new Intl.DateTimeFormat(language, { calendar: "gregory", timeZone: "UTC", ...Object.fromEntries(PARTS.slice(0, parts).map((part) => [part, options[part]])) });
}

function words(date, context) {
  return format(context, date.split("-").length).format(new Date(date));
}

function whole({ min, max, required }, context, outside) {
  const input = element("input", { type: "date", min, max: max || LAST_DAY, required: Boolean(required), "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy });
  input.addEventListener("input", context.changed);
  return {
    element: element("div", { className: "date" }, input),
    value: () => input.value || undefined,
    set: (value) => { input.value = value ?? ""; },
    problem: () => (input.validity.badInput ? context.word("not_date") : input.value && outside(input.value)),
    focus: () => input.focus(),
  };
}

function inParts({ required }, context, outside) {
  const text = (part) => element("input", { type: "text", inputMode: "numeric", autocomplete: "off", spellcheck: false, maxLength: part === "year" ? 4 : 2, className: part });
  const month = element("select", {}, element("option", { value: "" }, "–"), ...MONTHS.map((number) => element("option", { value: number }, monthName(number, context))));
  const fields = { year: Object.assign(text("year"), { required: Boolean(required) }), month, day: text("day") }, all = Object.values(fields);
  const order = format(context, 3).formatToParts().map(({ type }) => type).filter((type) => type in fields);
  const reading = element("output", { className: "soft small" });
  const place = element("div", { className: "date parts" }, ...order.map(named), reading);

  function named(part) {
    fields[part].id = context.newId();
    return element("div", {}, element("label", { className: "small", htmlFor: fields[part].id }, context.word(part)), fields[part]);
  }
  const typed = (part) => latinDigits(fields[part].value.trim());
  const isNumber = (part, most) => /^\d+$/.test(typed(part)) && Number(typed(part)) >= 1 && Number(typed(part)) <= most;
  const isEmpty = () => PARTS.every((part) => !typed(part));
  const date = () => {
    if (!isNumber("year", 9999) || (typed("day") && !(month.value && isNumber("day", 31)))) return undefined;
    const parts = [typed("year").padStart(4, "0"), month.value, typed("day") && typed("day").padStart(2, "0")].filter(Boolean).join("-");
    return isThere(parts) ? parts : undefined;
  };
  const say = () => { reading.textContent = date() ? words(date(), context) : ""; };
  place.addEventListener("input", () => {
    say();
    context.changed();
  });
  return {
    element: place, value: date,
    set(value) {
      const [year = "", monthNumber = "", day = ""] = String(value ?? "").split("-");
      Object.assign(fields.year, { value: year });
      Object.assign(month, { value: monthNumber });
      Object.assign(fields.day, { value: day.replace(/^0/, "") });
      say();
    },
    problem() {
      if (isEmpty()) return "";
      if (!typed("year")) return context.word("no_year");
      if (typed("day") && !month.value) return context.word("no_month");
      return date() ? outside(date()) : context.word("not_date");
    },
    focus: () => (all.find((field) => field.ariaInvalid && !field.value) ?? fields[order[0]]).focus(),
  };
}

function monthName(number, { language }) {
  return new Intl.DateTimeFormat(language, { calendar: "gregory", timeZone: "UTC", month: "long" }).format(new Date(`2000-${number}`));
}

/* 30 February is the day after another one to a computer. */
function isThere(date) {
  const moment = new Date(date);
  return !Number.isNaN(moment.getTime()) && moment.toISOString().startsWith(date);
}
