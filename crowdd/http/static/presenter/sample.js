/* A frame that shows a page on sample tasks, as the presenter frame of a volunteer does: in previews, trials and practice.  The
   frame is opaque, what it says is taken for what a stranger says, and nothing that happens in it reaches the server. */
const MAX_TEXT = 1000000, MAX_SHORTENED = 300, MIN_HEIGHT = 150, MAX_HEIGHT = 4000, ROOM = 420;
const json = (status, value) => ({ status, body: JSON.stringify(value) });
const parsed = (text) => { try { return JSON.parse(text); } catch { return null; } };

export class SampleFrame {
  /**
   * `element` is the frame; it is to be put on the page.
   *   address, label   of the empty document, and the title of the frame
   *   project, tasks   records as the API gives them; `at` is the number of the first task to show
   *   source           the page to show (HTML)
   *   beginning        more of what the frame is told at its begin: `room`, `session`
   *   sent(info, at)   gets an answer that the server would store, and how many tasks are done or left out
   *   skipped(at)      a task was left out
   *   sized(height)    the height that the frame has now
   *   heard            {op: (message) → } what else it may say
   */
  constructor({ address, label, project, tasks, at = 0, source, beginning = {}, sent = () => {}, skipped = () => {}, sized = () => {}, heard = {} }) {
    Object.assign(this, { project, at, sent, skipped, sized, port: null, source: this.framed(project, source) });
    this.tasks = JSON.parse(this.framed(project, JSON.stringify(tasks)));
    this.heard = { ...heard, api: (message) => this.reply(message), size: ({ height }) => this.size(Number(height) || 0) };
    this.element = document.createElement("iframe");
    this.element.title = label;
    this.element.setAttribute("sandbox", "allow-scripts allow-forms");
    this.element.name = JSON.stringify({ project, shortcuts: false, room: ROOM, theme: document.documentElement.dataset.theme || "", ...beginning });
    this.element.src = `${address}?_presenter=1`;
    this.greet = (event) => this.greeted(event);
    addEventListener("message", this.greet);
  }

  /* Files of a locked project have addresses of their own in the frame. */
  framed({ id, uploads }, words) {
    return uploads ? words.replaceAll(`/uploads/project-${id}/`, uploads) : words;
  }

  greeted({ source, origin, data, ports }) {
    if (source !== this.element.contentWindow || origin !== "null") return;
    if (data === "presenter:hello" && ports.length === 1 && !this.port) {
      [this.port] = ports;
      this.port.onmessage = (event) => this.receive(event.data);
    }
    if (data === "preview:ready") source.postMessage(this.source, "*");
  }

  receive(text) {
    if (typeof text !== "string" || text.length > MAX_TEXT) return;
    const message = parsed(text);
    if (message && Object.hasOwn(this.heard, message.op)) this.heard[message.op](message);
  }

  size(height) {
    this.element.style.height = `${Math.min(Math.max(height, MIN_HEIGHT), MAX_HEIGHT)}px`;
    this.sized(height);
  }

  reply({ id, method, url, body }) {
    if (Number.isSafeInteger(id)) this.port.postMessage(JSON.stringify({ id, ...this.answer(String(method), String(url), String(body)) }));
  }

  /* What the API would answer to a volunteer who is alone with these tasks. */
  answer(method, address, body) {
    const { project, tasks, at } = this, url = new URL(address, location.origin), path = url.pathname.replace(/\/+$/, "");
    if (method === "POST" && path === "/api/taskrun") return this.stored(parsed(body) ?? {});
    if (method === "POST" && /^\/api\/task\/\d+\/release$/.test(path)) return this.skip();
    if (method !== "GET") return json(403, { exception_msg: "" });
    if (path === "/api/project") return json(200, [project]);
    if (path === `/api/project/${project.id}`) return json(200, project);
    if (path.endsWith("/newtask")) return json(200, tasks[at + (Number(url.searchParams.get("offset")) || 0)] || {});
    if (path.endsWith("/userprogress")) return json(200, { done: at, total: tasks.length });
    const [, one] = path.match(/^\/api\/task\/(\d+)$/) || [];
    return json(200, one ? tasks.find((task) => task.id === Number(one)) || {} : []);
  }

  stored(run) {
    this.at = Math.min(this.at + 1, this.tasks.length);
    this.sent(run.info ?? {}, this.at);
    return json(200, { id: this.at, ...run });
  }

  skip() {
    this.at = Math.min(this.at + 1, this.tasks.length);
    this.skipped(this.at);
    return json(200, {});
  }

  close() {
    removeEventListener("message", this.greet);
    this.port?.close();
    this.element.remove();
  }
}

/** The page that shows questions: a list of them as data; `suggested` as in questions.js. */
export function questionsPage(list, version, language, suggested) {
  const asked = JSON.stringify({ list, version, language, suggested: suggested ?? undefined }).replaceAll("<", "\\u003c");
  return `<link rel="stylesheet" href="/static/questions/questions.css"><script type="application/json" id="questions">${asked}</script>
    <script type="module" src="/static/questions/questions.js"></script>`;
}

/** An answer as JSON, for a line. */
export function shortened(info) {
  const text = JSON.stringify(info);
  return text.length > MAX_SHORTENED ? `${text.slice(0, MAX_SHORTENED)}…` : text;
}
