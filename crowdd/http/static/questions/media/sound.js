/* Sounds and videos: a player of our own around the browser's, which is the same everywhere, goes by keys, and loads a recording once. */
import { element } from "../element.js";
import { broughtOr, isAddress } from "../sources.js";
import { Line } from "./line.js";

const STEP = 2, TIMES = 2; // seconds; how much a press enlarges
const SPEEDS = [0.5, 0.75, 1, 1.25, 1.5, 2];
const WHOLE_MAX = 30e6; // bytes of a recording that is loaded before it plays
const KEPT = 2; // recordings: that of this task, and of the next one
const DRAWINGS = {
  back: "M4.5 5v4.5H9M4.9 9A8 8 0 1 1 4 13", play: "M7 4.5v15l13-7.5Z", pause: "M8 5v14M16 5v14", forward: "M19.5 5v4.5H15M19.100 9A8 8 0 1 0 20 13",
  loop: "M4 11V9.5A3.5 3.5 0 0 1 7.5 6H19m0 0-3-3m3 3-3 3M20 13v1.5a3.5 3.5 0 0 1-3.5 3.5H5m0 0 3-3m-3 3 3 3", in: "M12 5v14M5 12h14", out: "M5 12h14", spectrum: "M4 20V14M8 20V6M12 20V10M16 20V4M20 20v-8",
};

export function create(medium, context) {
  return playing(element("audio", { preload: "metadata" }), context);
}

/** A medium around an <audio> or <video>. */
export function playing(player, context) {
  const line = new Line(player), bar = new Bar(player, line, context), recordings = new Map();
  const place = element("div", { className: `${player.localName} unsized` }, player, line.element, bar.element);
  let shown = "";

  /* The file, once; null where it is too large to wait for, or where its site does not let others read it. */
  function recording(address) {
    if (player.localName !== "audio" || !isAddress(address)) return Promise.resolve(null);
    if (!recordings.has(address)) recordings.set(address, fetched(address).catch(() => null));
    for (const other of [...recordings.keys()].slice(0, -KEPT)) recordings.delete(other);
    return recordings.get(address);
  }

  return {
    element: place, surface: { player, line }, keys: () => bar.keys(), key: (key) => bar.key(key),
    prepare: (task) => recording(context.source(task)),
    async show(task) {
      const address = context.source(task);
      player.pause();
      bar.describe(context.description(task));
      line.end();
      if (shown) URL.revokeObjectURL(shown);
      shown = "";
      if (!isAddress(address)) {
        player.removeAttribute("src");
        player.load();
        throw new Error("No file.");
      }
      const file = await recording(address);
      if (!file) recordings.delete(address); // another time it may be there
      shown = file ? URL.createObjectURL(file) : "";
      place.classList.add("unsized"); // the size of a video is known when its beginning is there
      await loaded(player, shown || broughtOr(address));
      place.classList.remove("unsized");
      await line.show(Boolean(file));
      bar.begin();
    },
    destroy: () => line.end(),
  };
}

/* The first one was asked for before this was here (presenter/hello.js). */
function asked(address) {
  const early = window.presenterFirst?.media, first = early?.get(address);
  early?.delete(address);
  return first ?? fetch(broughtOr(address));
}

async function fetched(address) {
  const answer = await asked(address), size = Number(answer.headers.get("Content-Length"));
  if (answer.ok && size <= WHOLE_MAX) return answer.blob();
  answer.body?.cancel();
  return null;
}

function loaded(player, address) {
  return new Promise((resolve, reject) => {
    player.onloadedmetadata = () => resolve();
    player.onerror = () => reject(new Error("It did not load."));
    if (player.src !== new URL(address, document.baseURI).href || player.error) player.src = address;
    else if (player.readyState) resolve();
  });
}

/** As 1:02.5 */
const clock = (seconds) => `${Math.floor(seconds / 60)}:${(Math.floor((seconds % 60) * 10) / 10).toFixed(1).padStart(4, "0")}`;

class Bar {
  constructor(player, line, { word }) {
    Object.assign(this, { player, line, word });
    this.now = element("span", { className: "num small soft" });
    this.buttons = {
      back: this.button("back", "seconds_back", () => this.go(-STEP)), play: this.button("play", "play_segment", () => this.turn()), forward: this.button("forward", "seconds_forward", () => this.go(STEP)),
      loop: this.button("loop", "loop_segment", () => this.loop()), out: this.button("out", "time_more", () => this.enlarge(1 / TIMES)), in: this.button("in", "time_less", () => this.enlarge(TIMES)),
      spectrum: this.button("spectrum", "spectrogram", () => this.turnSpectrum()),
    };
    this.speed = element("select", { className: "speed", "aria-label": word("speed"), title: word("speed") }, ...SPEEDS.map((speed) => element("option", { value: String(speed) }, `${speed} ×`)));
    this.speed.value = "1";
    this.speed.addEventListener("change", () => { player.playbackRate = player.defaultPlaybackRate = Number(this.speed.value); });
    const { back, play, forward, loop, out, in: more, spectrum } = this.buttons;
    this.element = element("div", { className: "player-bar", role: "group", dir: "ltr" }, this.now, back, play, forward, this.speed, loop, out, more, spectrum);
    for (const name of ["play", "pause", "ended"]) player.addEventListener(name, () => this.show());
    for (const name of ["timeupdate", "seeking", "loadedmetadata"]) player.addEventListener(name, () => this.tick());
    line.turned = () => this.show();
    addEventListener("keydown", (event) => this.pressed(event));
  }

  button(drawing, word, act) {
    const made = element("button", { type: "button", title: this.word(word), "aria-label": this.word(word) });
    made.addEventListener("click", act);
    draw(made, drawing);
    return made;
  }

  describe(words) {
    this.player.setAttribute("aria-label", words);
    this.element.setAttribute("aria-label", words);
  }

  /* Another recording is there. */
  begin() {
    this.line.looping = false;
    this.player.playbackRate = Number(this.speed.value);
    this.buttons.spectrum.hidden = !this.line.isWave;
    this.buttons.spectrum.ariaPressed = "false";
    this.tick();
    this.show();
  }

  tick() {
    const { currentTime, duration } = this.player;
    this.now.textContent = Number.isFinite(duration) ? `${clock(currentTime)} / ${clock(duration)}` : clock(currentTime);
  }

  show() {
    const { player, line, buttons: { play, loop, out }, word } = this, runs = !player.paused && !player.ended;
    draw(play, runs ? "pause" : "play");
    play.title = play.ariaLabel = word(runs ? "pause" : "play_segment");
    loop.hidden = !line.segment;
    loop.ariaPressed = String(line.looping);
    out.disabled = line.zoom === 1;
  }

  turn() {
    if (this.player.paused || this.player.ended) this.player.play().catch(() => {}); // it was taken away meanwhile
    else this.player.pause();
  }
  go(seconds) {
    const { player } = this;
    player.currentTime = Math.min(Math.max(player.currentTime + seconds, 0), player.duration || 0);
  }
  loop() {
    const { line } = this;
    line.looping = !line.looping;
    if (line.looping) line.play(line.segment.start);
    this.show();
  }
  enlarge(times) {
    this.line.enlarge(times);
    this.show();
  }
  turnSpectrum() {
    const { spectrum } = this.buttons, on = spectrum.ariaPressed !== "true";
    spectrum.ariaPressed = String(on);
    this.line.turnSpectrum(on).catch(() => { spectrum.ariaPressed = "false"; });
  }

  keys() {
    return { " ": this.word("play_segment"), ArrowLeft: this.word("seconds_back"), ArrowRight: this.word("seconds_forward") };
  }
  key(key) {
    if (!this.line.waves || !this.element.checkVisibility()) return false;
    if (key === " ") this.turn();
    else if (key === "ArrowLeft" || key === "ArrowRight") this.go(key === "ArrowLeft" ? -STEP : STEP);
    else return false;
    return true;
  }
  /* At once, or the page would scroll. */
  pressed(event) {
    const { key, target, defaultPrevented, ctrlKey, metaKey, altKey, shiftKey } = event;
    if (defaultPrevented || ctrlKey || metaKey || altKey || shiftKey || target.closest?.("input, select, textarea, [contenteditable], [role=application]")) return;
    if (key === " " && (event.repeat || target.closest?.("button, a, summary"))) return;
    if (this.key(key)) event.preventDefault();
  }
}

function draw(button, name) {
  button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${DRAWINGS[name]}"/></svg>`;
}
