/* Segments of sounds and videos, drawn on their line of time. */
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { fragment } from "./shapes.js";

const HUNDREDTH = 100, FINE = 0.1; // of a second; seconds
const SLIP = 3; // pixels
const hundredth = (seconds) => Math.round(seconds * HUNDREDTH) / HUNDREDTH || 0;
const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));

function fitted(start, end, { duration }) {
  const first = between(start, 0, duration - 1 / HUNDREDTH);
  return { start: hundredth(first), end: hundredth(between(end, first + 1 / HUNDREDTH, duration)) };
}

/** As 1:02.5 */
export function clock(seconds) {
  const whole = Math.floor(seconds), rest = Math.round((seconds - whole) * HUNDREDTH);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}${rest ? `.${String(rest).padStart(2, "0").replace(/0$/, "")}` : ""}`;
}

export const segment = {
  word: "segment", readable: true,
  step: ({ duration }, fine) => (fine ? FINE : Math.max(FINE, hundredth(duration / 100))),
  start: ({ duration, now }) => fitted(Math.min(now, duration * 0.95), Math.min(now, duration * 0.95) + duration / 20, { duration }),
  moved({ start, end }, dx, _, { duration }) { // with its length, also at the ends
    const by = between(dx, -start, duration - end);
    return fitted(start + by, end + by, { duration });
  },
  resized: ({ start, end }, dx, _, size) => fitted(start, Math.max(start, end + dx), size),
  fields: ({ start, end }, { duration }) => [["start", start], ["end", end]].map(([word, value]) => ({
    word, value, step: FINE,
    set: (number) => (word === "start" ? fitted(between(number, 0, end - 1 / HUNDREDTH), end, { duration }) : fitted(start, number, { duration })),
  })),
  acts: {
    play_segment: ({ start, end }, drawer) => drawer.play(start, end),
    start_here: ({ end }, { size }) => (size.now < end ? fitted(size.now, end, size) : null),
    end_here: ({ start }, { size }) => (size.now > start ? fitted(start, size.now, size) : null),
  },
  answer: ({ start, end }) => ({ start, end, selector: fragment(`t=${start},${end}`) }),
  geometry: ({ start, end }) => (Number.isFinite(start) && Number.isFinite(end) && start >= 0 && end >= start ? { start, end } : null),
  says: ({ start, end }) => ({ place: `${clock(start)} – ${clock(end)}` }),
};

/** Lets a question mark segments of the sound or video of a surface, on its line of time (media/line.js). */
export const markTime = (surface, layer) => boardOn(surface, layer, () => new TimeBoard(surface));

class TimeBoard extends Board {
  constructor(surface) {
    super(surface);
    const { line } = surface, { place, regions } = line;
    const tags = Object.assign(document.createElement("div"), { className: "tags" });
    place.append(tags);
    Object.assign(this, { line, place, regions, tags, shown: new Map(), numbers: new Map(), dragged: [0, 0] });
    // wavesurfer.js begins a region with a width of its own: what was dragged over is what counts.
    this.begin = ({ clientX }) => { this.dragged = [clientX, clientX]; };
    this.click = ({ clientX }) => this.armed && this.choose(clientX);
    this.follow = ({ clientX }) => { this.dragged[1] = clientX; };
    place.addEventListener("pointerdown", this.begin, true);
    place.addEventListener("click", this.click);
    for (const name of ["pointermove", "pointerup"]) addEventListener(name, this.follow, true);
    line.moved = () => this.place.isConnected && this.putNumbers();
    this.listen();
  }

  get size() {
    const { player } = this.surface;
    return { duration: player.duration || 0, now: player.currentTime };
  }

  times() {
    const { left, width } = this.line.box, { duration } = this.size;
    return this.dragged.map((x) => (x - left) / width * duration).sort((one, other) => one - other);
  }

  listen() {
    const { regions } = this;
    this.unheard = [regions.on("region-created", (region) => {
      if (this.quiet) return;
      queueMicrotask(() => {
        region.remove();
        this.active?.created(fitted(...this.times(), this.size));
      });
    }),
    regions.on("region-updated", (region) => this.marks.get(region.id)?.layer.changed(region.id, { start: region.start, end: region.end })),
    regions.on("region-clicked", ({ id }, event) => {
      event.stopPropagation();
      this.select(id);
    })];
    this.arm(this.armed);
  }

  /* A click on a segment chooses it, also while others are drawn: a drag may begin there. */
  choose(x) {
    if (Math.abs(this.dragged[1] - this.dragged[0]) > SLIP) return;
    const { left, width } = this.line.box, now = (x - left) / width * this.size.duration;
    this.select([...this.marks].findLast(([, { geometry: { start, end } }]) => start <= now && now <= end)?.[0]);
  }
  select(id) {
    const { layer = this.active } = this.marks.get(id) ?? {};
    if (id && this.selected && this.current === id) return;
    this.activate(layer);
    layer?.selected(id ?? null);
  }

  draw(layer, marks, current, selected) {
    for (const id of this.keep(layer, marks, current, selected)) {
      this.shown.get(id)?.remove();
      this.numbers.get(id)?.remove();
      this.shown.delete(id);
      this.numbers.delete(id);
    }
    this.put();
  }
  put() {
    this.quiet = true;
    for (const [id, mark] of this.marks) {
      const { geometry: { start, end }, colour: shade = colour(0), name } = mark, handles = id === this.edited, options = { start, end, color: `${shade}14`, drag: handles, resize: handles };
      if (this.shown.has(id)) this.shown.get(id).setOptions(options);
      else this.shown.set(id, this.regions.addRegion({ id, minLength: 1 / HUNDREDTH, ...options }));
      this.look(this.shown.get(id).element, shade, id);
      this.number(id, name);
    }
    this.quiet = false;
    this.putNumbers();
    this.line.segment = this.marks.get(this.current)?.geometry ?? null;
    this.line.turned();
  }
  /* Edges that do not cover what is between them; a press on it is for the next segment while some are drawn. */
  look(region, shade, id) {
    const wide = id === this.current ? 4 : 2;
    region.style.boxShadow = `inset ${wide}px 0 ${shade}, inset -${wide}px 0 ${shade}, inset 0 ${wide}px ${shade}`;
    region.style.pointerEvents = this.armed ? "none" : "all";
  }
  /* Above the line. */
  number(id, name) {
    const number = this.numbers.get(id) ?? document.createElement("span");
    number.textContent = name;
    number.classList.toggle("chosen", id === this.current);
    this.numbers.set(id, number);
    this.tags.append(number);
  }
  /* Where the starts of segments are now: the line may be enlarged and scrolled. */
  putNumbers() {
    const { left, width } = this.line.box, from = this.place.getBoundingClientRect().left;
    for (const [id, number] of this.numbers) number.style.left = `${left - from + this.marks.get(id).geometry.start / this.size.duration * width}px`;
  }

  play(start, end) {
    this.line.play(start, end);
  }

  arm(armed) {
    super.arm(armed);
    this.stopDragging?.();
    this.stopDragging = armed && this.active && this.regions ? this.regions.enableDragSelection({ color: "#ffffff59" }) : null;
    this.place.classList.toggle("armed", Boolean(armed));
    if (this.regions) this.put();
  }

  destroy() {
    for (const name of ["pointermove", "pointerup"]) removeEventListener(name, this.follow, true);
    this.place.removeEventListener("pointerdown", this.begin, true);
    this.place.removeEventListener("click", this.click);
    this.stopDragging?.();
    for (const end of this.unheard) end();
    this.regions.clearRegions();
    this.tags.remove();
    Object.assign(this.line, { moved: null, segment: null, looping: false });
    this.line.turned();
  }
}
