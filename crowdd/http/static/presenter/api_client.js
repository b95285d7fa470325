/* Carries out what api_plan.js allows, as the page's volunteer, and tells the page about answers that were saved or not. */
import { plan } from "./api_plan.js";
import { ask, headers } from "./caller.js";
import { MAX } from "./limits.js";
import * as outbox from "./outbox.js";
import * as uploads from "./uploads.js";

const AGAIN = 3000; // milliseconds until an answer that did not get through is sent again
const FRESH = 20000; // milliseconds in which a presenter must ask for the task that was asked for ahead
export const CLOSED = ["paused", "project_password", "members_only", "barred"];

/** Requests of the presenters of one project.  `announce(name, detail)` is told what became of them; `tasks` are those ahead (TasksAhead). */
export class ApiClient {
  constructor(project, announce, tasks) {
    Object.assign(this, { project, announce, tasks, running: 0, waiting: [], unsent: 0, held: 0, last: Promise.resolve(), saves: new Map(), sending: new Map(), had: new Set(), changed: null, away: null, ahead: null });
    this.restored = this.restore();
    const [, opened] = location.pathname.match(/\/task\/(\d+)/) || [];
    if (opened) this.had.add(opened);
  }

  /**
   * Answers `message` {id, method, url, body} by `reply(status, text)`, exactly once; status 0 is what a presenter sees
   * without the server.  What is asked offline waits for the line as long as `wanted()` is true, and so does everything when
   * the server asks to wait or the volunteer to sign in again.  An answer to a task is sent until it got through, also when the
   * browser was closed meanwhile; without a line its presenter gets it back with the id null, and goes on with tasks ahead.
   */
  async carry(message, reply, wanted) {
    let request = null;
    try {
      request = plan(message, this.project, location.origin);
    } catch { /* not a URL, not JSON, too deep */ }
    if (!request) return reply(403, failure(403, "Forbidden", "A presenter may not ask for this."));
    if (request.answer) return reply(200, JSON.stringify(request.answer));
    if (this.waiting.length + this.held + this.unsent >= MAX.waiting) return reply(429, failure(429, "TooManyRequests", "Too many requests at once."));
    try {
      const { status, body } = await this.send(this.turned({ ...request, method: message.method }), wanted);
      reply(status, body);
    } catch {
      reply(0, "");
    }
  }

  /** Asks for a volunteer's first task while the presenter still loads, so that it is ready in time. */
  askAhead() {
    const request = { method: "GET", url: `/api/project/${this.project.id}/newtask?offset=0` };
    const early = window.presenterEarly?.task; // early.js has asked for it
    const answer = this.fetch(request, early).catch(() => early && this.fetch(request)).catch(() => null);
    this.ahead = { url: request.url, until: performance.now() + FRESH, answer };
    return answer.then((got) => (got && got.status === 200 ? got.value : null));
  }

  /** Whether this page's volunteer would be given a task, and if not, the code of the refusal; without a line nobody knows,
      and it counts as yes.  `keep`: what is handed out for that is not given back. */
  async finds({ keep = false } = {}) {
    const [, opened] = location.pathname.match(/\/task\/(\d+)/) || [];
    const asked = opened ? ["POST", `/api/task/${opened}/lease`, {}] : ["GET", `/api/project/${this.project.id}/newtask`];
    const { status, value } = await ask(...asked).catch(() => ({}));
    if (status !== 200) return { found: status === undefined || status >= 500, code: value?.error_code || "" };
    if (!opened && value?.id && !keep) await ask("POST", `/api/task/${value.id}/release`, {}).catch(() => null);
    return { found: Boolean(opened || value?.id), code: "" };
  }

  /* What was asked for ahead and is not for this request is given up: the task is handed out again when it is asked for. */
  async early(request) {
    const { ahead } = this;
    if (!ahead || (request.asksFirst === undefined && request.saves === undefined)) return null;
    this.ahead = null;
    if (request.url !== ahead.url || performance.now() > ahead.until || (await this.restored).length) return null;
    const answer = await ahead.answer;
    return answer && answer.status === 200 ? answer : null;
  }

  /**
   * The next answer to `task` takes the place of the one before; null: none does.  With `restarts` a frame begins, which finds
   * this task where a volunteer's first one stands, and the other leased ones behind it.
   */
  change(task, restarts = false) {
    this.changed = task ? { task: String(task), restarts } : null;
    this.announce("presenter:changing", { task: task || null });
  }

  turned(request) {
    if (!this.changed || !this.changed.restarts || request.asksFirst === undefined) return request;
    if (request.asksFirst) return { method: "GET", url: `/api/task/${Number(this.changed.task)}` };
    const url = new URL(request.url, location.origin);
    url.searchParams.set("offset", Number(url.searchParams.get("offset")) - 1);
    return { ...request, url: url.pathname + url.search };
  }

  /** To be called when the volunteer has signed in again. */
  resume() {
    if (this.away) this.away.end();
    this.away = null;
  }

  async send(request, wanted) {
    if (request.saves === undefined) return this.read(request, wanted);
    const body = uploads.addressed(request.body);
    return this.begin({ ...request, body, key: randomKey(), files: uploads.namedIn(body) });
  }

  /* Sends an answer, until the server has confirmed it or it waits for the line. */
  begin(request) {
    request.waits = new Promise((wait) => { request.wait = () => wait({ status: 200, body: JSON.stringify({ ...JSON.parse(request.body), id: null }) }); });
    this.tasks.end(request.saves);
    if (this.tasks.isRide) request.wait();
    const saving = this.save(request), over = Promise.race([saving, request.waits]);
    this.saves.set(saving, over);
    saving.finally(() => this.saves.delete(saving)).catch(() => null);
    return over;
  }

  /* What waited when the browser was closed: its tasks are not handed out again before it is sent. */
  async restore() {
    const rows = await outbox.waiting();
    for (const row of rows) {
      this.had.add(String(row.saves));
      this.begin({ ...row, restored: true }).catch(() => null);
    }
    return rows;
  }

  /* A presenter that does not wait for its answer to be saved would get the same task again. */
  async read(request, wanted) {
    if (request.asksFirst === undefined) {
      while (!navigator.onLine && wanted()) await pause(AGAIN);
      return this.patiently(request, wanted);
    }
    await this.restored;
    for (let cut = false; ;) {
      await Promise.allSettled(this.saves.values());
      const ahead = (cut || this.unsent || !navigator.onLine || this.tasks.isRide) && this.tasks.answer(request.url);
      if (ahead) {
        await this.tasks.bring(ahead.value);
        this.watch(request, ahead);
        return ahead;
      }
      if (cut || !navigator.onLine) await pause(AGAIN);
      if (!wanted()) throw new TypeError("The frame that asked is gone.");
      if (!navigator.onLine) continue;
      await Promise.allSettled(this.saves.keys());
      const answer = await this.patiently(request, wanted).catch(() => null);
      if (answer) {
        this.watchRefusal(answer);
        return answer;
      }
      cut = true;
    }
  }

  /** Asks for tasks to come, `count` of them, and answers those that are new; their leases are then as long as those of others. */
  async fetchAhead(count, { whole = false } = {}) {
    this.tasks.asked++;
    try {
      const { status, value } = await ask("GET", `/api/project/${this.project.id}/newtask?limit=${count}`);
      const tasks = status === 200 && Array.isArray(value) ? JSON.parse(exact(this.framed(JSON.stringify(value)))) : [];
      for (const { id } of tasks) this.had.add(String(id));
      if (tasks.length) this.announce("presenter:handed", { tasks: tasks.map(({ id }) => id), first: false });
      for (const { id } of whole ? tasks.slice(1) : []) await ask("POST", `/api/task/${id}/lease`, {});
      const fresh = this.tasks.add(tasks, whole ? this.tasks.lease : undefined);
      return whole ? this.tasks.list() : fresh;
    } finally {
      this.tasks.asked--;
    }
  }

  /* An answer that still waits is replaced where it waits. */
  save(request) {
    const task = String(request.saves), changes = this.changed !== null && this.changed.task === task;
    if (changes) this.change(null);
    const waiting = this.sending.get(task);
    if (changes && waiting) {
      outbox.drop(waiting.key);
      Object.assign(waiting, { body: request.body, key: request.key, files: { ...waiting.files, ...request.files }, replaced: true });
      waiting.kept = outbox.keep(waiting);
      if (this.unsent) request.wait();
      return waiting.delivered;
    }
    request.changes ||= changes;
    request.at ??= Date.now();
    request.before = this.last;
    request.behind = request.restored || this.unsent > 0 || (this.tasks.isRide && this.sending.size > 0);
    request.kept = outbox.keep(request);
    request.kept.then((kept) => kept && this.tasks.ended(Number(task)));
    this.sending.set(task, request);
    request.delivered = this.deliver(request, request.changes).finally(() => {
      if (this.sending.get(task) === request) this.sending.delete(task);
      this.tasks.ended(Number(task));
      request.kept.then(() => outbox.drop(request.key));
    });
    this.last = request.delivered.catch(() => null);
    return request.delivered;
  }

  async deliver(request, changes) {
    let answer = (await this.upload(request)) || (changes ? null : await this.store(request));
    if (!answer || (request.replaced && answer.code === "duplicate")) request.sent = null; // the one before got there
    while (!answer?.unsent && request.sent !== request.body) {
      const refused = await this.upload(request);
      request.sent = request.body;
      answer = refused || (await this.through(correction(request)));
    }
    this.report(request.saves, answer, { changed: changes, waited: request.waited });
    return answer;
  }

  /* Sends the files that an answer names, and puts their addresses in it.  Answers the refusal of a file, with `unsent`; null: all are there. */
  async upload(request) {
    const files = Object.entries(request.files || {}).filter(([key]) => request.body.includes(`sent:${key}`));
    const total = files.reduce((sum, [, { size }]) => sum + size, 0);
    let before = 0;
    for (const [key, file] of files) {
      const sent = await this.uploadOne(request, key, file, (bytes) => this.announce("presenter:uploading", { share: (before + bytes) / total }));
      if (sent.unsent) return sent;
      uploads.settle(key, sent.value.file.file);
      request.body = uploads.addressed(request.body);
      before += file.size;
    }
    if (files.length) this.announce("presenter:uploading", { share: 1 });
    return null;
  }

  async uploadOne(request, key, file, moved) {
    let offset = 0, isCut = false;
    for (;;) {
      const part = await uploads.sendPart(request.saves, key, file, offset, moved).catch(() => null);
      if (isCut && part) this.announce("presenter:waiting", { count: --this.unsent });
      if (!part && !isCut) {
        this.unsent++;
        this.announce("presenter:waiting", { count: this.unsent, task: request.saves, kept: await request.kept });
        request.wait?.();
      }
      isCut = !part;
      const { status = 0, value, retryAfter = 0 } = part || {};
      if (status === 200 && value.file) return part;
      if (status === 200) offset = value.offset;
      else if (value?.error_code === "no_lease" && (await this.hold(request.saves))) continue;
      else if (value?.error_code === "signed_out") await this.signedOut();
      else if (!part || status >= 500 || (status === 429 && retryAfter) || value?.error_code === "upload_locked") await pause(retryAfter ? 1000 * retryAfter : AGAIN);
      else return { ...part, code: value?.error_code || "", body: JSON.stringify(value), unsent: true };
      await request.kept;
    }
  }

  async store(request) {
    const answer = await this.through(request);
    return answer.code === "no_lease" && (await this.hold(request.saves)) ? this.through(request) : answer;
  }

  /* The same key each time: an answer whose confirmation got lost is not taken for a second one.  It is the volunteer's, and
     is sent also when the frame in which it was given is gone.  Those that wait are sent in the order in which they were given. */
  async through(request) {
    const send = () => this.patiently(request, () => true).catch(() => null);
    let answer = request.behind ? null : await send();
    if (answer && answer.status !== 503) return answer;
    request.waited = true;
    this.unsent++;
    const kept = await request.kept;
    this.announce("presenter:waiting", { count: this.unsent, task: request.restored ? null : request.saves, kept });
    request.wait?.();
    for (let next = request.behind ? request.before : pause(AGAIN); !answer || answer.status === 503; next = pause(AGAIN)) {
      await next;
      if (navigator.onLine) answer = await send();
    }
    request.behind = false;
    this.announce("presenter:waiting", { count: --this.unsent });
    return answer;
  }

  /* Reserves the task again for a volunteer who signed in meanwhile, or whose task was given back. */
  async hold(task) {
    if (!this.had.has(String(task))) return false;
    const answer = await ask("POST", `/api/task/${Number(task)}/lease`, {}).catch(() => null);
    return answer !== null && answer.status === 200;
  }

  async patiently(request, wanted) {
    for (;;) {
      const answer = await this.ask(request);
      if (answer.code !== "signed_out" && !(answer.status === 429 && answer.retryAfter)) return answer;
      this.held++;
      await (answer.status === 429 ? this.throttled(answer.retryAfter) : this.signedOut()).finally(() => this.held--);
      if (!wanted()) throw new TypeError("The frame that asked is gone.");
    }
  }

  async throttled(seconds) {
    this.announce("presenter:throttled", { until: Date.now() + 1000 * seconds });
    await pause(1000 * seconds);
  }

  async signedOut() {
    if (!this.away) {
      this.away = {};
      this.away.over = new Promise((end) => { this.away.end = end; });
      this.announce("presenter:signed-out");
    }
    await this.away.over;
  }

  async ask(request) {
    if (this.running >= MAX.running) await new Promise((go) => this.waiting.push(go));
    this.running++;
    try {
      const answer = (await this.early(request)) || (await this.fetch(request));
      if (answer.status === 200) this.watch(request, answer);
      return answer;
    } finally {
      this.running--;
      if (this.waiting.length) this.waiting.shift()();
    }
  }

  /* `early`: what answers a request that went out before. */
  async fetch(request, early = null) {
    const said = headers();
    const body = this.stored(request.body);
    request.sent = request.body;
    if (body) said["Content-Type"] = "application/json";
    if (request.key) said["Idempotency-Key"] = request.key;
    const answer = await (early ?? fetch(request.url, {
      method: request.method, headers: said, body, credentials: "same-origin", redirect: "error",
      cache: "no-store", signal: AbortSignal.timeout(60000),
    }));
    const text = exact(this.framed(await answer.text()));
    const value = text ? JSON.parse(text) : null;
    const foreign = [].concat(value).some((row) => row && row.project_id !== undefined && row.project_id !== this.project.id);
    if (foreign) return { status: 403, body: failure(403, "Forbidden", "Another project's."), value: null };
    const retryAfter = Number(answer.headers.get("Retry-After")) || 0;
    return { status: answer.status, headers: answer.headers, body: text, value, retryAfter, code: (!answer.ok && value && value.error_code) || "" };
  }

  /* Files of a locked project have another address in the frame, which sends no cookies; answers keep the stored one. */
  framed(text) {
    const { id, uploads } = this.project;
    return uploads ? text.replaceAll(`/uploads/project-${id}/`, uploads) : text;
  }

  stored(text) {
    const { id, uploads } = this.project;
    return uploads && text ? text.replaceAll(uploads, `/uploads/project-${id}/`) : text;
  }

  watch(request, answer) {
    const { value } = answer;
    if (request.asksFirst !== undefined) this.watchHandout(request, answer);
    if (request.releases) {
      this.tasks.end(request.releases);
      this.tasks.ended(request.releases);
      this.announce("presenter:released", { task: request.releases });
    }
    if (request.url.endsWith("/userprogress")) this.announce("presenter:progress", { done: value.done, total: value.total });
  }

  watchHandout({ asksFirst: first }, { value, headers, retryAfter }) {
    const tasks = [].concat(value).filter((task) => task && task.id).map((task) => task.id);
    const reason = headers.get("X-No-Task");
    for (const task of tasks) this.had.add(String(task));
    if (tasks.length) this.announce("presenter:handed", { tasks, first });
    else if (first && this.tasks.isRide) this.announce("presenter:ride-over", {});
    else if (first) this.announce("presenter:done", { reason, held: Number(headers.get("X-Held-Tasks")), retryAfter });
  }

  watchRefusal({ status, code }) {
    if (status === 404 || CLOSED.includes(code)) this.announce("presenter:closed", { code: status === 404 ? "gone" : code });
  }

  report(task, { status, value }, { changed, waited }) {
    const { id, error_code: code, exception_msg: message, timeout, gold } = value || {};
    if (status >= 200 && status < 300) this.announce("presenter:saved", { task, run: id, late: typeof timeout === "number", changed, gold, waited });
    else this.announce("presenter:refused", { task, status, code: code || "", message: message || "" });
  }
}

/** JSON in which each number that a script would round is a text of the same digits. */
export function exact(json) {
  if (!/[0-9][0-9.]{15}|[0-9][eE][-+]?[0-9]{3}/.test(json)) return json;
  return json.replace(/"(?:[^"\\]|\\.)*"|-?[0-9][0-9.eE+-]*/g, (token) => (token[0] === '"' || figures(token) === figures(String(Number(token))) ? token : `"${token}"`));
}

/* A number as its digits and their power of ten, so that equal numbers have equal ones. */
function figures(number) {
  const [, sign, whole, part = "", power = 0] = number.match(/^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([-+]?[0-9]+))?$/) || [];
  const digits = `${whole}${part}`.replace(/^0+/, ""), significant = digits.replace(/0+$/, "");
  return significant && `${sign}${significant}e${Number(power) - part.length + digits.length - significant.length}`;
}

function correction({ saves, body, kept, wait }) {
  const { info = null } = JSON.parse(body);
  return { method: "POST", url: `/api/task/${Number(saves)}/correct`, body: JSON.stringify({ info }), saves, kept, wait };
}

/* crypto.randomUUID() is for https only. */
function randomKey() {
  return Array.from(crypto.getRandomValues(new Uint32Array(4)), (number) => number.toString(36)).join("-");
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
