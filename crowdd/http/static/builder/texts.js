/* Texts of a document in its languages: a string is in the main language, an object has a text for each. */

const isTexts = (value) => value && typeof value === "object" && !Array.isArray(value);

/** The words of a text in a language, "" if there are none. */
export function wordsOf(text, tag, main) {
  if (isTexts(text)) return String(text[tag] ?? "");
  return tag === main ? String(text ?? "") : "";
}

/** The text with other words in a language; `empty` stands for a text without words. */
export function withWords(text, tag, words, main, empty = undefined) {
  if (!isTexts(text)) {
    if (tag === main) return words || empty;
    if (!words) return text;
    return text ? { [main]: text, [tag]: words } : { [tag]: words };
  }
  const made = { ...text, [tag]: words };
  if (!words) delete made[tag];
  return Object.keys(made).length ? made : empty;
}

/** The words that are shown in a list: in this language, otherwise in another. */
export function anyWords(text, tag, main) {
  return wordsOf(text, tag, main) || wordsOf(text, main, main) || (isTexts(text) ? String(Object.values(text)[0] ?? "") : "");
}

/** Calls `visit(text, path)` for each text of a document. */
export function eachText(document, declared, visit) {
  const options = (list, node, path) => {
    for (const { name, control, parts } of list) {
      const value = node?.[name], here = [...path, name];
      if (value === undefined || value === null) continue;
      if (control === "text" || (control === "description" && !Object.hasOwn(Object(value), "column"))) visit(value, here);
      if (control === "unsure" && typeof value !== "boolean") visit(value, here);
      if (control === "help") isHelp(value) ? value.text !== undefined && visit(value.text, [...here, "text"]) : visit(value, here);
      if (control === "choices" && Array.isArray(value)) value.forEach((entry, nth) => options(parts, entry, [...here, nth]));
    }
  };
  const questions = (list, path) => (Array.isArray(list) ? list : []).forEach((question, nth) => {
    options([...declared.common, ...declared.optionsOf(question?.type)], question, [...path, nth]);
    questions(question?.each, [...path, nth, "each"]);
  });
  (document.steps ?? []).forEach((step, nth) => {
    const path = ["steps", nth];
    options(declared.step, step, path);
    (step?.media ?? []).forEach((medium, n) => options(declared.mediumOptions(medium?.type), medium, [...path, "media", n]));
    questions(step?.questions, [...path, "questions"]);
  });
}

/** Whether a help is an object of a text and a picture. */
export function isHelp(value) {
  return isTexts(value) && ("text" in value || "picture" in value);
}

/** The languages of a document, the main one first. */
export function languagesOf(document, declared, main) {
  const tags = new Set([main]);
  eachText(document, declared, (text) => isTexts(text) && Object.keys(text).forEach((tag) => tags.add(tag)));
  return [...tags];
}

/** How many texts of a document have no words in a language. */
export function missing(document, declared, tag, main) {
  let count = 0;
  eachText(document, declared, (text) => { count += !wordsOf(text, tag, main) && anyWords(text, main, main) ? 1 : 0; });
  return count;
}
