/* One frame with a document of an owner's, and the only half of the bridge that protects anybody: prelude.js lives among the
   presenter's scripts, so every message is taken for one that a hostile presenter wrote.  Messages are JSON *text*: no
   getters, no cycles, no prototypes, a length that can be looked at. */
import { touched, visit } from "./addresses.js";
import { memory } from "./caller.js";
import { keyLabels } from "./key_labels.js";
import { Budget, MAX, text } from "./limits.js";
import { keep } from "./uploads.js";

const isLow = () => matchMedia("(max-height: 30em)").matches; // a phone that lies

/**
 * Shows what `address()` answers in the element `box`.
 *
 * `project` is the record that presenters may see, `client` carries out what they ask of the API, `notice` tells what is
 * wrong with them and has a button to load them again.  `around()` is the height in pixels that the page keeps for itself,
 * `above()` how much of the window's top it covers.  `hear` has more operations by name, each called with a message;
 * `greeted()` is called when a document has said hello.  `isRide`: the document is ours, and the worker answers it.
 */
export class PresenterFrame {
  constructor({ box, project, client, notice, address, isRide = false, around = () => 0, above = () => 0, hear = {}, greeted = () => {} }) {
    Object.assign(this, { box, project, client, notice, address, isRide, around, above, greeted });
    this.keep = memory;
    this.budget = new Budget(MAX.burst, MAX.perSecond);
    this.operations = new Map(Object.entries({ ...this.common(), ...hear }));
    this.frame = this.port = null;
    this.lives = MAX.lives;
    this.shortcuts = true;
    this.listen();
  }

  common() {
    return {
      api: (message) => this.carry(message),
      pong() {},
      open: (message) => visit(message.url, message.tab === true, this.project),
      size: (message) => this.resize(message),
      memory: (message) => this.remember(message),
    };
  }

  listen() {
    const look = () => this.look();
    addEventListener("message", (event) => this.greetOrGo(event));
    addEventListener("scroll", look, { passive: true, capture: true });
    addEventListener("resize", look);
    this.notice.querySelector("button").addEventListener("click", () => this.restart());
    setInterval(() => this.ping(), 3000);
  }

  send(message) {
    if (this.port) this.port.postMessage(JSON.stringify(message));
  }

  focus() {
    if (this.frame) this.frame.focus();
  }

  restart() {
    this.lives = MAX.lives;
    this.open();
  }

  /* A new frame each time, asked for by *this* page: a frame that reloads itself is a stranger, its request brings no cookie. */
  open() {
    this.close();
    this.notice.hidden = true;
    const early = this.early();
    this.frame = early ? early.frame : this.made();
    this.watchLoads(this.frame, early ? early.loads : 0);
    this.budget.refill();
    this.growths = this.height = this.grewAt = this.unanswered = 0;
    this.opened = this.heard = performance.now();
    if (early) for (const event of early.heard) this.greetOrGo(event);
    else this.box.replaceChildren(this.frame);
  }

  /* The first frame, which the page began before this script was here (project/presenter.html), and what it has said. */
  early() {
    const early = window.presenterEarly;
    if (!early || !early.frame || early.frame.parentNode !== this.box) return null;
    removeEventListener("message", early.hear);
    delete window.presenterEarly;
    return early;
  }

  made() {
    const frame = document.createElement("iframe");
    frame.title = this.box.dataset.label;
    // The worker's document brings its sandbox with it (worker.js): a frame that has one does not reach the worker.
    if (!this.isRide) frame.setAttribute("sandbox", "allow-scripts allow-forms");
    if (this.box.dataset.media) frame.allow = "autoplay"; // as in early.js
    frame.name = JSON.stringify(this.beginning());
    frame.src = this.address();
    return frame;
  }

  /* The one thing a frame can read before its first script asks for it; prelude.js empties it. */
  beginning() {
    return {
      project: this.project, shortcuts: this.shortcuts, room: this.room(), low: isLow(), theme: document.documentElement.dataset.theme || "",
      local: localStorage.getItem(this.keep), session: sessionStorage.getItem(this.keep),
    };
  }

  /* A second load without a greeting or a stub's word: the frame shows an error page, because our frame-src held it back. */
  watchLoads(mine, loads) {
    const lost = () => mine === this.frame && performance.now() - this.heard > 500;
    mine.addEventListener("load", () => {
      if (++loads > 1) setTimeout(() => lost() && this.again(), 600);
    });
  }

  close() {
    if (this.port) this.port.close();
    if (this.frame) this.frame.remove();
    this.frame = this.port = null;
  }

  /* Ends the frame with its workers, and forgets what it stored. */
  end() {
    this.close();
    for (const area of [localStorage, sessionStorage]) area.removeItem(this.keep);
  }

  tell(why) {
    document.getElementById("first")?.remove();
    this.notice.firstElementChild.textContent = why;
    this.notice.hidden = false;
  }

  stop(why) {
    this.close();
    this.tell(why);
  }

  /* After location.reload() in the frame; a presenter that does it for ever, without a click, is stopped. */
  again() {
    if (touched().isActive || performance.now() - this.opened > 3000) this.lives = MAX.lives;
    if (--this.lives < 0) this.stop(this.notice.dataset.reloading);
    else this.open();
  }

  spend() {
    if (this.budget.spend()) return true;
    if (this.frame) this.stop(this.notice.dataset.flooding);
    return false;
  }

  /* The window hears two words only, from our frame's own window (not from frames inside it) and from an opaque origin. */
  greetOrGo(event) {
    if (event.source === window || !this.spend() || !this.frame) return;
    if (event.source !== this.frame.contentWindow || event.origin !== "null") return;
    if (typeof event.data !== "string") return;
    if (event.data === "presenter:hello" && event.ports.length === 1) this.greet(event.ports[0]);
    else if (event.data.startsWith("presenter:go ") && !visit(event.data.slice(13), false, this.project)) this.again();
  }

  /* The port belongs to the frame's document: wherever the frame goes next, the port stays behind and dies. */
  greet(its) {
    this.heard = performance.now();
    if (this.port) return this.again();
    this.port = its;
    its.onmessage = (event) => this.receive(event);
    this.send({ op: "shortcuts", on: this.shortcuts });
    keyLabels.then((labels) => this.send({ op: "keys", labels }));
    if (this.media) this.send({ op: "ahead", media: this.media });
    this.look();
    this.greeted();
  }

  /* What the task to come shows: a frame with questions begins to load it before its own scripts are there (hello.js). */
  ahead(media) {
    this.media = media;
    this.send({ op: "ahead", media });
  }

  receive(event) {
    if (event.data instanceof File && this.spend()) return keep(event.data); // a name and bytes, and nothing that runs
    if (!this.spend() || typeof event.data !== "string" || event.data.length > MAX.text) return;
    let message;
    try {
      message = JSON.parse(event.data);
    } catch {
      return;
    }
    if (!message || typeof message !== "object" || !this.operations.has(message.op)) return;
    this.heard = performance.now();
    if (this.unanswered > MAX.silence) this.notice.hidden = true; // it was only busy
    this.unanswered = 0;
    this.operations.get(message.op)(message);
  }

  carry(message) {
    if (!Number.isSafeInteger(message.id)) return;
    const asked = this.port;
    const wanted = () => asked === this.port;
    this.client.carry(message, (status, body) => wanted() && this.send({ id: message.id, status, body }), wanted);
  }

  /* Content as high as the frame plus something would chase it for ever; after ten steps it scrolls inside. */
  resize(message) {
    const wanted = Math.min(Math.max(Math.ceil(Number(message.height)) || 0, 150), MAX.height);
    const now = performance.now();
    this.growths = wanted > this.height && now - this.grewAt < 500 ? this.growths + 1 : 0;
    if (this.growths > 10) return;
    this.grewAt = now;
    this.height = wanted;
    this.frame.style.height = wanted + "px";
    this.look();
  }

  /* What the presenter keeps in "its" localStorage and sessionStorage, apart per project. */
  remember(message) {
    const area = message.area === "local" ? localStorage : sessionStorage;
    const data = text(message.data, MAX.memory + 1);
    if (data.length > MAX.memory) return;
    try {
      area.setItem(this.keep, data);
    } catch { /* full or switched off */ }
  }

  /* What a frame may fill without a scroll bar: the window less what the page keeps around it. */
  room() {
    return Math.max(isLow() ? 200 : 320, innerHeight - this.around());
  }

  /* The part of the frame that is on the screen, so that modals (position: fixed in a high frame) open where people look. */
  look() {
    if (!this.frame) return;
    const place = this.frame.getBoundingClientRect();
    const first = Math.max(this.above(), place.top);
    const top = first - place.top;
    const visible = Math.min(place.height - top, innerHeight - first);
    this.send({ op: "view", top, height: Math.max(200, visible), room: this.room(), low: isLow() });
  }

  /* A presenter in an endless loop: where frames have their own process, the page still works and can end it. */
  ping() {
    this.send({ op: "ping" });
    if (this.port && !document.hidden && ++this.unanswered > MAX.silence) this.tell(this.notice.dataset.silent);
  }
}
