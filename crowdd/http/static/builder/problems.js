/* What the server says about the questions while somebody types: problems at their places, advice, and what saving would mean.
   Nothing is stored by it. */
import { element } from "../questions/element.js";

const WAIT = 400, MAX_CHARACTERS = 1000000; // milliseconds after the last change; of a text that is sent

const within = (inner, outer) => inner === outer || inner.startsWith(outer + "/");

export class Checks {
  /** `text` is the field with the JSON; `told(result)` is called with each answer. */
  constructor(ui, { text, address, token, told }) {
    Object.assign(this, { ui, text, address, token, told, result: null, checked: null, timer: 0, asking: null });
    this.status = element("span", { className: "b-status small", role: "status" });
    this.list = element("ul", { className: "x" });
    this.heading = element("h2", { tabIndex: -1, id: "builder-problems" });
    this.summary = element("section", { className: "flash bad b-problems", hidden: true }, ui.icon("bad"), element("div", {}, this.heading, this.list));
    this.summary.setAttribute("aria-labelledby", this.heading.id);
  }

  /** Checks when nothing has changed for a moment. */
  later() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.now(), WAIT);
  }

  /** Checks the text as it is.  The result, or null if the server cannot be asked. */
  now() {
    clearTimeout(this.timer);
    const text = this.text.value;
    if (this.asking?.text === text) return this.asking.answer;
    this.asking?.stop.abort();
    const stop = new AbortController(), answer = this.ask(text, stop.signal);
    this.asking = { text, stop, answer };
    return answer;
  }

  async ask(text, signal) {
    const body = new URLSearchParams({ csrf_token: this.token, questions: text });
    const request = text.length > MAX_CHARACTERS ? null : fetch(this.address, { method: "POST", body, signal, headers: { Accept: "application/json" } });
    const answer = await request?.catch(() => null);
    const result = answer?.ok ? await answer.json().catch(() => null) : null;
    if (signal.aborted) return this.result;
    this.asking = null;
    Object.assign(this, { result, checked: result ? text : null });
    this.show();
    this.told(result);
    return result;
  }

  /** Whether the last result is about the text as it is. */
  get isCurrent() {
    return this.checked === this.text.value;
  }

  /** Shows also what is only missing because nothing has begun. */
  insist() {
    this.insists = true;
    this.show();
  }

  show() {
    const { ui, result } = this, all = result?.problems ?? [], begins = ui.isEmpty && !this.insists;
    const problems = begins ? [] : all;
    this.status.textContent = begins ? "" : !result ? ui.word("not_checked") : problems.length ? ui.count("problems", problems.length) : ui.word("no_problems");
    this.status.classList.toggle("bad", problems.length > 0);
    this.heading.textContent = ui.count("problems", problems.length);
    this.summary.hidden = !problems.length;
    this.list.replaceChildren(...problems.map((problem) => element("li", {}, this.link(problem))));
    this.mark();
  }

  link({ path, sentence }) {
    const link = element("a", { href: "#builder" }, `${this.ui.placeWords(path)}${sentence}`);
    link.addEventListener("click", (event) => {
      event.preventDefault();
      this.ui.reveal(path);
    });
    return link;
  }

  /** Puts each problem and each advice beside its field, and their number at entries that are closed. */
  mark() {
    const { root } = this.ui;
    for (const note of root.querySelectorAll(".b-note")) note.remove();
    for (const input of root.querySelectorAll("[aria-invalid]")) input.removeAttribute("aria-invalid");
    for (const bad of root.querySelectorAll(".field.bad, .b-choice.bad")) bad.classList.remove("bad");
    const { problems = [], advice = [] } = this.result ?? {};
    for (const problem of problems) this.note(problem, "err", "bad");
    for (const one of advice) this.note(one, "b-advice", "note");
    for (const item of root.querySelectorAll(".b-item, .b-step")) {
      const found = problems.filter(({ path }) => within(path, item.dataset.pointer)).length, count = item.querySelector(".b-count");
      count.textContent = found ? String(found) : "";
      count.title = found ? this.ui.count("problems", found) : "";
      count.classList.toggle("badge", found > 0);
    }
  }

  note({ path, sentence }, kind, icon) {
    const place = this.placeOf(path);
    if (!place) return;
    const note = element("p", { className: `b-note ${kind}` }, this.ui.icon(icon), ` ${sentence}`);
    const field = place.closest(".field, .b-choice, .b-part, .b-body, .b-item, .b-step") ?? place;
    (place.matches(".b-item, .b-step") ? place.querySelector(".b-body") ?? place : field).append(note);
    if (kind !== "err") return;
    const input = place.matches("input, select, textarea") ? place : place.querySelector("input, select, textarea");
    if (!place.matches(".b-item, .b-step, .b-part")) field.classList.add("bad");
    if (!input || place.matches(".b-item, .b-step, .b-part, fieldset")) return;
    note.id = `${input.id}-error`;
    input.setAttribute("aria-invalid", "true");
    const described = (input.getAttribute("aria-describedby") ?? "").split(" ").filter((id) => id && !id.endsWith("-error"));
    input.setAttribute("aria-describedby", [...described, note.id].join(" "));
  }

  /** The element that shows what a pointer names, or the nearest one around it. */
  placeOf(path) {
    let best = null;
    for (const place of this.ui.root.querySelectorAll("[data-pointer]")) {
      if (within(path, place.dataset.pointer) && (!best || place.dataset.pointer.length > best.dataset.pointer.length)) best = place;
    }
    return best;
  }
}
