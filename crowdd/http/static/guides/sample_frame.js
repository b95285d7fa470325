// A frame that shows a page of questions or of a tutorial, as the preview of a presenter does: opaque, and nothing in it reaches the
// server. What it says is taken for what a stranger says.
const MAX_TEXT = 1000000, MAX_HEIGHT = 4000;
const json = (status, value) => ({ status, body: JSON.stringify(value) });

export class SampleFrame {
  /** `address` is that of the empty document, `project` the record, `answered(info)` gets an answer, `done()` the end of a tutorial. */
  constructor({ box, address, project, label, room = 520, answered = () => {}, done = () => {} }) {
    Object.assign(this, { box, address, project, label, room, answered, done });
    this.heard = (event) => this.greet(event);
    addEventListener("message", this.heard);
  }

  /** Shows a page (HTML) with a task, `info` of one or null. */
  show(source, info) {
    this.close(false);
    Object.assign(this, { source: this.framed(source), task: info && { id: 1, project_id: this.project.id, info: JSON.parse(this.framed(JSON.stringify(info))) }, sent: false });
    this.frame = document.createElement("iframe");
    this.frame.title = this.label;
    this.frame.setAttribute("sandbox", "allow-scripts allow-forms");
    this.frame.name = JSON.stringify({ project: this.project, shortcuts: false, room: this.room, theme: document.documentElement.dataset.theme || "" });
    this.frame.src = this.address;
    this.box.replaceChildren(this.frame);
  }

  /* Files of a locked project have addresses of their own in the frame. */
  framed(words) {
    return this.project.uploads ? words.replaceAll(`/uploads/project-${this.project.id}/`, this.project.uploads) : words;
  }

  greet(event) {
    if (!this.frame || event.source !== this.frame.contentWindow || event.origin !== "null") return;
    if (event.data === "presenter:hello" && event.ports.length === 1 && !this.port) {
      [this.port] = event.ports;
      this.port.onmessage = (message) => this.receive(message);
    }
    if (event.data === "preview:ready") this.frame.contentWindow.postMessage(this.source, "*");
  }

  receive({ data }) {
    if (typeof data !== "string" || data.length > MAX_TEXT) return;
    let message = null;
    try { message = JSON.parse(data); } catch { return; }
    if (message?.op === "size") this.frame.style.height = `${Math.min(Math.max(Number(message.height) || 0, 150), MAX_HEIGHT)}px`;
    if (message?.op === "done") this.done();
    if (message?.op !== "api" || !Number.isSafeInteger(message.id)) return;
    this.port.postMessage(JSON.stringify({ id: message.id, ...this.answer(String(message.method), String(message.url), String(message.body)) }));
  }

  /* What the API would answer to a volunteer who is alone with this task. */
  answer(method, address, body) {
    const path = new URL(address, location.origin).pathname.replace(/\/+$/, "");
    if (method === "POST" && path === "/api/taskrun") return this.saved(body);
    if (method !== "GET") return json(403, { exception_msg: "" });
    if (path === "/api/project") return json(200, [this.project]);
    if (/\/newtask$/.test(path)) return json(200, this.task && !this.sent && !/offset=[1-9]/.test(address) ? this.task : {});
    if (/\/userprogress$/.test(path)) return json(200, { done: Number(this.sent), total: 1 });
    if (path === "/api/task/1") return json(200, this.task ?? {});
    return json(200, path === `/api/project/${this.project.id}` ? this.project : []);
  }

  saved(body) {
    let run = {};
    try { run = JSON.parse(body); } catch { /* nothing was answered */ }
    this.sent = true;
    this.answered(run.info ?? {});
    return json(200, { id: 1, ...run });
  }

  close(whole = true) {
    this.port?.close();
    this.frame?.remove();
    this.port = this.frame = null;
    if (whole) removeEventListener("message", this.heard);
  }
}

/** The page that asks questions: a list of them as data. */
export function questionsPage(list, language) {
  const asked = JSON.stringify({ list, version: 1, language }).replaceAll("<", "\\u003c");
  return `<link rel="stylesheet" href="/static/questions/questions.css"><script type="application/json" id="questions">${asked}</script>
    <script type="module" src="/static/questions/questions.js"></script>`;
}
