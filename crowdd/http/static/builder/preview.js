/* The preview: a frame shows what volunteers would see, on a few tasks that are no more than shown. */
import { SampleFrame, questionsPage, shortened } from "../presenter/sample.js";
import { element } from "../questions/element.js";

const MIN_HEIGHT = 150;
const WIDTHS = { phone: 390, desktop: 960 }; // of the frame, in pixels; it is drawn smaller where there is less room
const WORDS = ["text", "help", "title", "description", "low", "high", "unit"]; // what no answer depends on

const parsed = (text) => { try { return JSON.parse(text); } catch { return null; } };

export class Preview {
  /** `box` is the place of the frame, with the project and the tasks in its data; `said` tells what would be stored. */
  constructor(ui, { box, said, version, language }) {
    const { project, tasks } = JSON.parse(box.dataset.preview);
    Object.assign(this, { ui, box, said, version, language, project, tasks, at: 0, size: innerWidth < 900 ? "phone" : "desktop", samples: [], list: null, answers: {}, step: null });
    new ResizeObserver(() => this.fit()).observe(box);
    this.bar = this.buttons();
    box.before(this.bar);
    this.empty();
  }

  buttons() {
    const { ui } = this, width = (name) => {
      const button = element("button", { type: "button", className: "btn sm" }, ui.word(name));
      button.dataset.size = name;
      button.addEventListener("click", () => {
        this.size = name;
        this.press();
        this.fit();
      });
      return button;
    };
    const step = (icon, label, by) => ui.tool(icon, ui.word(label), () => {
      this.at = Math.min(Math.max(this.at + by, 0), this.tasks.length - 1);
      this.step = null;
      this.show();
    });
    this.place = element("span", { className: "small num", role: "status" });
    const again = element("button", { type: "button", className: "btn sm" }, ui.word("restart"));
    again.addEventListener("click", () => {
      Object.assign(this, { answers: {}, at: 0, step: null });
      this.show();
    });
    const bar = element("div", { className: "b-preview-bar row", role: "group" }, width("phone"), width("desktop"), step("back", "task_before", -1), this.place, step("forward", "task_after", 1), again);
    bar.setAttribute("aria-label", ui.word("preview_controls"));
    this.sizes = [...bar.querySelectorAll("[data-size]")];
    this.press();
    return bar;
  }

  press() {
    for (const button of this.sizes) button.setAttribute("aria-pressed", String(button.dataset.size === this.size));
  }

  /** Shows other questions, at the step that was shown.  Answers to those that mean the same stay. */
  update(list, suggested) {
    if (JSON.stringify(list) === JSON.stringify(this.list)) return;
    this.keep(list);
    Object.assign(this, { list, suggested });
    this.show();
  }

  /* Takes answers away whose question is another one now: its field might not be able to show them. */
  keep(list) {
    const meant = (document) => new Map((document?.steps ?? []).flatMap(({ questions = [] }) => questions).map((question) => [question.name, JSON.stringify(question, (key, value) => (WORDS.includes(key) ? undefined : value))]));
    const before = meant(this.list), after = meant(list), same = (name) => before.get(name) === after.get(name);
    this.answers = Object.fromEntries(Object.entries(this.answers).map(([key, text]) => [key, JSON.stringify(Object.fromEntries(Object.entries(parsed(text) ?? {}).filter(([name]) => same(name))))]));
  }

  empty() {
    this.drop(this.samples);
    this.box.textContent = this.box.dataset.empty;
    this.write();
  }

  write() {
    const { ui, at, tasks } = this;
    this.place.textContent = this.samples.length ? ui.word("task_n", { n: Math.min(at + 1, tasks.length), total: tasks.length }) : "";
  }

  /* A new frame takes the place of the old one when it has something to show, so that nothing flickers. */
  show() {
    if (!this.list) return this.empty();
    const { box, project, tasks, at, list, version, language, suggested } = this;
    const session = JSON.stringify({ ...this.answers, ...(this.step ? { start: this.step } : {}) });
    const sample = new SampleFrame({
      address: location.pathname, label: box.dataset.label, project, tasks, at, source: questionsPage(list, version, language, suggested), beginning: { session },
      sent: (info, done) => this.sent(info, done), skipped: (done) => this.went(done), sized: (height) => this.grow(sample, height),
      heard: { memory: ({ area, data }) => { if (area === "session" && sample === this.samples.at(-1)) this.remember(parsed(data) ?? {}); } },
    });
    sample.element.className = "b-waits";
    this.drop(this.samples.filter(({ element: frame }) => frame.classList.contains("b-waits")));
    this.samples.push(sample);
    if (this.samples.length === 1) box.replaceChildren(sample.element);
    else box.append(sample.element);
    this.said.textContent = "";
    this.write();
    this.fit();
  }

  drop(samples) {
    for (const sample of samples) sample.close();
    this.samples = this.samples.filter((each) => !samples.includes(each));
  }

  remember({ start, step, ...answers }) {
    Object.assign(this, { answers, step: typeof step === "string" ? step : null });
  }

  grow(sample, height) {
    if (sample.element.classList.contains("b-waits") && height > MIN_HEIGHT) {
      sample.element.classList.remove("b-waits");
      this.drop(this.samples.filter((each) => each !== sample));
    }
    this.fit();
  }

  went(done) {
    this.at = done;
    this.write();
  }

  sent(info, done) {
    this.went(done);
    this.said.textContent = this.said.dataset.words.replace("{answer}", shortened(info));
  }

  /* Draws the frame as wide as the chosen screen, and smaller where that does not fit. */
  fit() {
    const width = WIDTHS[this.size], scale = Math.min(1, this.box.clientWidth / width);
    this.box.dataset.size = this.size;
    for (const { element: frame } of this.samples) {
      frame.style.width = `${width}px`;
      frame.style.zoom = scale;
    }
  }
}
