/* A small map of the picture while it is enlarged: where in it one is.  A press on it goes there. */
import { element } from "../element.js";

export class Overview {
  /** `go([x, y], size)` gets a place on this map, and how large the map is, in pixels of the screen. */
  constructor(go) {
    this.go = go;
    this.address = "";
    this.part = element("div", { className: "part" });
    this.sheet = element("div", { className: "whole" }, this.part);
    this.element = element("div", { className: "overview", "aria-hidden": "true", hidden: true }, this.sheet);
    for (const name of ["pointerdown", "pointermove"]) this.element.addEventListener(name, (event) => this.hear(event));
  }

  /** Another picture: the address of a small one of it, if any, which is loaded when it is enlarged. */
  begin(address) {
    this.picture?.remove();
    Object.assign(this, { address, picture: null });
  }

  hear(event) {
    if (event.type === "pointerdown" && event.isPrimary) this.element.setPointerCapture(event.pointerId);
    if (!this.element.hasPointerCapture(event.pointerId)) return;
    event.preventDefault();
    const { left, top, width, height } = this.element.getBoundingClientRect();
    this.go([event.clientX - left, event.clientY - top], { width, height });
  }

  /** Shows where in the picture one is, if not all of it is seen. */
  show({ isWhole, picture, turned, degrees, centre, seen }) {
    this.element.hidden = isWhole;
    if (isWhole) return;
    if (this.address && !this.picture) this.sheet.prepend(this.picture = element("img", { alt: "", draggable: false, src: this.address }));
    const parts = [picture.width, picture.height], sizes = seen.map((each, axis) => Math.min(1, each / parts[axis]));
    const from = sizes.map((each, axis) => Math.min(Math.max(0, centre[axis] / parts[axis] - each / 2), 1 - each));
    const [left, top, width, height] = [...from, ...sizes].map((each) => `${each * 100}%`);
    Object.assign(this.part.style, { left, top, width, height });
    this.element.style.setProperty("--turned", turned.width / turned.height);
    this.sheet.style.rotate = `${degrees}deg`;
    this.element.classList.toggle("across", degrees % 180 !== 0);
  }
}
