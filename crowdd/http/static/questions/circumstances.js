/* How the volunteer came to an answer: what the page tells with it (docs/interface/answers.md). */
const ACTIVE = 10000; // milliseconds that an act counts for, if no other one follows
const ACTS = ["pointerdown", "pointermove", "keydown", "wheel", "input"];
const DEVICES = { mouse: "pointer", pen: "pointer", touch: "touch" };

export class Circumstances {
  constructor() {
    for (const name of ACTS) addEventListener(name, (event) => event.isTrusted && this.act(event), { capture: true, passive: true });
    document.addEventListener("visibilitychange", () => this.count());
    this.begin();
  }

  /** Another task is on the screen. */
  begin() {
    const now = performance.now();
    Object.assign(this, { visible: 0, active: 0, counted: now, acted: now, shown: !document.hidden, inputs: new Set() });
  }

  act({ type, pointerType }) {
    this.count();
    this.acted = this.counted;
    const input = type === "keydown" ? "keyboard" : type === "pointerdown" && DEVICES[pointerType];
    if (input) this.inputs.add(input);
  }

  /** A key of the page around, which it passed on. */
  press() {
    this.act({ type: "keydown" });
  }

  /* The time since it was counted before: on the screen or not, and how much of it follows closely on an act. */
  count() {
    const now = performance.now(), { counted, acted, shown } = this;
    if (shown) {
      this.visible += now - counted;
      this.active += Math.max(0, Math.min(now, acted + ACTIVE) - counted);
    }
    Object.assign(this, { counted: now, shown: !document.hidden });
  }

  /** What is told of an answer that is sent now, with addresses of `media` by their names, on a page in `language`. */
  of(media, language) {
    this.count();
    const seconds = (milliseconds) => Math.min(Math.round(milliseconds / 100) / 10, 86400);
    return { language, media, seconds_visible: seconds(this.visible), seconds_active: seconds(this.active), inputs: [...this.inputs].sort() };
  }
}
