/* The guided tutorial of a project (docs/projects/guides.md), in the frame of the tutorial.  The page has
     <script type="application/json" id="lesson">    {list, language, tasks, steps}: the questions (null without any), the project's
                                                     language, the sample tasks by name, and the steps in the reader's language
     <script type="application/json" id="questions-words">   our own words, as for questions.js
   Steps stand beside the real task page with a sample task.  Nothing that is done in it is sent or kept.  At the end the page
   around the frame is told: {op: "done"}. */
import { element } from "../element.js";
import { Form } from "../form.js";
import { load } from "../modules.js";
import { keepFocus, keepPresses } from "../pointer.js";
import { Stage } from "../stage.js";
import { Texts } from "../texts.js";
import { Card } from "./card.js";
import { judge } from "./judge.js";
import { Light } from "./light.js";

const read = (id) => JSON.parse(document.getElementById(id)?.textContent || "{}");

class Lesson {
  constructor({ list, tasks, steps }, texts, modules) {
    Object.assign(this, { list, steps, texts, types: modules.types });
    this.tasks = new Map(Object.entries(tasks).map(([name, info], nth) => [name, { id: nth + 1, info }]));
    this.card = new Card({ texts, act: (name) => this[name]() });
    this.frame = element("div", { className: "frame questions" });
    this.trouble = element("p", { className: "bad outside", role: "alert" });
    this.page = element("section", { className: "lesson-task", ariaLabel: texts.word("lesson_task") }, this.frame, this.trouble);
    this.light = new Light(this.page);
    if (list) {
      this.stage = new Stage({ list, kinds: modules.media, texts, changed: () => this.form?.seen() });
      this.frame.append(this.stage.element);
    }
    this.element = element("main", { className: "lesson" }, this.page, this.card.element);
  }

  /** Shows a step; `focus` moves the focus to its title. */
  show(nth, focus = true) {
    this.at = nth;
    const step = this.steps[nth], task = this.list && this.tasks.get(step.task);
    this.light.off();
    this.page.hidden = !task;
    this.element.classList.toggle("alone", !task);
    this.card.show(step, nth + 1, this.steps.length, focus);
    this.card.say("");
    if (!task) return this.clear();
    this.begin(task, Boolean(step.practice));
    this.page.scrollTop = 0;
    if (step.highlight) this.highlight(step.highlight);
  }

  clear() {
    this.form?.destroy();
    this.form = this.task = null;
    presenterBridge.offer({});
  }

  /* A new form for each practice; steps about one task share theirs. */
  begin(task, practice) {
    if (this.form && this.task === task && !practice && !this.practised) return;
    this.clear();
    Object.assign(this, { task, practised: practice });
    this.trouble.textContent = "";
    this.stage.show(task, -1);
    const texts = practice ? this.texts.saying({ send: this.texts.word("lesson_check") }) : this.texts;
    this.form = new Form({
      list: this.list, task, texts, types: this.types, stage: this.stage, place: this.frame, answers: {}, changed() {},
      send: (answers) => (practice ? this.judge(answers) : this.next()),
      announce: (words) => this.card.say(words), offer: (keys) => presenterBridge.offer(keys),
    });
    this.form.start(false);
  }

  async highlight({ question, medium, rectangle }) {
    const { steps } = this.list, known = ({ name }) => name === (question ?? medium), nth = this.at;
    const where = steps.findIndex((step) => (question ? step.questions ?? [] : step.media ?? []).some(known));
    if (where < 0) return; // the questions have changed since
    this.form.go(where, false);
    const block = question && this.form.groups.get(where).blocks.find((each) => known(each.question));
    if (block) block.element.hidden = false; // it may depend on answers that nobody has given
    const part = question ? block.element : this.stage.medium(medium).element;
    this.light.on(part);
    this.card.say(this.texts.word("lesson_lit", { part: question ? this.texts.pick(block.question.text).words : this.stage.description(steps[where].media.find(known), this.task) }));
    await (question ? block.ready : this.stage.medium(medium).shown);
    if (nth !== this.at) return;
    if (rectangle) this.light.rectangle(this.stage.medium(medium), rectangle);
    part.scrollIntoView({ block: "nearest" });
  }

  judge(answers) {
    const asked = new Map(this.list.steps.flatMap(({ questions = [] }) => questions).map((question) => [question.name, question]));
    const checks = this.steps[this.at].practice.filter(({ question }) => asked.has(question)); // others are gone since
    const found = checks.map((known) => {
      const question = asked.get(known.question), { naturalWidth = 0, naturalHeight = 0 } = this.stage.medium(question.on)?.surface ?? {};
      const { right, marks } = judge(question, answers[question.name], known, Math.max(naturalWidth, naturalHeight));
      return { title: question.text, right, marks, words: right ? known.right : known.wrong };
    });
    this.card.judge(found, this.at === this.steps.length - 1);
  }

  next() {
    if (this.at + 1 < this.steps.length) this.show(this.at + 1);
    else this.skip();
  }

  back() {
    if (this.at) this.show(this.at - 1);
  }

  again() {
    this.practised = true;
    const { at } = this;
    this.clear();
    this.show(at);
  }

  skip() {
    presenterBridge.done();
  }
}

async function begin() {
  const about = read("lesson"), { locale = "en", words = {} } = read("questions-words");
  const texts = new Texts({ locale, language: about.language, words });
  Object.assign(document.documentElement, { lang: locale, dir: texts.direction });
  const modules = about.list ? await load(about.list) : {};
  const lesson = new Lesson(about, texts, modules);
  document.body.append(lesson.element);
  keepPresses(lesson.element);
  keepFocus(lesson.element, () => lesson.element.querySelector("form h1"));
  document.addEventListener("crowdd:key", (event) => {
    if (lesson.form?.key(event.detail.key)) event.preventDefault();
  });
  lesson.show(0, document.hasFocus());
  addEventListener("focus", () => document.activeElement === document.body && lesson.card.focus());
}

begin().catch((error) => {
  const { words = {} } = read("questions-words");
  document.body.append(element("p", { className: "say bad", role: "alert" }, words.broken ?? ""));
  console.error(error);
});
