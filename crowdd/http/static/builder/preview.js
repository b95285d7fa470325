/* The preview: a sandboxed frame shows what volunteers would see, on a few tasks that are no more than shown.  Nothing that
   happens in it reaches the server.  The frame is opaque, and what it says is taken for what a stranger says. */
import { element } from "../questions/element.js";

const MAX_HEIGHT = 4000, MAX_TEXT = 1000000, ROOM = 420;
const WIDTHS = { phone: 390, desktop: 960 }; // of the frame, in pixels; it is drawn smaller where there is less room
const WORDS = ["text", "help", "title", "description", "low", "high", "unit"]; // what no answer depends on

const json = (status, value) => ({ status, body: JSON.stringify(value) });
const parsed = (text) => { try { return JSON.parse(text); } catch { return null; } };

export class Preview {
  /** `box` is the place of the frame, with the project and the tasks in its data; `said` tells what would be stored. */
  constructor(ui, { box, said, version, language }) {
    const { project, tasks } = JSON.parse(box.dataset.preview);
    Object.assign(this, { ui, box, said, version, language, project, tasks, at: 0, size: innerWidth < 900 ? "phone" : "desktop", frames: [], list: null, answers: {}, step: null });
    this.ports = new WeakMap();
    addEventListener("message", (event) => this.greeted(event));
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
  update(list) {
    if (JSON.stringify(list) === JSON.stringify(this.list)) return;
    this.keep(list);
    this.list = list;
    this.show();
  }

  /* Takes answers away whose question is another one now: its field might not be able to show them. */
  keep(list) {
    const meant = (document) => new Map((document?.steps ?? []).flatMap(({ questions = [] }) => questions).map((question) => [question.name, JSON.stringify(question, (key, value) => (WORDS.includes(key) ? undefined : value))]));
    const before = meant(this.list), after = meant(list), same = (name) => before.get(name) === after.get(name);
    this.answers = Object.fromEntries(Object.entries(this.answers).map(([key, text]) => [key, JSON.stringify(Object.fromEntries(Object.entries(parsed(text) ?? {}).filter(([name]) => same(name))))]));
  }

  empty() {
    this.frames = [];
    this.box.textContent = this.box.dataset.empty;
    this.write();
  }

  write() {
    const { ui, at, tasks } = this;
    this.place.textContent = this.frames.length ? ui.word("task_n", { n: Math.min(at + 1, tasks.length), total: tasks.length }) : "";
  }

  /* A new frame takes the place of the old one when it has something to show, so that nothing flickers. */
  show() {
    if (!this.list) return this.empty();
    const frame = element("iframe", { title: this.box.dataset.label, className: "b-waits" });
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    const beginning = { project: this.project, shortcuts: false, room: ROOM, theme: document.documentElement.dataset.theme || "", session: JSON.stringify({ ...this.answers, ...(this.step ? { start: this.step } : {}) }) };
    frame.name = JSON.stringify(beginning);
    frame.src = location.pathname + "?_presenter=1";
    for (const waiting of this.frames.filter((each) => each.classList.contains("b-waits"))) waiting.remove();
    this.frames = this.frames.filter((each) => each.isConnected).concat(frame);
    if (this.frames.length === 1) this.box.replaceChildren(frame);
    else this.box.append(frame);
    this.said.textContent = "";
    this.write();
    this.fit();
    return frame;
  }

  greeted({ source, origin, data, ports }) {
    const frame = this.frames.find((each) => each.contentWindow === source);
    if (!frame || origin !== "null") return;
    if (data === "presenter:hello" && ports.length === 1 && !this.ports.has(frame)) {
      this.ports.set(frame, ports[0]);
      ports[0].onmessage = (event) => this.receive(frame, event.data);
    }
    if (data === "preview:ready") source.postMessage(this.page(), "*");
  }

  page() {
    const { project, list, version, language } = this;
    const asked = JSON.stringify({ list, version, language }).replaceAll("<", "\\u003c");
    const page = `<link rel="stylesheet" href="/static/questions/questions.css"><script type="application/json" id="questions">${asked}</script>
      <script type="module" src="/static/questions/questions.js"></script>`;
    return project.uploads ? page.replaceAll(`/uploads/project-${project.id}/`, project.uploads) : page;
  }

  receive(frame, text) {
    if (typeof text !== "string" || text.length > MAX_TEXT) return;
    const message = parsed(text), newest = frame === this.frames.at(-1);
    if (message?.op === "size") this.grow(frame, Number(message.height) || 0);
    if (message?.op === "memory" && message.area === "session" && newest) this.remember(parsed(message.data) ?? {});
    if (message?.op !== "api" || !Number.isSafeInteger(message.id)) return;
    const reply = this.answer(String(message.method), String(message.url), String(message.body));
    this.ports.get(frame).postMessage(JSON.stringify({ id: message.id, ...reply }));
  }

  remember({ start, step, ...answers }) {
    Object.assign(this, { answers, step: typeof step === "string" ? step : null });
  }

  grow(frame, height) {
    frame.style.height = `${Math.min(Math.max(height, 150), MAX_HEIGHT)}px`;
    if (frame.classList.contains("b-waits") && height > 150) {
      frame.classList.remove("b-waits");
      for (const other of this.frames.filter((each) => each !== frame)) other.remove();
      this.frames = [frame];
    }
    this.fit();
  }

  /* What the API would answer to a volunteer who is alone with these tasks. */
  answer(method, address, body) {
    const { project, tasks, at } = this, url = new URL(address, location.origin), path = url.pathname.replace(/\/+$/, "");
    if (method === "POST" && path === "/api/taskrun") return this.saved(parsed(body) ?? {});
    if (method !== "GET") return json(403, { exception_msg: "" });
    if (path === "/api/project") return json(200, [project]);
    if (path === `/api/project/${project.id}`) return json(200, project);
    if (path.endsWith("/newtask")) return json(200, tasks[at + (Number(url.searchParams.get("offset")) || 0)] || {});
    if (path.endsWith("/userprogress")) return json(200, { done: Math.min(at, tasks.length), total: tasks.length });
    const [, one] = path.match(/^\/api\/task\/(\d+)$/) || [];
    return json(200, one ? tasks.find((task) => task.id === Number(one)) || {} : []);
  }

  saved(run) {
    this.at = Math.min(this.at + 1, this.tasks.length);
    this.write();
    this.said.textContent = this.said.dataset.words.replace("{answer}", JSON.stringify(run.info).slice(0, 300));
    return json(200, { id: this.at, ...run });
  }

  /* Draws the frame as wide as the chosen screen, and smaller where that does not fit. */
  fit() {
    const width = WIDTHS[this.size], scale = Math.min(1, this.box.clientWidth / width);
    this.box.dataset.size = this.size;
    for (const frame of this.frames) {
      frame.style.width = `${width}px`;
      frame.style.zoom = scale;
    }
  }
}
