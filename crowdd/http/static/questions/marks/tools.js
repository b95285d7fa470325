/* What Annotorious does not bring: drawing lines, outlines and freehand strokes by mouse, pen and finger, and handles for
   lines and points.  Annotorious mounts them as it does its own tools and editors (registerDrawingTool,
   registerShapeEditor), as components of Svelte 4: new Tool({target, props}), $on, $set, $destroy. */
import { withCorners } from "./corners.js";

const SVG = "http://www.w3.org/2000/svg";
const TAP = 10; // pixels of the screen that a finger may slip while it taps
const STROKE_MAX = 400; // points of a stroke

const drawing = new WeakMap(); // the tool that is mounted now, by its <svg>

/** The stroke or outline that is being drawn in an <svg>: {busy, finish(), cancel(), shorten()}, or undefined. */
export const toolOf = (svg) => drawing.get(svg);

export function bounds(points) {
  const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
  return { minX: Math.min(...xs), minY: Math.min(...ys), maxX: Math.max(...xs), maxY: Math.max(...ys) };
}

/** An element of SVG. */
export function shape(name, attributes) {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
/** Points as an attribute of SVG. */
export const written = (points) => points.map((point) => point.join(",")).join(" ");

class Component {
  constructor({ target, props }) {
    this.listeners = {};
    Object.assign(this, props);
    this.svg = target.closest("svg");
    this.group = shape("g", { class: "a9s-annotation" });
    target.append(this.group);
  }
  $on(name, listener) {
    (this.listeners[name] ??= new Set()).add(listener);
    return () => this.listeners[name].delete(listener);
  }
  dispatch(name, detail) {
    for (const listener of this.listeners[name] ?? []) listener({ detail });
  }
  $set(props) {
    Object.assign(this, props);
    this.draw();
  }
  $$set(props) {
    this.$set(props);
  }
  $destroy() {
    this.group.remove();
  }
  draw() {}

  /** The place of an event in pixels of the picture. */
  place({ offsetX, offsetY }) {
    return this.transform.elementToImage(offsetX, offsetY);
  }
  /* While the picture is not shown, it has no size. */
  scaled() {
    this.viewportScale ||= 1;
    return this;
  }
  /** How far two places are from each other on the screen. */
  apart([x, y], [right, down]) {
    return Math.hypot(x - right, y - down) * (this.viewportScale || 1);
  }
}

/** A drawing tool for points one after the other: `closed` outlines end at their first point. */
export function pathTool({ closed, fewest }) {
  return class extends withCorners(Component) {
    constructor(options) {
      super(options);
      Object.assign(this, { closed, fewest, from: null });
      this.group.classList.add("a9s-rubberband");
      this.addEventListener("pointerdown", (event) => { this.from = event.isPrimary ? [event.clientX, event.clientY] : null; });
      this.addEventListener("pointermove", (event) => this.follow(this.place(event), event.pointerType));
      this.addEventListener("pointerup", (event) => this.up(event));
      drawing.set(this.svg, this);
    }
    up(event) {
      const { from } = this;
      this.from = null;
      if (!from || Math.hypot(event.clientX - from[0], event.clientY - from[1]) > TAP) return;
      this.add(this.place(event), event.pointerType);
    }
    finish() {
      if (this.points.length < fewest) return;
      const points = this.points;
      this.cancel();
      this.dispatch("create", closed ? { type: "POLYGON", geometry: { points, bounds: bounds(points) } } : polyline(points));
    }
    draw() {
      const { points, shown, viewportScale } = this.scaled();
      const dots = points.map(([x, y], nth) => shape("circle", { class: "dot", cx: x, cy: y, r: (nth ? 4 : 6) / viewportScale }));
      this.group.replaceChildren(...(shown.length ? [shape("polyline", { class: "a9s-outer", points: written(shown) }), shape("polyline", { class: "a9s-inner", points: written(shown) })] : []), ...dots);
    }
    $destroy() {
      if (drawing.get(this.svg) === this) drawing.delete(this.svg);
      super.$destroy();
    }
  };
}

export const polyline = (points) => ({ type: "POLYLINE", geometry: { closed: false, points: points.map((point) => ({ type: "CORNER", point })), bounds: bounds(points) } });

/** A drawing tool for areas in one stroke.  `simplify(points, tolerance)` leaves out points that a line does not need. */
export function strokeTool({ simplify }) {
  return class extends Component {
    constructor(options) {
      super(options);
      this.points = [];
      this.group.classList.add("a9s-rubberband");
      this.addEventListener("pointerdown", (event) => { this.points = event.isPrimary ? [this.place(event)] : []; });
      this.addEventListener("pointermove", (event) => this.move(event));
      this.addEventListener("pointerup", () => this.up());
      this.addEventListener("pointercancel", () => this.cancel());
    }
    move(event) {
      const place = this.place(event);
      if (!this.points.length || this.apart(place, this.points.at(-1)) < 2) return;
      this.points.push(place);
      this.draw();
    }
    up() {
      const { points, viewportScale } = this.scaled();
      this.cancel();
      if (points.length < 4) return;
      let tolerance = 1 / viewportScale, kept = simplify(points, tolerance);
      while (kept.length > STROKE_MAX) kept = simplify(points, tolerance *= 2);
      if (kept.length >= 3) this.dispatch("create", { type: "POLYGON", geometry: { points: kept, bounds: bounds(kept) } });
    }
    cancel() {
      this.points = [];
      this.draw();
    }
    draw() {
      const points = written(this.points);
      this.group.replaceChildren(...(this.points.length > 1 ? [shape("polyline", { class: "a9s-outer", points }), shape("polyline", { class: "a9s-inner", points })] : []));
    }
  };
}

/** Handles for the points of a line, or for a point (an ellipse of Annotorious): they are dragged one by one or together. */
export class Handles extends Component {
  constructor(options) {
    super(options);
    this.group.classList.add("selected");
    this.group.addEventListener("pointerdown", (event) => this.grab(event));
    this.group.addEventListener("pointermove", (event) => this.drag(event));
    for (const name of ["pointerup", "pointercancel"]) this.group.addEventListener(name, () => this.release());
    this.draw();
  }
  get points() {
    const { type, geometry } = this.shape;
    return type === "ELLIPSE" ? [[geometry.cx, geometry.cy]] : geometry.points.map(({ point }) => point);
  }
  grab(event) {
    const handle = event.target.dataset.nth;
    this.grabbed = { nth: handle === undefined ? null : Number(handle), from: this.place(event), points: this.points };
    this.svg.setPointerCapture(event.pointerId);
    this.moving = (moved) => this.drag(moved);
    this.releasing = () => this.release();
    this.svg.addEventListener("pointermove", this.moving);
    this.svg.addEventListener("pointerup", this.releasing, { once: true });
    event.preventDefault();
  }
  drag(event) {
    if (!this.grabbed) return;
    const { nth, from, points } = this.grabbed, [x, y] = this.place(event);
    const moved = points.map((point, which) => (nth === null || which === nth ? [point[0] + x - from[0], point[1] + y - from[1]] : point));
    this.dispatch("change", this.shape.type === "ELLIPSE" ? dot(moved[0], this.shape.geometry.rx) : polyline(moved));
  }
  release() {
    this.svg.removeEventListener("pointermove", this.moving);
    this.grabbed = null;
  }
  draw() {
    if (!this.shape) return;
    const { points, viewportScale, computedStyle = "" } = this.scaled(), lines = written(points);
    const many = points.length > 60, handles = points.map(([x, y], nth) => (many && nth % 8 ? [] : [
      shape("circle", { class: "grip", cx: x, cy: y, r: 16 / viewportScale, "data-nth": nth }),
      shape("circle", { class: "dot selected", cx: x, cy: y, r: 6 / viewportScale, style: computedStyle }),
    ])).flat();
    const line = points.length > 1 ? [shape("polyline", { class: "grip", points: lines }), shape("polyline", { class: "a9s-outer", points: lines }), shape("polyline", { class: "a9s-inner", points: lines, style: computedStyle })] : [];
    this.group.replaceChildren(...line, ...handles);
  }
  $destroy() {
    this.release();
    super.$destroy();
  }
}

/** A point, as Annotorious can draw it. */
export function dot([x, y], radius) {
  return { type: "ELLIPSE", geometry: { cx: x, cy: y, rx: radius, ry: radius, bounds: bounds([[x - radius, y - radius], [x + radius, y + radius]]) } };
}
