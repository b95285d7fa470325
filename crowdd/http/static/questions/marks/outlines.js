/* The marks on a picture that are not edited, as shapes of SVG.  Annotorious creates all of its shapes again whenever one of them
   changes, which is slow with hundreds: it has the edited mark only. */
import { shape, written } from "./tools.js";

const drawings = { // what a mark looks like: name of the element and its attributes
  path: ({ points }, closed) => [closed ? "polygon" : "polyline", { points: written(points) }],
  box: ({ x, y, width, height }) => ["rect", { x, y, width, height }],
  point: ({ x, y }, radius) => ["ellipse", { cx: x, cy: y, rx: radius, ry: radius }],
};

function form(geometry, closed, radius) {
  if (geometry.points) return drawings.path(geometry, closed);
  return "width" in geometry ? drawings.box(geometry) : drawings.point(geometry, radius);
}

export class Outlines {
  constructor(svg) {
    this.group = shape("g", { class: "outlines" });
    this.shown = new Map(); // by id of the mark
    svg.prepend(this.group);
  }

  /** Shows marks, a Map by id of {geometry, colour, layer}, without the one that is edited; `radius` is that of points. */
  draw(marks, { current, edited }, radius) {
    for (const [id, { element }] of this.shown) {
      if (marks.has(id)) continue;
      element.remove();
      this.shown.delete(id);
    }
    for (const [id, mark] of marks) {
      const shown = this.shown.get(id) ?? this.begin(id);
      shown.element.style.display = id === edited ? "none" : "";
      this.change(shown, mark, radius, id === current);
    }
  }

  begin(id) {
    const shown = { element: shape("g", { class: "a9s-annotation" }) };
    this.group.append(shown.element);
    this.shown.set(id, shown);
    return shown;
  }

  /* A geometry is never changed in place. */
  change(shown, { geometry, colour, layer }, radius, current) {
    if (shown.geometry === geometry && shown.colour === colour && shown.radius === radius && shown.current === current) return;
    Object.assign(shown, { geometry, colour, radius, current });
    const [name, attributes] = form(geometry, layer.kind.closed, radius), inner = shape(name, { ...attributes, class: "a9s-inner" });
    Object.assign(inner.style, { fill: colour, fillOpacity: current ? 0.08 : 0.04, stroke: colour, strokeWidth: current ? 3.5 : 2 });
    shown.element.replaceChildren(shape(name, { ...attributes, class: "a9s-outer" }), inner);
  }
}
