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
