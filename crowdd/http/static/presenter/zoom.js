/* Zooming in the pictures of a presenter, in its frame.  prelude.js imports this once a picture with the attribute `data-zoom`
   is shown, and it puts a toolbar beside it.  The viewer itself (OpenSeadragon) is loaded when a volunteer first asks for it:
   by a button, a key, a double click, Ctrl and the wheel, or two fingers.  It opens the same picture over the first one and
   reads no pixels, so pictures of other sites work, too.  Another `src` puts everything back.

   After each change the picture gets the event `crowdd:zoom`, which bubbles, with detail {viewer, zoom, rotation, inverted, large}: the
   OpenSeadragon viewer or null, how many times larger than the whole picture, degrees clockwise, and two booleans. */

const STEP = 1.5, MAX_PIXEL = 10, ARROW = 60; // pixels of the screen for a pixel of the picture; for an arrow key
const WHOLE = 1.001; // below this the whole picture is shown
const SETTLED = 300; // milliseconds until screen readers are told where it is
const BUTTONS = [ // name, key, drawing, whether it is on or off
  ["in", "+", "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20M10.5 8v5M8 10.5h5"],
  ["out", "-", "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20M8 10.5h5"],
  ["whole", "0", "M4 5h16v14H4zM8 9h8v6H8z"],
  ["rotate", "R", "M19 12a7 7 0 1 1-2.1-5M19 3v4.5h-4.5"],
  ["invert", "I", "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 3v18M12 7h6M12 11h8.5M12 15h8M12 19h5", true],
  ["large", "E", "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7", true],
];
const KEYS = Object.fromEntries([...BUTTONS.map(([name, key]) => [key.toLowerCase(), name]), ["=", "in"]]);
const PERCENT = new Intl.NumberFormat(document.documentElement.lang || "en", { style: "percent" });
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const LOOK = `
  :host { position: absolute; inset: 0; pointer-events: none; color-scheme: inherit; }
  :host([hidden]), [hidden] { display: none !important; }
  .box { position: absolute; inset: 0; }
  .box:popover-open { inset: var(--view-top, 0) 0 auto 0; box-sizing: border-box; inline-size: 100%; block-size: var(--view-height, 100%);
    margin: 0; padding: 0; border: 0; overflow: hidden; color: inherit; background: #060b10; }
  .stage { position: absolute; inset: 0 0 3.25rem; pointer-events: auto; background: #060b10; }
  .box:not(.open) .stage { visibility: hidden; pointer-events: none; }
  .inverted .openseadragon-canvas > canvas { filter: invert(1); }
  .stage :focus-visible { outline: 3px solid var(--focus, Highlight); outline-offset: -3px; }
  .bar { position: absolute; inset-block-end: .25rem; inset-inline: 0; display: flex; gap: .25rem; justify-content: center; }
  .bar.busy { cursor: progress; }
  button { box-sizing: border-box; display: grid; place-items: center; inline-size: 2.75rem; block-size: 2.75rem; padding: 0; pointer-events: auto;
    color: var(--ink, ButtonText); background: var(--sheet, ButtonFace); border: 1px solid var(--edge, ButtonBorder); border-radius: 8px; cursor: pointer; }
  @media (hover: hover) { button:hover { background: var(--wash, ButtonFace); } }
  button:focus-visible { outline: 3px solid var(--focus, Highlight); outline-offset: 1px; }
  button[aria-pressed=true] { color: var(--on-blue, HighlightText); background: var(--blue, Highlight); }
  button[aria-disabled=true] { color: var(--soft, GrayText); cursor: default; }
  svg { inline-size: 1.375rem; block-size: 1.375rem; fill: none; stroke: currentColor; stroke-width: 1.75; stroke-linecap: round; stroke-linejoin: round; }
  [role=status] { position: absolute; inline-size: 1px; block-size: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
  @media (max-width: 55.99em) {
    .bar { justify-content: end; inset-inline-end: .25rem; }
    .box.open .bar { justify-content: center; inset-inline-end: 0; }
    .box:not(.open) button:not([name=in], [name=large]) { display: none; }
  }
  @media (forced-colors: active) { button[aria-pressed=true] { forced-color-adjust: none; color: HighlightText; background: Highlight; } }`;

const all = new Set();
let used = null; // whose keys they are: the picture that was used last, else the first
let library = null;

/* OpenSeadragon, beside one that the presenter may have. */
function loadLibrary(address) {
  library ??= new Promise((resolve, reject) => {
    const script = document.createElement("script"), theirs = window.OpenSeadragon;
    Object.assign(script, { src: address, crossOrigin: "anonymous" });
    script.onload = () => {
      resolve(window.OpenSeadragon);
      if (theirs) window.OpenSeadragon = theirs;
    };
    script.onerror = () => {
      library = null;
      script.remove();
      reject(new Error("The viewer did not load."));
    };
    document.head.append(script);
  });
  return library;
}

/** Gives `image` a toolbar.  `words` has the names of the buttons, `viewer` is the address of OpenSeadragon. */
export function zoomable(image, { words, viewer, offer }) {
  if (![...all].some((each) => each.image === image)) all.add(new Zoom(image, words, viewer));
  offer(Object.fromEntries(BUTTONS.map(([name, key]) => [key, words[name]])));
}

document.addEventListener("crowdd:key", (event) => {
  const name = KEYS[event.detail.key.toLowerCase()], zoom = pressed();
  if (event.defaultPrevented || !name || !zoom) return;
  event.preventDefault();
  zoom.act(name);
});
addEventListener("keydown", (event) => {
  const large = [...all].find((each) => each.large);
  if (event.key !== "Escape" || !large || event.defaultPrevented) return;
  event.preventDefault();
  large.enlarge(false);
});
function pressed() {
  for (const each of all) if (!each.image.isConnected) each.end();
  const shown = [...all].filter((each) => each.host.getClientRects().length);
  return shown.includes(used) ? used : shown[0];
}

class Zoom {
  constructor(image, words, address) {
    Object.assign(this, { image, words, address, viewer: null, opening: null, large: false, inverted: false, pinch: null });
    this.host = document.createElement("div");
    this.shadow = this.host.attachShadow({ mode: "open" });
    this.shadow.innerHTML = `<style>${LOOK}</style><div class="box"><div class="stage" dir="ltr"></div><div class="bar" role="toolbar"></div></div><p role="status"></p><p id="arrows" hidden></p>`;
    [this.box, this.stage, this.bar, this.status] = [".box", ".stage", ".bar", "p"].map((name) => this.shadow.querySelector(name));
    this.shadow.getElementById("arrows").textContent = words.arrows;
    this.bar.setAttribute("aria-label", words.picture);
    this.buttons = BUTTONS.map((each, number) => this.button(each, number));
    this.bar.append(...this.buttons);
    this.size = new ResizeObserver(() => this.place());
    this.change = new MutationObserver(() => this.reset());
    this.listen();
    image.after(this.host);
    this.place();
    this.show();
  }

  button([name, key, drawing, toggles], number) {
    const button = document.createElement("button"), words = this.words[name];
    Object.assign(button, { type: "button", name, ariaLabel: words, title: `${words} (${key})`, tabIndex: number ? -1 : 0 });
    button.setAttribute("aria-keyshortcuts", key === "+" ? "Plus" : key);
    if (toggles) button.ariaPressed = "false";
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}"/></svg>`;
    button.addEventListener("click", () => this.act(name));
    return button;
  }

  listen() {
    this.size.observe(this.image);
    this.change.observe(this.image, { attributeFilter: ["src"] });
    this.image.addEventListener("load", () => this.place());
    this.image.addEventListener("error", () => this.place());
    this.image.addEventListener("dblclick", (event) => this.act("in", event));
    this.image.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      if (event.deltaY < 0) this.act("in", event);
    }, { passive: false });
    this.image.style.touchAction = "pan-x pan-y"; // two fingers are ours, one scrolls the page
    for (const kind of ["touchstart", "touchmove", "touchend", "touchcancel"]) this.image.addEventListener(kind, (event) => this.touch(event), { passive: false });
    this.stage.addEventListener("keydown", (event) => this.key(event), true);
    this.bar.addEventListener("keydown", (event) => this.along(event));
    this.shadow.addEventListener("keydown", (event) => {
      if (/^(Enter| )$/.test(event.key)) event.stopPropagation(); // it presses a button here, and is no shortcut
    });
    this.shadow.addEventListener("focusin", () => { used = this; });
    this.leave = (event) => { if (this.large && event.target !== this.host) this.enlarge(false); }; // nobody types behind it
    document.addEventListener("focusin", this.leave);
  }

  /* Over the whole place for the picture, or over the picture where a presenter has no such place. */
  place() {
    const { image, host } = this;
    host.hidden = !image.naturalWidth || !image.offsetWidth;
    if (image.parentElement?.matches(".see, .see .picture")) return;
    const sides = { inset: "auto", left: image.offsetLeft, top: image.offsetTop, width: image.offsetWidth, height: image.offsetHeight };
    for (const [side, value] of Object.entries(sides)) host.style[side] = typeof value === "number" ? value + "px" : value;
  }

  key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const arrow = ARROWS[event.key], name = /^[-+=0]$/.test(event.key) && KEYS[event.key];
    if (!arrow && !name) return;
    event.preventDefault();
    if (name) this.act(name);
    else this.pan(...arrow);
  }

  /* A toolbar is one stop of the Tab key. */
  along(event) {
    const shown = this.buttons.filter((button) => button.offsetWidth), at = shown.indexOf(this.shadow.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (getComputedStyle(this.bar).direction === "rtl" ? -1 : 1);
    if (!step || at < 0) return;
    event.preventDefault();
    this.stop(shown[(at + step + shown.length) % shown.length]).focus();
  }
  stop(button) {
    for (const each of this.buttons) each.tabIndex = each === button ? 0 : -1;
    return button;
  }

  /* The first two fingers, on the picture itself; later ones are the viewer's. */
  touch(event) {
    if (event.touches.length < 2) {
      this.pinch = null;
      return;
    }
    event.preventDefault();
    const [one, two] = event.touches, distance = Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY);
    const place = { clientX: (one.clientX + two.clientX) / 2, clientY: (one.clientY + two.clientY) / 2 };
    this.pinch ??= { distance, from: this.zoom(), place };
    this.pinch.wanted = this.pinch.from * distance / this.pinch.distance;
    if (this.viewer) this.zoomTo(this.pinch.wanted, this.pinch.place);
    else if (this.pinch.wanted > 1) this.act("pinch", place);
  }

  /* What a button or key does.  `place` has the point of the screen that stays where it is. */
  async act(name, place) {
    used = this;
    if (name === "whole") return this.reset();
    if (name === "out" && !this.viewer) return;
    try {
      await this.open();
    } catch {
      this.tell(this.words.failed);
      return;
    }
    if (!this.viewer) return; // another picture came
    if (name === "in" || name === "out") this.zoomTo(this.zoom() * (name === "in" ? STEP : 1 / STEP), place);
    else if (name === "pinch") this.zoomTo(this.pinch?.wanted ?? STEP, place);
    else if (name === "rotate") this.rotate();
    else if (name === "large") this.enlarge(!this.large);
    else this.inverted = !this.inverted;
    this.show();
  }

  zoom() {
    return this.viewer ? this.viewer.viewport.getZoom() / this.viewer.viewport.getHomeZoom() : 1;
  }
  zoomTo(zoom, place) {
    const { viewport } = this.viewer, stage = this.stage.getBoundingClientRect();
    const point = place && viewport.pointFromPixel(new this.library.Point(place.clientX - stage.left, place.clientY - stage.top), true);
    viewport.zoomTo(Math.max(1, zoom) * viewport.getHomeZoom(), point, this.still);
    viewport.applyConstraints(this.still);
  }
  rotate() {
    const { viewport } = this.viewer, zoom = this.zoom();
    viewport.setRotation(viewport.getRotation() + 90, this.still);
    if (zoom < WHOLE) viewport.goHome(this.still);
    else this.zoomTo(zoom); // the whole picture has another size now
  }
  pan(x, y) {
    const { viewport } = this.viewer;
    viewport.panBy(viewport.deltaPointsFromPixels(new this.library.Point(x * ARROW, y * ARROW)), this.still);
    viewport.applyConstraints(this.still);
  }

  open() {
    if (this.viewer) return Promise.resolve();
    this.opening ??= this.load(this.image.src).finally(() => {
      this.opening = null;
      this.bar.classList.remove("busy");
    });
    return this.opening;
  }
  async load(source) {
    this.bar.classList.add("busy");
    this.library = await loadLibrary(this.address);
    if (this.image.src !== source) return;
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    const gestures = { clickToZoom: false, dblClickToZoom: true, flickEnabled: false };
    const viewer = this.library({
      element: this.stage, drawer: "canvas", tileSources: { type: "image", url: this.image.currentSrc || source },
      showNavigationControl: false, keyboardNavEnabled: false, animationTime: this.still ? 0 : 0.3, cooperativeGestures: true,
      minZoomImageRatio: 1, maxZoomPixelRatio: MAX_PIXEL, visibilityRatio: 1, constrainDuringPan: true,
      gestureSettingsMouse: gestures, gestureSettingsPen: gestures, gestureSettingsTouch: { ...gestures, dblClickDragToZoom: false },
    });
    const opened = await new Promise((resolve) => {
      viewer.addOnceHandler("open", () => resolve(true));
      viewer.addOnceHandler("open-failed", () => resolve(false));
      this.abandon = () => resolve(false);
    });
    if (!opened || this.image.src !== source) {
      viewer.destroy();
      if (this.image.src === source) throw new Error("The picture did not load.");
      return;
    }
    this.begin(viewer);
  }

  begin(viewer) {
    this.viewer = viewer;
    viewer.canvas.setAttribute("role", "application");
    viewer.canvas.setAttribute("aria-label", this.image.alt || this.words.picture);
    viewer.canvas.setAttribute("aria-describedby", "arrows");
    viewer.addHandler("canvas-cooperative-gesture", (event) => { event.preventDefaultAction = true; });
    viewer.addHandler("canvas-scroll", (event) => this.wheel(event));
    for (const name of ["zoom", "rotate"]) viewer.addHandler(name, () => this.show());
    for (const name of ["canvas-release", "animation-finish"]) viewer.addHandler(name, () => setTimeout(() => this.yield()));
    viewer.addHandler("after-resize", () => this.whole && viewer.viewport.goHome(true));
    this.image.style.visibility = "hidden";
    this.box.classList.add("open");
  }

  /* While the picture is whole, one finger scrolls the page.  It does not change between the fingers of one gesture. */
  yield() {
    const { viewer, whole } = this;
    if (!viewer || viewer.innerTracker.getActivePointersListByType("touch").contacts) return;
    if (viewer.cooperativeGestures !== whole) viewer.setCooperativeGestures(whole);
  }

  /* The page scrolls by a wheel that would make the whole picture smaller. */
  wheel(event) {
    event.preventDefaultAction = true;
    event.preventDefault = event.scroll > 0 || this.zoom() > WHOLE || event.originalEvent.ctrlKey;
    if (event.preventDefault) this.zoomTo(this.zoom() * 1.2 ** event.scroll, event.originalEvent);
  }

  /* Over all that is on the screen of the frame. */
  enlarge(large) {
    const focused = this.shadow.activeElement;
    this.large = large;
    if (large) {
      this.box.popover = "manual";
      this.box.showPopover();
      this.viewer.canvas.focus({ preventScroll: true });
    } else {
      this.box.hidePopover();
      this.box.removeAttribute("popover");
      if (focused) this.stop(this.buttons.at(-1)).focus({ preventScroll: true });
    }
    this.show();
  }

  /* The whole picture as it was, without the viewer. */
  reset() {
    this.abandon?.();
    const focused = this.shadow.activeElement;
    if (this.large) this.enlarge(false);
    this.inverted = false;
    if (this.viewer) {
      this.viewer.destroy();
      this.viewer = null;
      this.box.classList.remove("open");
      this.image.style.visibility = "";
      if (focused) this.stop(this.buttons[0]).focus({ preventScroll: true });
    }
    this.show();
  }

  end() {
    this.reset();
    all.delete(this);
    this.size.disconnect();
    this.change.disconnect();
    document.removeEventListener("focusin", this.leave);
    this.host.remove();
  }

  show() {
    const { viewer, inverted, large } = this, zoom = this.zoom(), rotation = viewer ? ((viewer.viewport.getRotation() % 360) + 360) % 360 : 0;
    this.whole = zoom < WHOLE;
    this.yield();
    this.stage.classList.toggle("inverted", inverted);
    for (const button of this.buttons) {
      if (button.name === "invert") button.ariaPressed = String(inverted);
      if (button.name === "large") button.ariaPressed = String(large);
      if (button.name === "out") button.ariaDisabled = String(this.whole);
      if (button.name === "whole") button.ariaDisabled = String(!viewer);
    }
    this.image.dispatchEvent(new CustomEvent("crowdd:zoom", { bubbles: true, detail: { viewer, zoom, rotation, inverted, large } }));
    this.tell(viewer ? this.words.state.replace("{zoom}", PERCENT.format(zoom)).replace("{degrees}", Math.round(rotation)) : "");
  }
  tell(words) {
    clearTimeout(this.telling);
    this.telling = setTimeout(() => { this.status.textContent = words; }, SETTLED);
  }
}
