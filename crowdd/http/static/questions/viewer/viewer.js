/* The viewer of all pictures of declared questions, with marks and without: wheel, fingers, keys and buttons enlarge, move and turn
   the picture and change how bright it is.

   The sheet is as large as the picture is on the screen, so that what is drawn in it keeps the width of its lines; it is moved and
   turned by a transform.  Who draws in it sets
     draws(event)    whether a press there draws or moves a mark; otherwise it moves the picture
     interrupt()     a second finger has come: what the first one began is no mark
     turned()        the picture was turned */
import { element } from "../element.js";
import { whenReleased } from "../pointer.js";
import { Fingers } from "./fingers.js";
import { Overview } from "./overview.js";
import { ACTS, KEYS, Toolbar } from "./toolbar.js";
import { Viewport } from "./viewport.js";

const STEP = 1.5, ARROW = 60; // pixels of the screen for an arrow key
const WHEEL = 0.002, PINCH = 0.01; // how much a pixel of a wheel, and of two fingers on a touch pad, enlarges
const LINE = 33, FASTEST = 200; // pixels of a line of a wheel, and of one turn of it
const SLIP = 4, HOLD = 10; // pixels after which a press moves the picture, and after which it is no click
const SETTLED = 300; // milliseconds until screen readers are told where it is
const ARROWS = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const TYPED = "textarea, select, input:not([type=checkbox], [type=radio], [type=range]), [contenteditable]";
const PRESSED = "button, summary, a, input";

let used = null; // whose keys they are: the viewer that was used last, where it is shown

export class Viewer {
  /** Shows an image in `place`; `word` has the words of the page. */
  constructor(place, image, word) {
    Object.assign(this, { place, image, word, viewport: new Viewport(), tiles: null, large: false, spacing: false, press: null, draws: () => false });
    this.ground = element("div", { className: "ground", dir: "ltr" });
    this.sheet = element("div", { className: "sheet", dir: "ltr" }, image);
    this.overview = new Overview((point, size) => this.go(point, size));
    const hint = element("p", { hidden: true, id: `arrows-${Math.random().toString(36).slice(2)}` }, word("view_arrows"));
    this.view = element("div", { className: "view", dir: "ltr", tabIndex: 0, role: "application", "aria-label": word("zoom"), "aria-describedby": hint.id }, this.ground, this.sheet, this.overview.element);
    this.toolbar = new Toolbar(word, { act: (name) => this.act(name), toned: (filter) => this.view.style.setProperty("--tone", filter || "none") });
    place.classList.add("viewer");
    place.append(this.view, this.toolbar.element, hint);
    this.listen();
    this.sizes = new ResizeObserver(([{ contentRect }]) => whenReleased(() => this.fill(contentRect)));
    this.sizes.observe(this.view);
  }

  listen() {
    const on = (target, name, act, options) => target.addEventListener(name, act, options), { view } = this;
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) on(view, name, (event) => this.hear(event), { capture: true });
    this.fingers = new Fingers(view, { begin: () => this.pinch(), move: (change) => this.pinched(change) });
    for (const name of ["touchstart", "touchmove"]) on(view, name, (event) => event.touches.length > 1 && event.cancelable && event.preventDefault(), { passive: false });
    on(view, "wheel", (event) => this.wheel(event), { passive: false });
    on(view, "dblclick", (event) => this.draws(event) || this.zoomTo(this.viewport.scale * STEP, event));
    on(view, "mousedown", (event) => event.button === 1 && event.preventDefault()); // the browser's own way of scrolling
    on(view, "dragstart", (event) => event.preventDefault());
    on(view, "keydown", (event) => this.move(event));
    on(this.place, "focusin", () => { used = this; });
    on(window, "keydown", (event) => this.space(event, true), { capture: true });
    on(window, "keyup", (event) => this.space(event, false), { capture: true });
    on(window, "blur", () => this.hold(false));
    on(window, "keydown", (event) => {
      if (event.key !== "Escape" || !this.large || event.defaultPrevented) return;
      event.preventDefault();
      this.enlarge(false);
    });
    on(document, "focusin", (event) => this.large && !this.place.contains(event.target) && this.enlarge(false)); // nobody types behind it
  }

  /**
   * Shows a picture of a size in its own pixels, the whole of it; `tiles` draw it if the image does not.  `finer()` is called once,
   * when it is to be larger on the screen than its pixels, and resolves when it is refined.
   */
  begin({ width, height }, tiles = null, finer = null) {
    if (this.tiles !== tiles) this.tiles?.destroy();
    Object.assign(this, { tiles, finer, refined: null });
    this.place.classList.remove("refined");
    if (this.large) this.enlarge(false);
    this.place.style.setProperty("--ratio", width / height);
    this.viewport.begin({ width, height });
    this.toolbar.reset();
    this.overview.begin(tiles ? tiles.small : this.image.currentSrc || this.image.src);
    this.fill(this.view.getBoundingClientRect());
  }
  /** Tiles of the picture that is shown, which have more pixels than its image; the image goes when there is something to see of them. */
  refine(tiles) {
    this.tiles = tiles;
    this.viewport.fine = tiles.width / this.viewport.picture.width;
    tiles.show(this.viewport);
    tiles.complete.then(() => this.tiles === tiles && this.place.classList.add("refined"));
  }
  fill({ width, height }) {
    this.viewport.fill({ width, height });
    this.show();
  }

  show() {
    const { viewport, sheet, view, place } = this, { picture: { width, height }, scale, degrees } = viewport;
    const [left, top] = viewport.inRoom([width / 2, height / 2]);
    Object.assign(sheet.style, { width: `${width * scale}px`, height: `${height * scale}px`, transform: `translate(${left}px, ${top}px) translate(-50%, -50%) rotate(${degrees}deg)` });
    place.classList.toggle("zoomed", !viewport.isWhole);
    view.classList.toggle("pixels", scale >= 3 * viewport.fine); // pixels of the picture, as they are
    this.overview.show(viewport);
    this.tiles?.show(viewport);
    if (scale * devicePixelRatio > 1) this.finest();
  }
  /* Resolves when the picture has all pixels that it can have. */
  finest() {
    return (this.refined ??= Promise.resolve(this.finer?.()));
  }
  changed() {
    used = this;
    this.show();
    if (!this.status) this.place.append(this.status = element("p", { className: "sr", role: "status" }));
    clearTimeout(this.settling);
    this.settling = setTimeout(() => {
      const zoom = new Intl.NumberFormat(document.documentElement.lang || "en", { style: "percent" }).format(this.viewport.zoom);
      this.status.textContent = this.word("view_state", { zoom, degrees: this.viewport.degrees });
    }, SETTLED);
  }

  /* ---- acts ---- */

  keys() {
    return Object.fromEntries(Object.entries(KEYS).map(([key, word]) => [key, this.word(word)]));
  }
  /** True for a key that does something with the picture that was used last, or with this one. */
  key(key) {
    const name = ACTS[key.toLowerCase()];
    if (!name) return false;
    (used?.view.checkVisibility() ? used : this).act(name);
    return true;
  }

  act(name) {
    const { viewport } = this;
    if (name === "in" || name === "out") viewport.scaleTo(viewport.scale * (name === "in" ? STEP : 1 / STEP));
    else if (name === "whole") viewport.fit();
    else if (name === "full") return this.full();
    else if (name === "large") return this.enlarge(!this.large);
    else if (name === "rotate") viewport.turn();
    else if (this.toolbar.act(name)) return;
    this.changed();
    if (name === "rotate") this.turned?.();
  }

  /* A pixel of the finest picture for each of the screen: once it is there, unless something else was asked for meanwhile. */
  async full() {
    const { viewport, refined } = this, to = () => {
      viewport.scaleTo(viewport.fine);
      this.changed();
      return viewport.scale;
    }, scale = to(), loads = this.finest();
    if (refined !== loads && (await loads, this.refined === loads && viewport.scale === scale)) to();
  }

  zoomTo(scale, event) {
    this.viewport.scaleTo(scale, this.at([event.clientX, event.clientY]));
    this.changed();
  }
  at([x, y]) {
    const { left, top } = this.view.getBoundingClientRect();
    return [x - left, y - top];
  }

  /* The page scrolls by a wheel that would make the whole picture smaller. */
  wheel(event) {
    const { deltaY, deltaMode, ctrlKey } = event, { viewport } = this;
    if (!deltaY || (deltaY > 0 && viewport.isWhole && !ctrlKey)) return;
    event.preventDefault();
    const pixels = Math.max(-FASTEST, Math.min(FASTEST, deltaY * (deltaMode ? LINE : 1)));
    const scale = viewport.scale * Math.exp(-pixels * (ctrlKey && Math.abs(pixels) < 50 ? PINCH : WHEEL));
    this.zoomTo(deltaY > 0 && !ctrlKey ? Math.max(scale, viewport.whole) : scale, event);
  }

  move(event) {
    const step = ARROWS[event.key];
    if (!step || event.target !== this.view || event.ctrlKey || event.altKey || event.metaKey) return;
    event.preventDefault();
    this.viewport.panBy(step[0] * ARROW, step[1] * ARROW);
    this.changed();
  }

  /* Over all that is on the screen of the frame. */
  enlarge(large) {
    this.large = large;
    this.place.popover = large ? "manual" : null;
    if (large) this.place.showPopover();
    this.toolbar.press("large", large);
    if (large) this.view.focus({ preventScroll: true });
  }

  /* A press on the overview, at a point of it. */
  go([x, y], size) {
    const { turned, degrees, scale, picture } = this.viewport, small = Object.assign(new Viewport(), { room: size, picture, degrees });
    small.fit();
    this.viewport.turnTo(small.inPicture([x, y]));
    this.changed();
  }

  /* ---- hands ---- */

  pinch() {
    this.press = null;
    this.interrupt?.();
    return true;
  }
  pinched({ from, to, scale }) {
    const { viewport } = this;
    viewport.scaleTo(viewport.scale * scale, this.at(from));
    viewport.panBy(to[0] - from[0], to[1] - from[1]);
    this.changed();
  }

  /* The space bar moves the picture while the pointer is over it, unless somebody types or presses buttons by keyboard. */
  space(event, down) {
    if (event.key !== " " || (!down && !this.spacing)) return;
    const focused = document.activeElement, typed = focused?.matches(TYPED) || focused?.matches(`:is(${PRESSED}):focus-visible`);
    if (down && !this.spacing && (typed || !this.view.matches(":hover"))) return;
    event.preventDefault();
    event.stopImmediatePropagation();
    this.hold(down);
  }
  hold(on) {
    this.spacing = on;
    this.view.classList.toggle("held", on);
  }

  hear(event) {
    if (this.overview.element.contains(event.target)) return;
    const { type, pointerId, isPrimary, clientX, clientY, button } = event;
    if (type === "pointerdown") {
      const moves = this.spacing || button === 1, picture = moves || (isPrimary && !button && !this.draws(event) && this.movesBy(event));
      this.press = picture ? { pointerId, x: clientX, y: clientY, from: [clientX, clientY], begun: false, moves } : null;
      if (moves) this.take(event);
    } else if (this.press?.pointerId === pointerId) this.drag(event);
  }
  /* A finger scrolls the page while the whole picture is seen. */
  movesBy({ pointerType }) {
    return pointerType !== "touch" || !this.viewport.isWhole;
  }
  drag(event) {
    const { press } = this, { type, clientX, clientY } = event, far = Math.hypot(clientX - press.from[0], clientY - press.from[1]);
    if (press.moves) this.take(event);
    if (type === "pointermove" && (press.begun ||= far > SLIP)) {
      if (far > HOLD) this.view.setPointerCapture(press.pointerId);
      this.viewport.panBy(clientX - press.x, clientY - press.y);
      Object.assign(press, { x: clientX, y: clientY });
      this.changed();
    }
    if (type !== "pointermove") this.press = null;
  }
  /* Nobody draws by it. */
  take(event) {
    event.preventDefault();
    event.stopImmediatePropagation();
    if (event.type === "pointerdown") this.view.setPointerCapture(event.pointerId);
  }
}
