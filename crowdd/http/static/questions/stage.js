/* The media of a task: each is made once, and shows one task after the other. */
import { element } from "./element.js";

const PICTURE = /^(https?:\/\/|\/)\S/;
const AHEAD = 3000; // milliseconds that a task waits for its media before it is shown without them
const PATIENCE = 30000; // milliseconds until volunteers are told that something does not load

/** The address or text of a source for a task, "" if the task has none; a list for a list of sources. */
export function sourceOf(source, task) {
  if (Array.isArray(source)) return source.map((each) => sourceOf(each, task));
  if (!source || typeof source !== "object") return "";
  const value = "column" in source ? Object(task.info)[source.column] : source.url;
  return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

/** Whether a value may be an address: of http, or a path of this server. */
export function isAddress(value) {
  return PICTURE.test(value);
}

export class Stage {
  /** `failed(name)` is told about a medium that does not load; with "" that the last one has loaded after all. */
  constructor({ list, kinds, texts, failed }) {
    Object.assign(this, { list, texts, failed });
    this.element = element("div", { className: "see" });
    this.media = new Map();
    list.steps.forEach(({ media = [], questions = [] }, step) => media.forEach((medium) => {
      this.add(medium, step, kinds.get(medium.type), questions.some(({ on }) => on === medium.name));
    }));
  }

  add(medium, step, module, marked) {
    const { texts } = this, made = module.create(medium, {
      marked, language: texts.locale, languageDirection: texts.direction, source: (task, source = medium.source) => sourceOf(source, task),
      text: (text) => texts.pick(text).words, write: (place, text) => texts.write(place, text), word: (name, values) => texts.word(name, values),
      description: (task) => this.description(medium, task),
    });
    made.element.classList.add("medium");
    made.element.dataset.medium = medium.name;
    this.media.set(medium.name, Object.assign(made, { step, shown: null }));
    this.element.append(made.element);
  }

  description(medium, task) {
    const { description } = medium;
    const said = description && typeof description === "object" && "column" in description ? sourceOf(description, task) : this.texts.pick(description).words;
    return said || String(Object(task.info).title || this.texts.word("task", { id: task.id }));
  }

  medium(name) {
    return this.media.get(name);
  }

  /** What can be loaded before a task is shown; resolves when it is there, whatever came of it, or takes too long. */
  prepare(task) {
    const ready = Promise.allSettled([...this.media.values()].map((made) => made.prepare?.(task)));
    return Promise.race([ready, new Promise((resolve) => setTimeout(resolve, AHEAD))]);
  }

  /** Makes all media show another task: those of the step that is shown now, others when their step is. */
  show(task, step) {
    this.task = task;
    for (const made of this.media.values()) made.shown = null;
    this.turn(step);
  }

  /** Shows the media of a step. */
  turn(step) {
    let any = false;
    for (const [name, made] of this.media) {
      made.element.hidden = made.step !== step;
      if (made.step !== step) continue;
      any = true;
      if (made.shown || !this.task) continue;
      const { task } = this;
      made.shown = Promise.resolve(made.show(task));
      this.wait(made.shown, name, () => task === this.task);
    }
    this.element.hidden = !any;
  }

  /* It may be slow for ever: then the volunteer is told, and shown what comes all the same. */
  wait(shown, name, wanted) {
    const fail = () => wanted() && this.failed(name), timer = setTimeout(fail, PATIENCE), began = performance.now();
    shown.then(() => {
      clearTimeout(timer);
      if (performance.now() - began > PATIENCE && wanted()) this.failed("");
    }, () => {
      clearTimeout(timer);
      fail();
    });
  }
}
