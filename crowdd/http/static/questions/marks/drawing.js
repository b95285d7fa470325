/* Marks on a picture in its viewer (viewer/viewer.js), drawn by Annotorious.  All questions about a picture share one drawing
   (board.js). */
import { Badges } from "./badges.js";
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { annotorious, look } from "./libraries.js";
import { Outlines } from "./outlines.js";
import { cut } from "./shapes.js";
import { bounds, dot, Handles, pathTool, polyline, strokeTool, toolOf } from "./tools.js";

const NEAR = 12, RADIUS = 7, TAP = 10; // pixels of the screen
const TOOLS = { box: "rectangle", row: "rectangle", line: "crowdd-line", polygon: "crowdd-polygon", freehand: "crowdd-freehand" };

/** Lets a question draw on the picture of a surface. */
export const drawOn = (surface, layer) => boardOn(surface, layer, async () => {
  const [library] = await Promise.all([annotorious(), look()]);
  return new Drawing(surface, library);
});

let registered = false;
function register(annotator, library) {
  if (registered) return;
  registered = true;
  annotator.registerDrawingTool(TOOLS.line, pathTool({ closed: false, fewest: 2 }));
  annotator.registerDrawingTool(TOOLS.polygon, pathTool({ closed: true, fewest: 3 }));
  annotator.registerDrawingTool(TOOLS.freehand, strokeTool({ simplify: library.simplifyPoints }));
  annotator.registerShapeEditor("POLYLINE", Handles);
  annotator.registerShapeEditor("ELLIPSE", Handles);
}

class Drawing extends Board {
  constructor(surface, library) {
    super(surface);
    this.image = surface.image;
    this.size = { width: surface.naturalWidth, height: surface.naturalHeight };
    Object.assign(surface.viewer, { draws: (event) => this.draws(event), interrupt: () => this.interrupt(), turned: () => this.turned() });
    this.watch = new ResizeObserver(([{ contentRect: { width } }]) => this.resized(width)); // before that of Annotorious, which cannot draw handles without a size
    this.watch.observe(this.image.parentElement);
    // A theme by the picture's colours would read its pixels, which those of other sites forbid.
    this.annotator = library.createImageAnnotator(this.image, { theme: "light", userSelectAction: "NONE", drawingEnabled: false });
    register(this.annotator, library);
    const { element } = this.annotator;
    element.classList.add("marked");
    element.dir = "ltr";
    this.svg = element.querySelector("svg");
    this.svg.setAttribute("role", "img"); // marks are made and changed from the list, too: its parts say so
    this.svg.removeAttribute("tabindex");
    this.svg.setAttribute("aria-label", this.image.alt);
    // Handles of Annotorious are buttons without names and keys: the list has what they do.
    this.handles = new MutationObserver(() => this.svg.querySelectorAll("[role=button]").forEach((handle) => {
      handle.removeAttribute("role");
      handle.removeAttribute("tabindex");
    }));
    this.handles.observe(this.svg, { childList: true, subtree: true });
    this.outlines = new Outlines(this.svg);
    this.held = null; // id of the mark that Annotorious has
    this.badges = new Badges(element);
    this.listen(element);
    this.annotator.state.store.observe(({ origin, changes }) => origin === "LOCAL" && this.drawn(changes));
  }

  /* What is drawn or dragged does not move the picture. */
  draws({ target }) {
    return Boolean(this.armed && this.active) || Boolean(target.closest?.(".selected"));
  }
  /* Two fingers move the picture: what the first one had begun is no mark. */
  interrupt() {
    if (toolOf(this.svg)) return; // points one after the other: a finger had only come down
    this.annotator.setDrawingEnabled(false);
    this.annotator.state.selection.clear(); // a handle that was dragged is let go
    this.arm(this.armed);
  }
  turned() {
    const { selection } = this.annotator.state, mark = this.marks.get(this.edited);
    if (mark) selection.setSelected(this.edited, this.editable(mark.layer.kind));
  }

  listen(element) {
    this.down = null;
    element.addEventListener("pointerdown", (event) => {
      this.ended = false;
      const edits = event.target.closest(".selected");
      this.down = { x: event.clientX, y: event.clientY, edits, place: this.svg.contains(event.target) && [event.offsetX, event.offsetY] };
      if (edits) return;
      if (this.armed && this.active && event.isPrimary && this.svg.contains(event.target)) this.svg.setPointerCapture(event.pointerId);
    }, true);
    element.addEventListener("click", (event) => this.click(event, this.svg.contains(event.target) && [event.offsetX, event.offsetY]));
    element.addEventListener("pointerup", () => setTimeout(() => this.stroked()));
    this.listenToKeys();
  }

  get outline() {
    return toolOf(this.svg);
  }

  resized(width) {
    this.known = 0;
    const { selection } = this.annotator?.state ?? {};
    if (!selection) return;
    if (!width) return selection.clear();
    this.rescale();
    if (this.marks.has(this.edited)) selection.setSelected(this.edited, this.editable(this.marks.get(this.edited).layer.kind));
  }

  /* Points keep their size on the screen. */
  rescale() {
    this.shapes();
    this.tag();
    const { store } = this.annotator.state, mark = this.marks.get(this.held), before = mark?.layer.kind.word === "point" && store.getAnnotation(this.held);
    if (before) store.updateAnnotation({ ...before, target: { ...before.target, selector: this.selector(mark.geometry, mark.layer.kind) } }, "REMOTE");
  }
  shapes() {
    const points = [...this.marks.values()].some(({ layer }) => layer.kind.word === "point");
    this.outlines.draw(this.marks, this, points ? RADIUS / this.scale() : 0); // the scale makes the browser lay out the page
  }

  scale() {
    return this.known ||= this.svg.clientWidth / this.size.width || 1;
  }

  /* `place` is where on the drawing, in pixels of the screen; nothing if it is beside it. */
  click(event, place) {
    const { ended, down } = this, only = this.armed && this.active?.kind.word === "point" && "point";
    this.ended = false;
    this.down = null;
    if (!place || down?.edits) return;
    if (down && Math.hypot(event.clientX - down.x, event.clientY - down.y) > TAP) return;
    this.stroked();
    if (ended || this.outline) return; // a corner, also on the edge of another mark
    const scale = this.scale(), [x, y] = place.map((each) => each / scale);
    const hit = only && this.active.only ? null : this.at(x, y, (only ? RADIUS : NEAR) / scale, only);
    if (hit) {
      this.activate(hit.layer);
      hit.layer.selected(hit.id);
      return;
    }
    this.active?.selected(null);
    if (only) this.active.created({ x, y });
  }

  /* The mark at a place, of any kind or of `only` one: the one on top, outlines by their line and boxes by their area.  A box that
     the place is in comes before one that it is only near to. */
  at(x, y, near, only) {
    const marks = [...this.marks.values()].reverse();
    const find = (beside) => marks.find(({ geometry, layer }) => {
      if (only && layer.kind.word !== only) return false;
      if (geometry.points) {
        const line = layer.kind.closed ? [...geometry.points, geometry.points[0]] : geometry.points;
        return line.some((point, nth) => nth && fromLine([x, y], line[nth - 1], point) <= near);
      }
      if ("width" in geometry) return x >= geometry.x - beside && y >= geometry.y - beside && x <= geometry.x + geometry.width + beside && y <= geometry.y + geometry.height + beside;
      return Math.hypot(geometry.x - x, geometry.y - y) <= near;
    });
    return find(0) ?? find(near);
  }

  drawn({ created = [], updated = [] }) {
    for (const { id, target } of created) {
      queueMicrotask(() => { // Annotorious first selects what it has made; the list then adds a mark of its own
        this.annotator.state.store.deleteAnnotation(id, "REMOTE");
        this.ended = true; // the click that ended it means nothing else
        this.active?.created(this.geometry(target.selector));
      });
    }
    for (const { newValue: { id, target } } of updated) {
      const mark = this.marks.get(id);
      if (mark) mark.layer.changed(id, this.geometry(target.selector));
    }
  }

  geometry({ type, geometry }) {
    if (type === "RECTANGLE") return cut({ x: geometry.x, y: geometry.y, width: geometry.w, height: geometry.h }, this.size);
    if (type === "ELLIPSE") return { x: geometry.cx, y: geometry.cy };
    return { points: type === "POLYGON" ? geometry.points : geometry.points.map(({ point }) => point) };
  }

  selector(geometry, kind) {
    const { points, x, y, width: w, height: h } = geometry;
    if (points) return kind.closed ? { type: "POLYGON", geometry: { points, bounds: bounds(points) } } : polyline(points);
    if (w === undefined) return dot([x, y], RADIUS / this.scale());
    return { type: "RECTANGLE", geometry: { x, y, w, h, rot: 0, bounds: { minX: x, minY: y, maxX: x + w, maxY: y + h } } };
  }

  /** Shows the marks of a layer: [{id, geometry, name, colour}], in their order; `current` is an id, null for none. */
  draw(layer, marks, current, selected) {
    this.keep(layer, marks, current, selected);
    this.put();
  }
  put() {
    this.shapes();
    this.hold();
    const { selection } = this.annotator.state;
    const now = selection.selected?.[0]?.id ?? null;
    if (this.edited !== now) {
      if (this.edited) selection.setSelected(this.edited, this.editable(this.marks.get(this.edited).layer.kind));
      else selection.clear();
    }
    this.annotator.setStyle(({ id }) => this.style(id));
    this.tag();
  }

  /* Gives Annotorious the mark that is edited, and takes away the one before. */
  hold() {
    const { store } = this.annotator.state, { edited, held } = this, mark = this.marks.get(edited);
    if (held && held !== edited) store.deleteAnnotation(held, "REMOTE");
    this.held = edited;
    if (!mark) return;
    const before = store.getAnnotation(edited), { geometry, layer: { kind } } = mark;
    if (before && same(this.geometry(before.target.selector), geometry)) return;
    const annotation = { id: edited, bodies: [], target: { annotation: edited, selector: this.selector(geometry, kind), created: new Date() } };
    if (before) store.updateAnnotation(annotation, "REMOTE");
    else store.addAnnotation(annotation, "REMOTE");
  }

  /* Annotorious takes the place where it is grabbed for one on an upright picture. */
  editable({ word }) {
    return !this.surface.viewer.viewport.degrees || word === "point" || word === "line";
  }

  style(id) {
    const { colour: own = colour(0) } = this.marks.get(id) ?? {};
    return { fill: own, fillOpacity: 0.08, stroke: own, strokeWidth: 3.5 };
  }

  tag() {
    this.badges.draw(this.marks, this.current, { scale: this.scale(), size: this.size, radius: RADIUS });
  }

  arm(armed) {
    super.arm(armed);
    const tool = TOOLS[this.active?.kind.word];
    if (tool) this.annotator.setDrawingTool(tool);
    this.annotator.setDrawingEnabled(Boolean(armed && tool));
    this.annotator.element.classList.toggle("armed", armed);
    this.put();
  }

  destroy() {
    super.destroy();
    this.watch.disconnect();
    this.handles.disconnect();
    this.annotator.destroy();
    Object.assign(this.surface.viewer, { draws: () => false, interrupt: undefined, turned: undefined });
  }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function fromLine([x, y], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2, along = length ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length)) : 0;
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay));
}
