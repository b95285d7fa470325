/* One task: the steps with their media and questions, back and next, and what is answered. */
import { holds } from "./show_if.js";
import { element } from "./element.js";
import { Group } from "./group.js";

const ONE_CLICK = ["single_choice", "yes_no"];
const FRAME = 16; // milliseconds
let ids = 0;

/* How many pixels of the frame are above what is on the screen (presenter/prelude.js). */
const hidden = () => parseFloat(document.documentElement.style.getPropertyValue("--view-top")) || 0;

/** Whether a document is one question that a click answers: no button has to be pressed after it. */
export function isImmediate({ steps }) {
  const [{ questions = [] }] = steps, [only] = questions;
  return steps.length === 1 && questions.length === 1 && ONE_CLICK.includes(only.type) && Boolean(only.required);
}

export class Form {
  /**
   * `list` is the document, `stage` the place of the media (Stage), `place` the element in which questions are shown.
   * `shown()` is called when a step can be seen, `send(answers)` gets what was answered; `changed(answers)` each change; `went(name)` the name of each step that is shown.
   */
  constructor({ list, task, texts, types, stage, place, answers, suggestions, maxFileBytes = 0, send, changed, went = () => {}, shown = () => {}, announce, offer }) {
    Object.assign(this, { list, task, texts, types, stage, place, suggestions, maxFileBytes, send, announce, offer, went, shown, tell: changed });
    this.immediate = isImmediate(list);
    this.groups = new Map(); // by number of the step, from its first view on
    this.steps = new Map(list.steps.flatMap(({ questions = [] }, step) => questions.map(({ name }) => [name, step])));
    this.visible = []; // whether a step is shown, by its number
    this.kept = { ...answers }; // of steps that were not seen yet
    this.at = -1;
    this.changed = () => this.turned();
    this.keysChanged = () => this.ended || this.offer(this.stage.waiting().length ? {} : { ...this.stage.keys(), ...this.groups.get(this.at)?.keys() });
    this.finish = () => this.next();
    this.draw();
  }

  id() {
    return `q${++ids}`;
  }

  medium(name) {
    return this.stage.medium(name);
  }

  draw() {
    const { texts } = this;
    this.count = element("p", { className: "over num" });
    this.title = element("h1", { tabIndex: -1 });
    this.body = element("div", { className: "answers" });
    this.trouble = element("p", { className: "bad", role: "alert" });
    this.backward = element("button", { type: "button", className: "btn big" }, texts.word("back"));
    this.forward = element("button", { className: "btn main big" });
    this.backward.addEventListener("click", () => this.back());
    const buttons = element("p", { className: "row", hidden: this.immediate }, this.forward, this.backward);
    this.end = element("div", { className: "end" }, this.trouble, buttons);
    this.element = element("form", { className: "say", noValidate: true }, this.count, this.title, this.body, this.end);
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.next();
    });
    this.place.append(this.element);
    // What stays on the screen of a phone has its height at the edges of what scrolls.
    this.edges = new ResizeObserver((entries) => entries.forEach(({ target }) => {
      this.place.style.setProperty(target === this.end ? "--end" : "--seen", `${target.offsetHeight}px`);
    }));
    for (const edge of [this.end, this.stage.element]) this.edges.observe(edge);
    if (this.immediate) this.swipe();
  }

  async swipe() {
    const { swipes } = await import("./swipes.js");
    if (!this.ended) this.swipes = swipes(this.place, () => this.sides());
  }

  /* The two answers of the only question, from left to right, while they stand beside each other and can be given. */
  sides() {
    return this.stage.waiting().length ? null : this.groups.get(this.at)?.fields()[0]?.sides?.();
  }

  /* The answer to a question of any step, for show_if. */
  answer(name) {
    const step = this.steps.get(name);
    if (!this.visible[step]) return undefined;
    const group = this.groups.get(step);
    return group ? group.answer(name) : this.kept[name];
  }

  /* Which steps are shown.  Conditions look back only, so one pass in order is enough, and takes the questions along. */
  turn() {
    for (const [step, { show_if: condition }] of this.list.steps.entries()) {
      this.visible[step] = holds(condition, (name) => this.answer(name));
      if (this.visible[step]) this.groups.get(step)?.turn();
    }
  }

  path() {
    return this.list.steps.map((_, step) => step).filter((step) => this.visible[step]);
  }

  answers() {
    return Object.assign({}, ...this.path().map((step) => this.groups.get(step)?.value() ?? this.later(step)));
  }

  unfinished() {
    return this.path().some((step) => this.groups.get(step)?.unfinished());
  }

  later(step) {
    const names = (this.list.steps[step].questions ?? []).map(({ name }) => name).filter((name) => name in this.kept);
    return Object.fromEntries(names.map((name) => [name, this.kept[name]]));
  }

  turned() {
    if (this.ended) return;
    this.turn();
    this.buttons();
    this.keysChanged();
    this.tell(this.answers());
  }

  buttons() {
    const path = this.path(), nth = path.indexOf(this.at);
    this.backward.hidden = nth <= 0;
    this.forward.textContent = this.texts.word(nth === path.length - 1 ? "send" : "next");
    const name = typeof this.task.info?.title === "string" && this.task.info.title ? this.task.info.title : this.texts.word("task", { id: this.task.id });
    this.count.textContent = path.length > 1 ? `${name} · ${this.texts.word("step", { n: nth + 1, total: path.length })}` : name;
  }

  /** Answers wait until what they are about was seen, or the volunteer chose to answer without it. */
  seen() {
    this.groups.get(this.at)?.seen();
    this.body.inert = this.stage.waiting().length > 0;
    this.keysChanged();
  }

  /** Shows a step; `focus` puts the focus on its heading. */
  go(step, focus = true) {
    const before = this.groups.get(this.at);
    if (before) before.element.hidden = true;
    this.at = step;
    this.went(this.list.steps[step].name);
    this.stage.turn(step);
    const known = this.groups.get(step), group = known ?? this.begin(step);
    group.element.hidden = false;
    this.turn();
    this.heading(step, group);
    this.seen();
    this.trouble.textContent = "";
    this.place.scrollTop = this.element.scrollTop = 0;
    this.buttons();
    this.keysChanged();
    this.settle(focus);
  }

  /* Nothing that people see moves when a medium gets its size. */
  async settle(focus) {
    const { at } = this, began = performance.now();
    this.element.classList.add("moving");
    await this.stage.settled();
    if (performance.now() - began > FRAME) await new Promise(requestAnimationFrame); // it has moved unseen
    if (this.ended || at !== this.at) return;
    this.element.classList.remove("moving");
    if (focus) {
      this.title.focus({ preventScroll: true });
      if (hidden() > 0) this.place.scrollIntoView({ block: "start" }); // on a phone the media are above the questions
    }
    requestAnimationFrame(() => this.ended || this.shown());
  }

  begin(step) {
    const { questions = [] } = this.list.steps[step];
    const group = new Group(questions, { form: this, answer: (name) => this.answer(name) });
    group.set(this.later(step));
    this.groups.set(step, group);
    this.body.append(group.element);
    for (const { ready } of group.blocks) ready?.then(() => this.at === step && this.keysChanged());
    return group;
  }

  /* The title of the step, or its only question: that is then not said twice. */
  heading(step, group) {
    const { title, questions = [] } = this.list.steps[step], only = questions.length === 1 && !title;
    this.title.removeAttribute("lang");
    this.title.removeAttribute("dir");
    if (title) this.texts.write(this.title, title);
    else if (only) this.texts.write(this.title, questions[0].text);
    else this.title.textContent = this.texts.word("questions");
    this.title.classList.toggle("sr", !title && !only);
    if (only) group.element.classList.add("only");
    this.element.classList.toggle("marking", questions.some(({ on, type }) => on || type === "transcription"));
  }

  /** Shows the step of a name, or the first one if that is not shown. */
  start(focus, name) {
    this.turn();
    const path = this.path(), wanted = path.find((step) => this.list.steps[step].name === name);
    this.go(wanted ?? path[0] ?? 0, focus);
  }

  next() {
    if (this.ended) return;
    if (this.stage.waiting().length) {
      this.trouble.textContent = this.texts.word("not_seen");
      return;
    }
    const group = this.groups.get(this.at);
    if (group.problem()) {
      this.trouble.textContent = this.texts.word("check");
      group.focus();
      return;
    }
    this.suggestions?.leave(group);
    const path = this.path(), following = path[path.indexOf(this.at) + 1];
    if (following === undefined) this.send(this.answers());
    else this.go(following);
  }

  back() {
    const path = this.path(), before = path[path.indexOf(this.at) - 1];
    if (before !== undefined) this.go(before);
  }

  /** True when a field or a button has used the shortcut. */
  key(key) {
    if (this.stage.waiting().length) return false;
    if (this.groups.get(this.at)?.key(key) || this.stage.key(key)) return true;
    if (key !== "Enter" || this.immediate) return false;
    this.next();
    return true;
  }

  destroy() {
    this.ended = true;
    this.edges.disconnect();
    this.swipes?.end();
    for (const group of this.groups.values()) group.destroy();
    this.element.remove();
  }
}
