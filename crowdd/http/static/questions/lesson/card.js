/* What is said beside the task page: one step of the tutorial, with its picture and buttons, and what a practice answer was worth. */
import { element } from "../element.js";

const place = (name, said, tag, properties = {}) => {
  const made = element(name, properties);
  if (said.lang && said.lang !== tag) made.lang = said.lang;
  if (said.lang !== tag) made.dir = said.dir;
  return made;
};

export class Card {
  /** `act(name)` is called for "back", "next", "skip" and "again"; `texts` has our own words. */
  constructor({ texts, act }) {
    this.texts = texts;
    this.count = element("p", { className: "over num" });
    this.body = element("div", { className: "lesson-body" });
    this.news = element("p", { className: "sr", role: "status" });
    this.judged = element("div", { className: "judged", hidden: true });
    const button = (name, className, word) => {
      const made = element("button", { type: "button", className }, texts.word(word));
      made.addEventListener("click", () => act(name));
      return made;
    };
    this.backward = button("back", "btn", "lesson_back");
    this.forward = button("next", "btn main", "lesson_next");
    this.skip = button("skip", "btn bare", "lesson_skip");
    this.retry = button("again", "btn", "lesson_again");
    const said = element("div", { className: "lesson-said" }, this.count, this.body, this.judged);
    const buttons = element("p", { className: "row lesson-buttons" }, this.forward, this.retry, this.backward, this.skip);
    this.element = element("section", { className: "lesson-card" }, said, buttons, this.news);
  }

  /** Shows a step, `n` of `total`, and moves the focus to its title. */
  show(step, n, total, focus) {
    const { texts } = this, title = place("h1", step.title, texts.locale, { tabIndex: -1, id: "lesson-title" });
    title.textContent = step.title.words;
    this.element.setAttribute("aria-labelledby", "lesson-title");
    this.count.textContent = texts.word("step", { n, total });
    this.body.replaceChildren(title, ...this.picture(step.picture), ...this.prose(step.text), ...this.rule(step));
    this.judged.hidden = this.retry.hidden = true;
    this.element.classList.remove("judging");
    this.backward.hidden = n === 1;
    this.practised(step.practice ? false : null, n === total);
    this.skip.hidden = n === total;
    this.element.scrollTop = this.element.firstElementChild.scrollTop = 0;
    if (focus) this.focus();
  }

  /** Moves the focus to the title. */
  focus() {
    this.body.firstElementChild.focus({ preventScroll: true });
  }

  /* What the button that goes on says; `done`: a practice task that was answered, null for other steps. */
  practised(done, last) {
    this.forward.textContent = this.texts.word(last ? "lesson_end" : done === false ? "lesson_pass" : "lesson_next");
    this.forward.classList.toggle("main", done !== false);
  }

  picture(picture) {
    if (!picture) return [];
    const shown = element("figure", {}, element("img", { src: picture.url, alt: picture.description }));
    if (picture.credit) shown.append(element("figcaption", { className: "small soft" }, picture.credit));
    return [shown];
  }

  prose(text) {
    if (!text) return [];
    const made = place("div", text, this.texts.locale, { className: "lesson-prose" });
    made.innerHTML = text.html; // crowdd has cleaned it
    return [made];
  }

  rule({ practice }) {
    return practice ? [element("p", { className: "small soft" }, this.texts.word("lesson_practice"))] : [];
  }

  /** Says what is lit, to people who do not see it. */
  say(words) {
    this.news.textContent = words;
  }

  /** Shows what an answer was worth: `found` are {title, right, words, marks}. */
  judge(found, last) {
    const { texts } = this, right = found.filter((one) => one.right).length;
    const heading = element("h2", { tabIndex: -1 }, texts.word(right === found.length ? "lesson_all_right" : "lesson_some_right", { n: right, total: found.length }));
    this.judged.replaceChildren(heading, element("ul", {}, ...found.map((one) => this.verdict(one))));
    this.judged.hidden = false;
    this.element.classList.add("judging");
    this.retry.hidden = right === found.length;
    this.practised(right === found.length, last);
    heading.focus({ preventScroll: true });
    heading.scrollIntoView({ block: "start" });
  }

  verdict({ title, right, words, marks }) {
    const { texts } = this, mark = element("strong", { className: right ? "ok" : "bad" }, `${right ? "✓" : "✗"} ${texts.word(right ? "lesson_right" : "lesson_wrong")}`);
    const asked = element("span", { className: "soft" });
    texts.write(asked, title);
    const item = element("li", {}, mark, " ", asked);
    if (marks) item.append(element("p", { className: "num" }, texts.word(marks.more ? "lesson_marks_more" : "lesson_marks", marks)));
    if (words) item.append(element("p", {}, words));
    return item;
  }
}
