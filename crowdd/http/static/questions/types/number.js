/* A number, with its unit behind the field.  The field takes text: those of browsers change at a turn of the wheel, and read
   "1,5" by the language of the browser, not of the page.  What was understood is said where it was written otherwise. */
import { element } from "../element.js";
import { latinDigits } from "../texts.js";

const MARKS = "[.,'\u2019\u066b\u066c\u00a0\u202f\u2009 ]";
const FORM = new RegExp(`^([+-]?)(\\d+(?:${MARKS}\\d+)*|(?=[.,\u066b]\\d))(?:([.,\u066b])(\\d*))?$`, "u");

/** The mark between whole and part in a language, "." or ",". */
export function decimalMark(language) {
  const part = new Intl.NumberFormat(language).formatToParts(1.5).find(({ type }) => type === "decimal");
  return part?.value === "," || part?.value === "\u066b" ? "," : ".";
}

/**
 * What a text says as digits with at most one point ("-1234.5"); null if it is not a number.  "1,234" is ambiguous: there the
 * language decides.
 */
export function understood(text, language) {
  const plain = latinDigits(text.trim()).replace("\u2212", "-").replaceAll("\u066b", ".").replaceAll("\u066c", ",");
  if (!FORM.test(plain)) return null;
  const points = plain.split(".").length - 1, commas = plain.split(",").length - 1;
  let mark = "";
  if (points && commas) mark = plain.lastIndexOf(".") > plain.lastIndexOf(",") ? "." : ",";
  else if (points + commas === 1) mark = points ? "." : ",";
  else if (points + commas > 1) mark = ""; // one mark twice stands between thousands
  if (mark && points + commas === 1 && /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/.test(plain) && mark !== decimalMark(language)) mark = "";
  const [whole, part = "", more] = mark ? plain.split(mark) : [plain];
  if (more !== undefined) return null;
  const groups = whole.replace(/^[+-]/, "").split(/[^\d]/);
  if (groups.length > 1 && !groups.every((group, nth) => (nth ? group.length === 3 : group.length >= 1 && group.length <= 3))) return null;
  const digits = groups.join("").replace(/^0+(?=\d)/, "") || "0", rest = part.replace(/0+$/, "");
  const number = rest ? `${digits}.${rest}` : digits;
  return plain.startsWith("-") && number !== "0" ? `-${number}` : number;
}

/** The number that such digits are, or null where a computer's number would be another one. */
export function exact(digits) {
  const value = Number(digits);
  return Math.abs(value) < 1e21 && plainly(value) === digits ? value : null;
}

/** A number as a person of a language would type it, so that it is understood as the same one. */
export function typed(value, language) {
  return plainly(value).replace(".", decimalMark(language));
}

/* Without an exponent: 1e-7 is 0.0000001. */
function plainly(value) {
  const [digits, power] = String(value).split("e-");
  if (power === undefined) return digits;
  const [, sign, whole, part = ""] = digits.match(/^(-?)(\d)(?:\.(\d+))?$/);
  return `${sign}0.${"0".repeat(Number(power) - 1)}${whole}${part}`;
}

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
