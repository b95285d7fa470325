/* The declared types of questions and media (crowdd/kinds/questions), and new entries made of them. */
import { namesIn, slug, unique } from "./names.js";
import { at, put } from "./store.js";

const ADDRESS = [/url/i, /link|file/i], PICTURE = [/pic|im(age|g)|photo|foto|bild/i, ...ADDRESS];
/* What the columns of the tasks may be called that a medium shows, the best guess first. */
const LIKE = { picture: PICTURE, pictures: PICTURE, zoom_picture: [/iiif/i, ...PICTURE], sound: [/sound|audio/i, ...ADDRESS], video: [/video|film|movie/i, ...ADDRESS], text: [/text|word/i, /title|note/i] };
const FIRST_VALUES = { choice: "choice", row: "row", column: "column", label: "label", entry: "entry" };

/* The paths of all questions of a list, also of those about marks. */
function paths(questions, path) {
  return [questions ?? []].flat().flatMap(({ each }, nth) => [[...path, nth], ...paths(each, [...path, nth, "each"])]);
}
const everyPath = (document) => document.steps.flatMap(({ questions }, nth) => paths(questions, ["steps", nth, "questions"]));

/** Whether each question of a list has a right answer: "fact" or "opinion". */
export const kindsOf = (document) => everyPath(document).map((path) => at(document, path).kind ?? "fact");

/** The list with this kind for all its questions. */
export function ofKind(document, kind) {
  return everyPath(document).reduce((next, path) => put(next, [...path, "kind"], kind === "opinion" ? kind : undefined), document);
}

export class Declared {
  constructor(told) {
    Object.assign(this, told);
    this.byType = new Map(told.types.map((type) => [type.name, type]));
    this.byMedium = new Map(told.media.map((medium) => [medium.name, medium]));
  }

  type(name) {
    return this.byType.get(name);
  }

  medium(name) {
    return this.byMedium.get(name);
  }

  optionsOf(type) {
    return this.type(type)?.options ?? [];
  }

  mediumOptions(type) {
    return this.medium(type)?.options ?? [];
  }

  taken(document) {
    return new Set([...namesIn(document), ...this.reserved]);
  }

  /** A new step. */
  newStep(document) {
    return { name: unique("step", this.taken(document)), questions: [] };
  }

  /** A new medium of a type; its column is the one of the tasks that its type or its name suggests. */
  newMedium(type, document) {
    const made = { name: unique(type, this.taken(document)), type };
    for (const option of this.mediumOptions(type)) if (option.needed) made[option.name] = this.blank(option, type);
    return made;
  }

  /** A new question of a type, and the medium that it needs if the step has none: {question, medium}. */
  newQuestion(type, document, step) {
    const kind = this.type(type), taken = this.taken(document), question = { name: unique(slug(type), taken), type, text: "" };
    const fitting = (step?.media ?? []).find((medium) => kind.media.includes(medium?.type));
    let medium = null;
    if (kind.needs_medium) {
      if (!fitting) medium = this.newMedium(kind.media[0], document);
      question.on = (fitting ?? medium).name;
    }
    for (const option of kind.options) if (option.needed) question[option.name] = this.blank(option, type);
    const kinds = kindsOf(document);
    if (kinds.length && kinds.every((each) => each === "opinion")) question.kind = "opinion";
    return { question, medium };
  }

  /** The question with another type: what both have stays. */
  turned(question, type) {
    const kind = this.type(type), known = new Set([...this.common, ...kind.options].map(({ name }) => name)), made = {};
    if (kind.media.length) known.add("on");
    if (kind.each) known.add("each");
    for (const [name, value] of Object.entries(question)) {
      const before = this.optionsOf(question.type).find((option) => option.name === name), after = kind.options.find((option) => option.name === name);
      const same = !before || !after || (before.control === after.control && before.label === after.label);
      if (["name", "show_if"].includes(name) || (known.has(name) && same)) made[name] = value;
    }
    made.type = type;
    const entries = ["choices", "labels", "rows", "columns"].map((name) => question[name]).find(Array.isArray);
    for (const option of kind.options) {
      if (!option.needed || option.name in made) continue;
      const parts = new Set(option.parts.map(({ name }) => name));
      made[option.name] = option.control === "choices" && entries ? entries.map((entry) => Object.fromEntries(Object.entries(entry).filter(([part]) => parts.has(part)))) : this.blank(option, type);
    }
    return made;
  }

  blank(option, type) {
    if (option.control === "choices") return Array.from({ length: Math.max(2, option.limits.min) }, (_, nth) => this.newEntry(option, nth + 1));
    if (option.control === "sources") return [this.newSource("picture"), this.newSource("picture")];
    if (option.control === "source") return this.newSource(type);
    return "";
  }

  newEntry(option, number) {
    return { value: `${FIRST_VALUES[option.name.replace(/s$/, "")] ?? "entry"}_${number}`, text: "" };
  }

  newSource(type) {
    const column = (LIKE[type] ?? []).map((like) => this.columns.find((name) => like.test(name))).find(Boolean);
    return { column: column ?? (this.columns.length === 1 ? this.columns[0] : "") };
  }
}
