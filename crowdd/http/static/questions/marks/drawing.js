/* Marks on a picture, drawn by Annotorious: on an <img>, or over a viewer of OpenSeadragon.  All questions about a picture
   share one drawing; one of them at a time is `active`: it gets what is drawn. */
import { annotorious, look } from "./libraries.js";
import { cut } from "./shapes.js";
import { bounds, dot, Handles, pathTool, polyline, strokeTool, toolOf } from "./tools.js";

const COLOURS = ["#ffbf47", "#5ec8ff", "#7be495", "#ff9db8", "#cdb4ff", "#ffffff"];
const NEAR = 12, RADIUS = 7, TAP = 6; // pixels of the screen
const TOOLS = { box: "rectangle", line: "crowdd-line", polygon: "crowdd-polygon", freehand: "crowdd-freehand" };
const drawings = new WeakMap(); // by surface

/** The colour of the label with a number. */
export const colour = (nth) => COLOURS[Math.max(nth, 0) % COLOURS.length];

/** Lets a question draw on a surface: `layer` has {kind, created(geometry), changed(id, geometry), selected(id)}. */
export async function drawOn(surface, layer) {
  const [library] = await Promise.all([annotorious(), look()]);
  if (!drawings.has(surface)) drawings.set(surface, new Drawing(surface, library));
  const drawing = drawings.get(surface);
  drawing.join(layer);
  return drawing;
}

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

class Drawing {
  constructor(surface, library) {
    Object.assign(this, { surface, layers: new Set(), marks: new Map(), shown: null, armed: true, active: null });
    this.size = { width: surface.naturalWidth, height: surface.naturalHeight };
    this.image = surface.viewer ? this.cover() : surface.image;
    // A theme by the picture's colours would read its pixels, which those of other sites forbid.
    this.annotator = library.createImageAnnotator(this.image, { theme: "light", userSelectAction: "NONE", drawingEnabled: false });
    register(this.annotator, library);
    const { element } = this.annotator;
    element.classList.add("marked");
    element.dir = "ltr";
    element.style.setProperty("--ratio", this.size.width / this.size.height);
    this.svg = element.querySelector("svg");
    this.svg.setAttribute("role", "img"); // marks are made and changed from the list, too: its parts say so
    this.svg.removeAttribute("tabindex");
    this.svg.setAttribute("aria-label", this.surface.image?.alt ?? "");
    this.tags = document.createElement("div");
    Object.assign(this.tags, { className: "tags", ariaHidden: "true" });
    element.append(this.tags);
    this.listen(element);
    this.annotator.state.store.observe(({ origin, changes }) => origin === "LOCAL" && this.drawn(changes));
  }

  /* Over the viewer lies an empty picture of the same size: it moves, grows and turns with it. */
  cover() {
    const { width, height } = this.size, { viewer, OpenSeadragon } = this.surface;
    const image = document.createElement("img"), place = document.createElement("div");
    image.width = width;
    image.height = height;
    image.alt = "";
    place.className = "cover";
    place.append(image);
    this.overlay = place;
    viewer.addOverlay({ element: place, location: new OpenSeadragon.Rect(0, 0, 1, height / width), rotationMode: OpenSeadragon.OverlayRotationMode.EXACT });
    for (const name of ["pointerdown", "pointermove", "pointerup", "click", "dblclick"]) place.addEventListener(name, (event) => this.keeps(event) && event.stopPropagation());
    return image;
  }
  /* What is drawn does not move the picture. */
  keeps(event) {
    return this.armed || event.target.closest?.(".selected") || this.dragging;
  }

  listen(element) {
    this.down = null;
    element.addEventListener("pointerdown", (event) => {
      const edits = event.target.closest(".selected");
      this.down = { x: event.clientX, y: event.clientY, edits };
      this.dragging = Boolean(edits);
      if (edits) return;
      if (this.shown?.id) this.annotator.state.selection.clear(); // the tool is back before the <svg> hears of this event
      if (this.armed && this.active && event.isPrimary && this.svg.contains(event.target)) this.svg.setPointerCapture(event.pointerId);
    }, true);
    element.addEventListener("click", (event) => this.click(event));
    this.keys = (event) => this.key(event);
    addEventListener("keydown", this.keys, true);
  }

  /* Annotorious would undo by itself what the list of marks does not know of. */
  key(event) {
    if ((event.ctrlKey || event.metaKey) && /^[zy]$/i.test(event.key)) {
      event.stopImmediatePropagation();
      if (event.target.closest?.("textarea, input:not([type=checkbox], [type=radio])")) return;
      event.preventDefault();
      if (event.key.toLowerCase() === "z") this.active?.undo();
    } else if (toolOf(this.svg)?.busy && /^(Escape|Enter|Backspace)$/.test(event.key) && !event.target.closest?.("textarea, input, select")) {
      event.preventDefault();
      event.stopImmediatePropagation();
      this.stroke({ Escape: "cancel", Enter: "finish", Backspace: "shorten" }[event.key]);
    }
  }

  /** Ends a line or outline that is being drawn: "finish", "cancel" or "shorten". */
  stroke(what) {
    toolOf(this.svg)?.[what]();
    this.active?.stroking(Boolean(toolOf(this.svg)?.busy));
  }

  scale() {
    return this.svg.clientWidth / this.size.width || 1;
  }

  click(event) {
    if (!this.svg.contains(event.target) || this.down?.edits) return;
    if (this.down && Math.hypot(event.clientX - this.down.x, event.clientY - this.down.y) > TAP) return;
    const tool = toolOf(this.svg);
    if (tool?.busy || (tool && this.stroked)) {
      this.stroked = tool.busy;
      this.active?.stroking(tool.busy);
      if (tool.points.length !== 1) return;
    }
    const scale = this.scale(), x = event.offsetX / scale, y = event.offsetY / scale, hit = this.at(x, y, NEAR / scale);
    if (hit) {
      tool?.cancel?.();
      this.active?.stroking(false);
      this.activate(hit.layer);
      hit.layer.selected(hit.id);
      return;
    }
    this.active?.selected(null);
    if (this.armed && this.active?.kind.word === "point") this.active.created({ x, y });
  }

  /* The mark at a place: the one on top, outlines by their line and boxes by their area. */
  at(x, y, near) {
    const found = [...this.marks.values()].reverse();
    return found.find(({ geometry, layer }) => {
      if (geometry.points) {
        const line = layer.kind.closed ? [...geometry.points, geometry.points[0]] : geometry.points;
        return line.some((point, nth) => nth && fromLine([x, y], line[nth - 1], point) <= near);
      }
      if ("width" in geometry) return x >= geometry.x - near && y >= geometry.y - near && x <= geometry.x + geometry.width + near && y <= geometry.y + geometry.height + near;
      return Math.hypot(geometry.x - x, geometry.y - y) <= near;
    });
  }

  drawn({ created = [], updated = [] }) {
    for (const { id, target } of created) {
      this.annotator.state.store.deleteAnnotation(id, "REMOTE");
      queueMicrotask(() => this.annotator.state.selection.clear());
      if (this.active) this.active.created(this.geometry(target.selector));
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

  /** Shows the marks of a layer: [{id, geometry, name, colour}], in their order; `selected` is an id, null for none. */
  draw(layer, marks, selected) {
    const { store, selection } = this.annotator.state, ids = new Set(marks.map(({ id }) => id));
    for (const [id, mark] of this.marks) {
      if (mark.layer !== layer || ids.has(id)) continue;
      this.marks.delete(id);
      store.deleteAnnotation(id, "REMOTE");
    }
    for (const mark of marks) {
      const { id, geometry } = mark, before = store.getAnnotation(id);
      this.marks.set(id, { ...mark, layer });
      if (before && same(this.geometry(before.target.selector), geometry)) continue;
      const annotation = { id, bodies: [], target: { annotation: id, selector: this.selector(geometry, layer.kind), created: new Date() } };
      if (before) store.updateAnnotation(annotation, "REMOTE");
      else store.addAnnotation(annotation, "REMOTE");
    }
    if (layer === this.active || selected) {
      this.shown = { id: selected };
      const now = selection.selected?.[0]?.id ?? null;
      if (selected !== now) {
        if (selected) selection.setSelected(selected, this.editable(layer.kind));
        else selection.clear();
      }
    }
    this.annotator.setStyle(({ id }, state) => this.style(id, state));
    this.tag();
  }

  /* Annotorious takes the place where it is grabbed for one on an upright picture. */
  editable({ word }) {
    return !(this.surface.viewer?.viewport.getRotation() % 360) || word === "point" || word === "line" || word === "freehand";
  }

  style(id, state) {
    const mark = this.marks.get(id), selected = state?.selected || this.shown?.id === id;
    return { fill: mark?.colour ?? COLOURS[0], fillOpacity: selected ? 0.3 : 0.12, stroke: mark?.colour ?? COLOURS[0], strokeWidth: selected ? 3.5 : 2 };
  }

  /* A number beside each mark: colours alone say nothing to many people. */
  tag() {
    const { width, height } = this.size;
    this.tags.replaceChildren(...[...this.marks.values()].map(({ geometry, name, id }) => {
      const tag = document.createElement("span"), [x, y] = geometry.points?.[0] ?? [geometry.x, geometry.y];
      tag.textContent = name;
      tag.style.left = `${x / width * 100}%`;
      tag.style.top = `${y / height * 100}%`;
      tag.classList.toggle("chosen", this.shown?.id === id);
      tag.classList.toggle("low", y / height < 0.1);
      return tag;
    }));
  }

  /** Gives a layer what is drawn from now on; without one nothing is drawn, and a pointer moves or scrolls. */
  activate(layer) {
    if (this.active !== layer && this.active) {
      const before = this.active;
      this.active = null;
      before.selected(null);
      before.active(false);
    }
    this.active = layer;
    layer?.active(true);
    this.arm(layer ? this.armed : false);
  }
  arm(armed) {
    this.armed = armed;
    const tool = TOOLS[this.active?.kind.word];
    if (tool) this.annotator.setDrawingTool(tool);
    this.annotator.setDrawingEnabled(Boolean(armed && tool));
    this.annotator.element.classList.toggle("armed", armed);
    this.active?.active(armed);
  }

  join(layer) {
    this.layers.add(layer);
    if (!this.active) this.activate(layer);
  }
  leave(layer) {
    this.draw(layer, [], null);
    this.layers.delete(layer);
    if (this.active === layer) this.active = null;
    if (!this.layers.size) this.destroy();
  }

  destroy() {
    drawings.delete(this.surface);
    removeEventListener("keydown", this.keys, true);
    this.annotator.destroy();
    if (this.overlay) this.surface.viewer.removeOverlay?.(this.overlay);
  }
}

function same(one, other) {
  return JSON.stringify(one) === JSON.stringify(other);
}

function fromLine([x, y], [ax, ay], [bx, by]) {
  const length = (bx - ax) ** 2 + (by - ay) ** 2, along = length ? Math.min(1, Math.max(0, ((x - ax) * (bx - ax) + (y - ay) * (by - ay)) / length)) : 0;
  return Math.hypot(x - ax - along * (bx - ax), y - ay - along * (by - ay));
}
