/* The media of a task: each is made once, and shows one task after the other. */
import { inWords, sizeOf } from "./sizes.js";
import { element } from "./element.js";
import { whenReleased } from "./pointer.js";
import { isAddress, sourceOf } from "./sources.js";

const AHEAD = 3000; // milliseconds that a task waits for its media before it is shown without them
const PATIENCE = 30000; // milliseconds until volunteers are told that something does not load
const LOADING = 400; // milliseconds until they are told that it is loading
const SLOW = 3000; // milliseconds until they are told how large it is
const MAX_MEDIA = 20, MAX_ADDRESS = 2000; // addresses told with an answer, and characters of one
const WORDS = { failed: "medium_failed", waived: "medium_waived" };
const ACTS = { failed: ["load_again", "skip", "answer_unseen"], waived: ["load_again"] };

export class Stage {
  /** `changed()` is called when a medium is there, or turns out not to load; `skip()`, if any, when a volunteer gives the task back for that. */
  constructor({ list, kinds, texts, changed, skip }) {
    Object.assign(this, { list, texts, changed, skip });
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
    made.notice = element("div", { className: "unseen", "aria-live": "polite", hidden: true });
    this.media.set(medium.name, Object.assign(made, { step, shown: null, state: "" }));
    this.element.append(element("div", { className: "place" }, made.element, made.notice));
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
    for (const made of this.media.values()) Object.assign(made, { shown: null, state: "" });
    this.turn(step);
  }

  /** Shows the media of a step. */
  turn(step) {
    this.step = step;
    let any = false;
    for (const made of this.media.values()) {
      made.element.parentElement.hidden = made.step !== step;
      if (made.step !== step) continue;
      any = true;
      if (!made.shown && this.task) this.load(made);
    }
    this.element.hidden = !any;
  }

  /** Resolves when nothing of the step that is shown will move for its media any more, or when that takes too long. */
  settled() {
    const { task } = this, shown = [...this.media.values()].filter(({ step }) => step === this.step);
    const until = (made) => made.settled?.(() => task === this.task && made.state === "loading") ?? made.shown;
    return Promise.race([Promise.allSettled(shown.map(until)), new Promise((resolve) => setTimeout(resolve, SLOW))]);
  }

  /** Names of media of the step that is shown which nobody has seen yet, and without which nobody said to answer. */
  waiting() {
    return [...this.media].filter(([, { step, state }]) => step === this.step && ["loading", "failed"].includes(state)).map(([name]) => name);
  }

  /** Names of media without which the volunteer chose to answer. */
  unseen() {
    return [...this.media].filter(([, { state }]) => state === "waived").map(([name]) => name);
  }

  /** What keys do with the media of the step that is shown: {key: label}. */
  keys() {
    return Object.assign({}, ...this.played().map((made) => made.keys()));
  }
  /** True when a medium has used the key. */
  key(key) {
    return this.played().some((made) => made.key(key));
  }
  played() {
    return [...this.media.values()].filter(({ step, state, key }) => step === this.step && state === "shown" && key);
  }

  /** The addresses of media of the task that were shown, by their names; those of a list with a number each. */
  addresses() {
    const shown = this.list.steps.flatMap(({ media = [] }) => media).filter(({ name }) => this.media.get(name).state === "shown");
    const entries = shown.flatMap(({ name, source }) => [sourceOf(source, this.task)].flat().map((address, n) => [n ? `${name}.${n + 1}` : name, address]));
    return Object.fromEntries(entries.filter(([, address]) => isAddress(address) && address.length <= MAX_ADDRESS).slice(0, MAX_MEDIA));
  }

  load(made) {
    const { task } = this;
    this.turnTo(made, "loading");
    made.shown = Promise.resolve(made.show(task));
    this.wait(made, made.shown, () => task === this.task);
  }

  /* It may be slow for ever: then the volunteer is told, and shown what comes all the same. */
  wait(made, shown, wanted) {
    const still = (act) => () => whenReleased(() => wanted() && made.shown === shown && act());
    const soon = setTimeout(still(() => this.turnTo(made, "loading", "medium_loading")), LOADING), late = setTimeout(still(() => this.turnTo(made, "failed")), PATIENCE);
    const slow = setTimeout(still(() => this.saySize(made)), SLOW);
    const end = (state) => () => {
      for (const timer of [soon, slow, late]) clearTimeout(timer);
      still(() => this.turnTo(made, state))();
    };
    shown.then(end("shown"), end("failed"));
  }

  /* The line is slow: how large it is that they wait for, where its site tells. */
  async saySize(made) {
    const { shown, step } = made, { source } = this.list.steps[step].media.find(({ name }) => this.media.get(name) === made);
    const say = (word, values) => made.shown === shown && made.state === "loading" && this.turnTo(made, "loading", word, values);
    say("medium_slow");
    const bytes = await Promise.all([sourceOf(source, this.task)].flat().filter(isAddress).map(sizeOf)), sum = bytes.reduce((one, other) => one + other, 0);
    if (sum) say("medium_slow_size", { size: inWords(sum, this.texts.locale) });
  }

  /* What is said in the place of a medium, and what people can do about it. */
  turnTo(made, state, words = WORDS[state], values = {}) {
    made.state = state;
    made.notice.hidden = !words;
    made.element.parentElement.classList.toggle("gone", state in WORDS);
    const act = { load_again: () => this.load(made), skip: this.skip, answer_unseen: () => this.turnTo(made, "waived") };
    const buttons = (ACTS[state] ?? []).filter((name) => act[name]).map((name) => {
      const button = element("button", { type: "button", className: "btn" }, this.texts.word(name));
      button.addEventListener("click", act[name]);
      return button;
    });
    made.notice.replaceChildren(element("p", {}, words ? this.texts.word(words, values) : ""), element("p", { className: "row" }, ...buttons));
    this.changed();
  }
}
