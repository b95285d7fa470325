/* The buttons below a picture, and how bright it is.  In the windows of phones most of them are behind one. */
import { element } from "../element.js";

const LENS = "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13Zm4.8-1.7L20 20M8 10.5h5";
const BUTTONS = [ // name, word, key, drawing, whether it is on or off
  ["in", "zoom_in", "+", `${LENS}M10.5 8v5`],
  ["more", "more_tools", "", "M5 12h.01M12 12h.01M19 12h.01", true],
  ["out", "zoom_out", "-", LENS],
  ["whole", "zoom_whole", "0", "M4 5h16v14H4zM8 9h8v6H8z"],
  ["full", "zoom_full", "", "M4 5h16v14H4zM8.5 9.5v5M15.5 9.5v5M12 10.5v.01M12 13.5v.01"],
  ["rotate", "rotate", "R", "M19 12a7 7 0 1 1-2.1-5M19 3v4.5h-4.5"],
  ["invert", "invert", "I", "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18ZM12 3v18M12 7h6M12 11h8.5M12 15h8M12 19h5", true],
  ["light", "light", "", "M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8ZM12 2.5V5M12 19v2.5M2.5 12H5M19 12h2.5M5.3 5.3 7 7M17 17l1.7 1.7M5.3 18.7 7 17M17 7l1.7-1.7", true],
  ["large", "large_view", "E", "M14 4h6v6M20 4l-7 7M10 20H4v-6M4 20l7-7", true],
];
const TONES = [["brightness", 30, 300], ["contrast", 30, 300]]; // percent, lowest and highest

/** What keys do with a picture, by what is printed on them: {key: word}; and the names of the acts, by what they type. */
export const KEYS = Object.fromEntries(BUTTONS.filter(([, , key]) => key).map(([, word, key]) => [key, word]));
export const ACTS = { ...Object.fromEntries(BUTTONS.filter(([, , key]) => key).map(([name, , key]) => [key.toLowerCase(), name])), "=": "in" };

export class Toolbar {
  /** `act(name)` is called for a button, `toned(filter)` when how bright the picture is has changed. */
  constructor(word, { act, toned }) {
    Object.assign(this, { word, toned });
    this.buttons = BUTTONS.map(([name, words, key, drawing, toggles], nth) => {
      const title = key ? `${word(words)} (${key})` : word(words);
      const button = element("button", { type: "button", name, title, "aria-label": word(words), tabIndex: nth ? -1 : 0, "aria-keyshortcuts": key === "+" ? "Plus" : key || null });
      if (toggles) button.ariaPressed = "false";
      button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}"/></svg>`;
      button.addEventListener("click", () => act(name));
      return button;
    });
    this.sliders = [];
    this.tones = element("div", { className: "tones", hidden: true });
    const bar = element("div", { className: "bar", role: "toolbar", "aria-label": word("zoom") }, ...this.buttons);
    bar.addEventListener("keydown", (event) => this.along(event));
    this.element = element("div", { className: "tools" }, this.tones, bar);
  }

  button(name) {
    return this.buttons.find((each) => each.name === name);
  }
  press(name, on) {
    this.button(name).ariaPressed = String(on);
  }

  /** Turns something of the toolbar itself on or off; false for other acts. */
  act(name) {
    const on = this.button(name).ariaPressed !== "true";
    if (name === "light") this.light(on);
    else if (name === "more") this.element.classList.toggle("open", on);
    else if (name !== "invert") return false;
    this.press(name, on);
    if (name === "invert") this.tone();
    return true;
  }
  light(on) {
    if (!this.sliders.length) {
      this.sliders = TONES.map(([name, min, max]) => ({ name, input: element("input", { type: "range", min: String(min), max: String(max), value: "100" }) }));
      for (const { input } of this.sliders) input.addEventListener("input", () => this.tone());
      this.tones.append(...this.sliders.map(({ name, input }) => element("label", {}, element("span", {}, this.word(name)), input)));
    }
    this.tones.hidden = !on;
  }
  tone() {
    const tones = this.sliders.filter(({ input }) => input.value !== "100").map(({ name, input }) => `${name}(${input.value}%)`);
    if (this.button("invert").ariaPressed === "true") tones.push("invert(1)");
    this.toned(tones.join(" "));
  }
  /** As it is with another picture. */
  reset() {
    for (const { input } of this.sliders) input.value = "100";
    this.press("invert", false);
    this.tone();
  }

  /* A toolbar is one stop of the Tab key. */
  along(event) {
    const shown = this.buttons.filter((button) => button.offsetWidth), at = shown.indexOf(document.activeElement);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key] * (getComputedStyle(this.element).direction === "rtl" ? -1 : 1);
    if (!step || at < 0) return;
    event.preventDefault();
    const next = shown[(at + step + shown.length) % shown.length];
    for (const each of this.buttons) each.tabIndex = each === next ? 0 : -1;
    next.focus();
  }
}
