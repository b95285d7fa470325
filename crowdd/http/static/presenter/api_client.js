/* Carries out what api_plan.js allows, as the page's volunteer, and tells the page about answers that were saved or not. */
import { plan } from "./api_plan.js";
import { MAX } from "./limits.js";

const AGAIN = 3000; // milliseconds until an answer that did not get through is sent again

/** Requests of the presenters of one project.  `announce(name, detail)` is told what became of answers. */
export class ApiClient {
  constructor(project, announce) {
    Object.assign(this, { project, announce, running: 0, waiting: [], unsent: 0, saves: new Set() });
  }

  /**
   * Answers `message` {id, method, url, body} by `reply(status, text)`, exactly once; status 0 is what a presenter sees
   * without the server.  What is asked offline waits for the line, and an answer to a task until it got through, both as
   * long as `wanted()` is true.
   */
  async carry(message, reply, wanted) {
    let request = null;
    try {
      request = plan(message, this.project, location.origin);
    } catch { /* not a URL, not JSON, too deep */ }
    if (!request) return reply(403, failure(403, "Forbidden", "A presenter may not ask for this."));
    if (request.answer) return reply(200, JSON.stringify(request.answer));
    if (this.waiting.length >= MAX.waiting) return reply(429, failure(429, "TooManyRequests", "Too many requests at once."));
    try {
      const { status, body } = await this.send(message.method, request, wanted);
      reply(status, body);
    } catch {
      reply(0, "");
    }
  }

  async send(method, request, wanted) {
    if (request.saves === undefined) return this.askOnline(method, request, wanted);
    const saving = this.save(method, request, wanted);
    this.saves.add(saving);
    return saving.finally(() => this.saves.delete(saving));
  }

  async save(method, request, wanted) {
    const key = crypto.randomUUID();
    const answer = await this.ask(method, request, key).catch(() => null);
    const settled = answer && answer.status !== 503 ? answer : await this.sendLater(method, request, key, wanted);
    this.report(request.saves, settled);
    return settled;
  }

  /* A presenter that does not wait for its answer to be saved would get the same task again. */
  async askOnline(method, request, wanted) {
    if (request.asksFirst !== undefined) await Promise.allSettled(this.saves);
    while (!navigator.onLine && wanted()) await pause(AGAIN);
    return this.ask(method, request);
  }

  /* The same key each time: an answer whose confirmation got lost is not taken for a second one. */
  async sendLater(method, request, key, wanted) {
    this.announce("presenter:waiting", { count: ++this.unsent });
    try {
      while (wanted()) {
        await pause(AGAIN);
        const answer = await this.ask(method, request, key).catch(() => null);
        if (answer && answer.status !== 503) return answer;
      }
      throw new TypeError("The frame that asked is gone.");
    } finally {
      this.announce("presenter:waiting", { count: --this.unsent });
    }
  }

  async ask(method, request, key) {
    if (this.running >= MAX.running) await new Promise((go) => this.waiting.push(go));
    this.running++;
    try {
      return await this.fetch(method, request, key);
    } finally {
      this.running--;
      if (this.waiting.length) this.waiting.shift()();
    }
  }

  async fetch(method, request, key) {
    const headers = { Accept: "application/json", "X-Presenter": String(this.project.id) };
    if (request.body) headers["Content-Type"] = "application/json";
    if (key) headers["Idempotency-Key"] = key;
    const answer = await fetch(request.url, {
      method, headers, body: request.body, credentials: "same-origin", redirect: "error", cache: "no-store",
      signal: AbortSignal.timeout(60000),
    });
    const body = await answer.text();
    const value = body ? JSON.parse(body) : null;
    const foreign = [].concat(value).some((row) => row && row.project_id !== undefined && row.project_id !== this.project.id);
    if (foreign) return { status: 403, body: failure(403, "Forbidden", "Another project's."), value: null };
    const retryAfter = Number(answer.headers.get("Retry-After")) || 0;
    if (answer.status === 200) this.watch(request, value, answer.headers, retryAfter);
    return { status: answer.status, body, value, retryAfter };
  }

  watch(request, value, headers, retryAfter) {
    if (request.asksFirst !== undefined) this.watchHandout(request, value, headers, retryAfter);
    if (request.releases) this.announce("presenter:released", { task: request.releases });
    if (request.url.endsWith("/userprogress")) this.announce("presenter:progress", { done: value.done, total: value.total });
  }

  watchHandout({ asksFirst: first }, value, headers, retryAfter) {
    const tasks = [].concat(value).filter((task) => task && task.id).map((task) => task.id);
    const wait = headers.get("X-No-Task") === "wait";
    if (tasks.length) this.announce("presenter:handed", { tasks, first });
    else if (first) this.announce("presenter:done", { wait, held: Number(headers.get("X-Held-Tasks")), retryAfter });
  }

  report(task, { status, value, retryAfter }) {
    const { id, code, exception_msg: message } = value || {};
    if (status >= 200 && status < 300) this.announce("presenter:saved", { task, run: id });
    else this.announce("presenter:refused", { task, status, code: code || "", message: message || "", retryAfter });
  }
}

function failure(status, name, why) {
  return JSON.stringify({ status: "failed", status_code: status, exception_cls: name, exception_msg: why });
}

function pause(milliseconds) {
  return new Promise((go) => {
    const over = new AbortController();
    const end = () => { over.abort(); go(); };
    setTimeout(end, milliseconds);
    addEventListener("online", end, { signal: over.signal });
  });
}
