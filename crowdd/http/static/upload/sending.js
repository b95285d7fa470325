// Sends files in parts (tus 1.0.0), a few at a time, and goes on where a connection was cut. A file is
// {file, path, key, state: "waiting" | "sending" | "done" | "failed", sent: bytes, error: sentence}.
const AT_ONCE = 4;
const PAUSES = [500, 2000, 5000, 10000, 20000, 30000, 60000]; // milliseconds
const WINDOW = 10000; // milliseconds over which the rate is measured
const PASSING = new Set([408, 409, 423, 429, 460]);

export class Sending {
  /** `endpoint` creates uploads, `headers` go along; `changed()` is called when anything has changed. */
  constructor({ endpoint, part, headers, changed, gone }) {
    Object.assign(this, { endpoint, part, headers, changed, gone, files: [], paused: false, active: new Map(), samples: [] });
  }

  /** Takes files; `known` are those that the server has, by their keys, with `state` and `url`. */
  add(files, known = new Map()) {
    for (const each of files) {
      const there = known.get(each.key);
      const whole = there && there.state !== "arriving";
      this.files.push({ ...each, url: whole ? null : there?.url, state: whole ? "done" : "waiting", sent: whole ? each.file.size : 0, error: "" });
    }
    this.next();
  }

  next() {
    for (const each of this.files) {
      if (this.paused || this.active.size >= AT_ONCE) break;
      if (each.state === "waiting") this.send(each);
    }
    this.changed();
  }

  send(each) {
    each.state = "sending";
    const upload = new globalThis.tus.Upload(each.file, {
      endpoint: this.endpoint,
      uploadUrl: each.url || null,
      chunkSize: this.part,
      uploadDataDuringCreation: true,
      storeFingerprintForResuming: false,
      retryDelays: PAUSES,
      headers: this.headers,
      metadata: { filename: each.path, key: each.key },
      onShouldRetry: ({ originalResponse }) => {
        const status = originalResponse?.getStatus() || 0;
        return !status || status >= 500 || PASSING.has(status);
      },
      onUploadUrlAvailable: () => { each.url = upload.url; },
      onProgress: (sent) => this.moved(each, sent),
      onSuccess: () => this.end(each, "done", each.file.size),
      onError: (error) => this.fail(each, error),
    });
    this.active.set(each, upload);
    upload.start();
  }

  moved(each, sent) {
    each.sent = sent;
    const now = performance.now();
    this.samples.push([now, this.sent]);
    while (this.samples.length > 2 && now - this.samples[0][0] > WINDOW) this.samples.shift();
    this.changed();
  }

  end(each, state, sent) {
    this.active.delete(each);
    Object.assign(each, { state, sent });
    this.next();
  }

  fail(each, error) {
    const answer = error.originalResponse, body = answer?.getBody() || "";
    try {
      each.error = JSON.parse(body).description;
    } catch {
      each.error = error.originalRequest && !answer ? "" : this.gone; // the browser could not read the file
    }
    this.end(each, "failed", 0);
  }

  pause() {
    this.paused = true;
    for (const [each, upload] of this.active) {
      upload.abort();
      each.state = "waiting";
    }
    this.active.clear();
    this.samples = [];
    this.changed();
  }

  resume() {
    this.paused = false;
    this.samples = [];
    this.next();
  }

  retry() {
    for (const each of this.files) if (each.state === "failed") Object.assign(each, { state: "waiting", error: "" });
    this.resume();
  }

  count(state) {
    return this.files.reduce((sum, each) => sum + (each.state === state), 0);
  }
  get total() {
    return this.files.reduce((sum, each) => sum + each.file.size, 0);
  }
  get sent() {
    return this.files.reduce((sum, each) => sum + each.sent, 0);
  }
  /** Bytes per second lately; null while nobody can tell. */
  get rate() {
    const first = this.samples[0], last = this.samples.at(-1);
    return first && last[0] - first[0] > 500 ? Math.max(0, ((last[1] - first[1]) * 1000) / (last[0] - first[0])) : null;
  }
  get busy() {
    return this.active.size > 0 || this.count("waiting") > 0;
  }
}
