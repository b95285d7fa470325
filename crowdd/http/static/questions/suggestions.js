/* What is suggested as the answer to questions of a task (docs/projects/questions.md), and what became of it. */
import { element } from "./element.js";

const EMPTY = [undefined, null, ""], KEPT = "predictions";

const is = {
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value), array: Array.isArray,
  string: (value) => typeof value === "string", boolean: (value) => typeof value === "boolean", null: (value) => value === null,
  number: (value) => Number.isFinite(value), integer: (value) => Number.isInteger(value),
};
const within = (size, least = size, most = size) => least <= size && size <= most;
const isDay = (value) => /^\d{4}-\d\d-\d\d$/.test(value) && !Number.isNaN(Date.parse(value)) && new Date(value).toISOString().startsWith(value);

/** Whether a value has the form that a schema of answers describes: as `fits` does on the server (question_type.py). */
export function fits(schema, value) {
  if (schema.anyOf) return schema.anyOf.some((one) => fits(one, value));
  if (schema.type && !is[schema.type](value)) return false;
  if (schema.enum && !schema.enum.includes(value)) return false;
  if ("const" in schema && schema.const !== value) return false;
  if (typeof value === "string") return (schema.format !== "date" || isDay(value)) && (!schema.pattern || new RegExp(schema.pattern, "u").test(value)) && within([...value].length, schema.minLength, schema.maxLength);
  if (typeof value === "number") return within(value, schema.minimum, schema.maximum);
  if (Array.isArray(value)) return fitsList(schema, value);
  return is.object(value) ? fitsObject(schema, value) : true;
}

function fitsList({ uniqueItems, items = {}, minItems, maxItems }, value) {
  if (uniqueItems && new Set(value.map((each) => JSON.stringify(each))).size < value.length) return false;
  return within(value.length, minItems, maxItems) && value.every((each) => fits(items, each));
}

function fitsObject({ properties = {}, required = [], additionalProperties, minProperties = 0 }, value) {
  const names = Object.keys(value), known = (name) => Object.hasOwn(properties, name);
  if (!required.every((name) => Object.hasOwn(value, name)) || names.length < minProperties) return false;
  return names.every((name) => (known(name) ? fits(properties[name], value[name]) : additionalProperties !== false));
}

/* What fits, be it written as JSON in a text; undefined for what does not. */
function usable(schema, value) {
  if (EMPTY.includes(value)) return undefined;
  if (fits(schema, value)) return value;
  try {
    const written = typeof value === "string" ? JSON.parse(value) : undefined;
    return written !== undefined && fits(schema, written) ? written : undefined;
  } catch {
    return undefined;
  }
}

/* What models say comes with a task that is handed out, and not when it is read again after a reload. */
function predicted({ id, info }) {
  const said = Object(info).predictions;
  try {
    if (said) sessionStorage.setItem(KEPT, JSON.stringify([id, said]));
    const [task, kept] = JSON.parse(sessionStorage.getItem(KEPT)) ?? [];
    return said ?? (task === id ? kept : {});
  } catch {
    return said ?? {};
  }
}

/** A number from 0 to 1 that follows from the id of a task alone: all its volunteers are shown the same. */
export function placeOf(id) {
  let mixed = (id % 2 ** 32) ^ Math.floor(id / 2 ** 32);
  for (const [shift, factor] of [[16, 0x85ebca6b], [13, 0xc2b2ae35]]) mixed = Math.imul(mixed ^ (mixed >>> shift), factor);
  return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
}

/* One that is shown. */
class Suggestion {
  constructor(value) {
    this.value = value;
  }

  /** Its field has it, and makes this answer of it. */
  begin(answer) {
    Object.assign(this, { first: JSON.stringify(answer), since: performance.now() });
  }

  /** The volunteer has changed the answer. */
  touch() {
    this.until = performance.now();
  }

  /** The volunteer goes on. */
  leave() {
    this.until ??= performance.now();
  }

  outcome(answer) {
    if (JSON.stringify(answer) === this.first) return "accepted";
    return answer === undefined || answer === null || (Array.isArray(answer) && !answer.length) ? "rejected" : "changed";
  }

  told(answer) {
    const seconds = Math.min(Math.round(((this.until ?? performance.now()) - this.since) / 100) / 10, 86400);
    return { shown: true, outcome: this.outcome(answer), seconds };
  }
}

/** Those of one task.  `schemas` say what fits each question that has suggestions, `share` in how many tasks none is shown. */
class Suggestions {
  constructor(task, { list, schemas, share }) {
    this.shown = new Map();
    this.hidden = [];
    const info = Object(task.info), predictions = predicted(task);
    for (const { name, suggest } of list.steps.flatMap(({ questions = [] }) => questions)) {
      if (!suggest || !schemas[name]) continue;
      const value = usable(schemas[name], suggest.model ? predictions[name] : Object.hasOwn(info, suggest.column) ? info[suggest.column] : undefined);
      if (value === undefined) continue;
      if (placeOf(task.id) < (suggest.hidden_share ?? share)) this.hidden.push(name);
      else this.shown.set(name, new Suggestion(value));
    }
  }

  of({ name }) {
    return this.shown.get(name);
  }

  /** What is said above a field with a suggestion; nothing for others. */
  note(question, id, texts) {
    return this.of(question) && element("p", { className: "suggested small", id: `${id}-suggested` }, texts.word("suggested"));
  }

  /** What a field makes of a suggestion is known when it has shown it, once, before it gets its value. */
  begin(group, block) {
    const suggestion = this.of(block.question);
    if (!suggestion || suggestion.since !== undefined) return;
    group.put(block, suggestion.value);
    suggestion.begin(group.valueOf(block));
  }

  /** The volunteer goes on from these questions. */
  leave({ blocks }) {
    for (const { question } of blocks) this.of(question)?.leave();
  }

  /** As first answers. */
  answers() {
    return Object.fromEntries([...this.shown].map(([name, { value }]) => [name, value]));
  }

  /** What became of them, with what was answered to the questions that the form has shown. */
  told(answers, { steps, groups, visible }) {
    const asked = (name) => {
      const step = steps.get(name), block = visible[step] && groups.get(step)?.byName.get(name);
      return Boolean(block?.field && !block.element.hidden);
    };
    const shown = [...this.shown].filter(([name, { since }]) => asked(name) && since !== undefined).map(([name, one]) => [name, one.told(answers[name])]);
    const told = Object.fromEntries([...shown, ...this.hidden.filter(asked).map((name) => [name, { shown: false }])]);
    return Object.keys(told).length ? { suggestions: told } : {};
  }
}

/** Makes those of a task. */
export const suggest = (list, suggested) => (task) => new Suggestions(task, { list, ...suggested });
