// A guide while it is edited: the document with every text as an object of texts by language, and the states before.
// `base` is the language of texts that name none.
const isText = (name, value) => TEXTS.has(name) && (typeof value === "string" || (value && typeof value === "object" && !Array.isArray(value)));
const TEXTS = new Set(["title", "text", "description", "credit", "keywords", "right", "wrong"]);
const STEPS_BACK = 50;

/** The document with `change(text)` in the place of each text; the columns of sample tasks and known answers are no texts. */
export function texts(value, change) {
  if (Array.isArray(value)) return value.map((each) => texts(each, change));
  if (!value || typeof value !== "object") return value;
  const parts = Object.entries(value).map(([name, part]) => {
    if (name === "info" || name === "answers") return [name, part];
    return [name, isText(name, part) ? change(part) : texts(part, change)];
  });
  return Object.fromEntries(parts.filter(([, part]) => part !== undefined));
}

export class Model {
  constructor(base) {
    this.base = this.language = base;
    this.before = [];
    this.document = {};
  }

  /** Takes a document as it is stored. */
  read(document) {
    this.document = texts(document, (text) => (typeof text === "string" ? { [this.base]: text } : { ...text }));
  }

  /** The document as it is stored: empty texts are left out, and a text in one language only is a string. */
  written() {
    return texts(this.document, (text) => {
      const said = Object.entries(text).filter(([, words]) => words.trim());
      if (!said.length) return undefined;
      return said.length === 1 && said[0][0] === this.base ? said[0][1] : Object.fromEntries(said);
    });
  }

  /** Remembers the state before a change that cannot be typed back. */
  mark() {
    this.before.push(JSON.stringify(this.document));
    if (this.before.length > STEPS_BACK) this.before.shift();
  }

  undo() {
    if (this.before.length) this.document = JSON.parse(this.before.pop());
  }

  /** The languages that some text has, the base first. */
  languages() {
    const found = new Set([this.base, this.language]);
    this.each((text) => Object.entries(text).forEach(([tag, words]) => words.trim() && found.add(tag)));
    return [...found];
  }

  /** How many texts lack the language: {missing, total}. */
  missing(language) {
    let missing = 0, total = 0;
    this.each((text) => {
      if (!Object.values(text).some((words) => words.trim())) return;
      total++;
      if (!text[language]?.trim()) missing++;
    });
    return { missing, total };
  }

  each(act) {
    texts(this.document, (text) => { act(text); return text; });
  }

  /** A name that no part of a list has. */
  freeName(list, stem) {
    const taken = new Set((list ?? []).map(({ name }) => name));
    let nth = 1;
    while (taken.has(`${stem}_${nth}`)) nth++;
    return `${stem}_${nth}`;
  }

  /** A text in the language that is edited, or in another one. */
  said(text) {
    return text?.[this.language]?.trim() || text?.[this.base]?.trim() || Object.values(text ?? {}).find((words) => words.trim()) || "";
  }
}
