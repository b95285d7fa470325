/* An answer to a list of questions (docs/projects/questions.md) as words, and as JSON. */
import { Texts } from "../questions/texts.js";

const MAX_MARKS = 20, MAX_JSON = 20000;

/** Shows an answer in `panel`: its list has a row per question, its `pre` the JSON. */
export function show(panel, list, answer) {
  const words = JSON.parse(panel.dataset.words), locale = document.documentElement.lang || "en";
  const texts = new Texts({ locale, language: "", words });
  const value = answer !== null && typeof answer === "object" ? answer : {};
  const rows = list.steps.flatMap((step) => step.questions ?? []).filter(({ name }) => name in value);
  panel.querySelector("dl").replaceChildren(...rows.flatMap((question) => [
    Object.assign(document.createElement("dt"), { textContent: texts.pick(question.text).words }),
    Object.assign(document.createElement("dd"), { textContent: inWords(question, value[question.name], texts), dir: "auto" }),
  ]));
  panel.querySelector("pre").textContent = JSON.stringify(answer, null, 2).slice(0, MAX_JSON);
  panel.hidden = false;
}

function inWords(question, value, texts) {
  if (value === null) return texts.word("unsure");
  if (typeof value === "boolean") return texts.word(value ? "yes" : "no");
  const named = (options, wanted) => texts.pick((options ?? []).find((each) => each.value === wanted)?.text ?? wanted).words;
  if (question.type === "matrix") return join(Object.entries(value).map(([row, column]) => `${named(question.rows, row)}: ${named(question.columns, column)}`), texts);
  if (!Array.isArray(value)) return `${named(question.choices, value)}${question.unit ? ` ${texts.pick(question.unit).words}` : ""}`;
  return isMarks(value, question) ? marks(question, value, texts, named) : join(value.map((each) => named(question.choices, each)), texts);
}

const isMarks = (value, question) => !question.choices && value.every((each) => each !== null && typeof each === "object");
const join = (parts, texts) => new Intl.ListFormat(texts.locale, { type: "unit" }).format(parts.map(String));

/* "3 marks: Fox, Fox, Owl"; lines and parts of a text say their words. */
function marks(question, value, texts, named) {
  if (!value.length) return texts.word("nothing");
  const plural = texts.words.marks[new Intl.PluralRules(texts.locale).select(value.length)] ?? texts.words.marks.other;
  const count = plural.replace("{count}", value.length.toLocaleString(texts.locale));
  const about = value.slice(0, MAX_MARKS).map(({ text, label }) => [label && named(question.labels, label), text && `“${text}”`].filter(Boolean).join(" "));
  const said = about.filter(Boolean);
  return said.length ? `${count}: ${join(value.length > MAX_MARKS ? [...said, "…"] : said, texts)}` : count;
}
