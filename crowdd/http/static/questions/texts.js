/* Texts of owners in the languages that they have, and our own words in the language of the page. */
const RTL = /^(ar|arc|ckb|dv|fa|he|ks|ps|sd|ug|ur|yi)\b|-(Arab|Hebr|Syrc|Thaa)\b/;
const DIGITS = /[\u0660-\u0669\u06f0-\u06f9]/g; // Arabic and Persian ones

/** A text with the digits of other scripts as 0 to 9. */
export function latinDigits(text) {
  return text.replace(DIGITS, (digit) => String(digit.charCodeAt(0) & 15));
}

/** "rtl" or "ltr" for a language tag, "auto" for none. */
export function directionOf(tag) {
  return tag ? (RTL.test(tag) ? "rtl" : "ltr") : "auto";
}

export class Texts {
  /** `locale` is the language of the page, `language` that of the project ("" if unknown), `words` our words by name. */
  constructor({ locale, language, words }) {
    Object.assign(this, { locale, language, words, direction: directionOf(locale) });
  }

  /** {words, tag}: a text in the language of the page, or in the first of those that come next. */
  pick(text) {
    if (text === null || typeof text !== "object") return { words: String(text ?? ""), tag: this.language };
    const base = (tag) => tag.split("-")[0], tags = Object.keys(text);
    const wanted = [this.locale, base(this.locale), this.language, base(this.language), "en"];
    const tag = wanted.find((each) => each && tags.includes(each)) ?? tags.find((each) => base(each) === base(this.locale)) ?? tags[0] ?? "";
    return { words: String(text[tag] ?? ""), tag };
  }

  /** Puts a text into an element, with its language where it is not that of the page. */
  write(place, text) {
    const { words, tag } = this.pick(text);
    place.textContent = words;
    if (tag !== this.locale) {
      if (tag) place.lang = tag;
      place.dir = directionOf(tag);
    }
    return place;
  }

  /** The same with some of our words replaced. */
  saying(words) {
    return new Texts({ ...this, words: { ...this.words, ...words } });
  }

  /** Our word `name` with `values` in the places of {their names}. */
  word(name, values = {}) {
    return (this.words[name] ?? name).replace(/\{(\w+)\}/g, (all, key) => (key in values ? values[key] : all));
  }
}

// Numbers as people of a language type them
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
