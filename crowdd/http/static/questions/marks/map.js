/* Places and areas on a map, drawn by Geoman on Leaflet.  Geometries are GeoJSON (RFC 7946): longitude before latitude, areas
   against the clock. */
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { geoman, look } from "./libraries.js";

const MILLIONTH = 1e6; // of a degree, about ten centimetres
const millionth = (degrees) => Math.round(degrees * MILLIONTH) / MILLIONTH || 0;
const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));
const at = ([longitude, latitude]) => [millionth(between(longitude, -180, 180)), millionth(between(latitude, -90, 90))];
const said = ([longitude, latitude]) => `${latitude}, ${longitude}`;
const isPosition = (found) => Array.isArray(found) && found.length >= 2 && found.every(Number.isFinite);
const degrees = (set, [longitude, latitude]) => [["latitude", latitude, 90], ["longitude", longitude, 180]].map(([word, value, most]) => ({
  word, value, min: -most, max: most, step: 0.0001, set: (number) => set(at(word === "latitude" ? [longitude, number] : [number, latitude])),
}));

/* A step of an arrow key: a fiftieth of what the map shows. */
const step = ({ width }, fine) => millionth(fine ? width / 1000 : width / 50);

const point = (position) => ({ geometry: { type: "Point", coordinates: at(position) } });
export const place = {
  word: "place", step,
  start: ({ center, width }, nth) => point([center[0] + (nth % 8) * width * 0.01, center[1] - (nth % 8) * width * 0.01]),
  moved: ({ geometry: { coordinates: [longitude, latitude] } }, dx, dy) => point([longitude + dx, latitude - dy]),
  fields: ({ geometry: { coordinates } }) => degrees(point, coordinates),
  answer: ({ geometry }) => ({ geometry }),
  geometry: ({ geometry }) => (geometry?.type === "Point" && isPosition(geometry.coordinates) ? point(geometry.coordinates) : null),
  says: ({ geometry: { coordinates } }) => ({ place: said(coordinates) }),
};

/* The corners of an area without the last one, which is the first again. */
const corners = ({ geometry: { coordinates: [ring] } }) => ring.slice(0, -1);
function area(positions) {
  const ring = positions.map(at), turns = ring.reduce((sum, [x, y], nth) => sum + x * ring[(nth + 1) % ring.length][1] - ring[(nth + 1) % ring.length][0] * y, 0);
  const [first, ...rest] = ring, ordered = turns < 0 ? [first, ...rest.reverse()] : ring;
  return { geometry: { type: "Polygon", coordinates: [[...ordered, ordered[0]]] }, get points() { return ordered; } };
}
const span = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
export const region = {
  word: "area", step,
  start({ center: [x, y], width, height }, nth) {
    const away = (nth % 8) * width * 0.01, w = width / 8, h = height / 8;
    return area([[x - w, y - h], [x + w, y - h], [x + w, y + h], [x - w, y + h]].map(([right, up]) => [right + away, up - away]));
  },
  moved: (geometry, dx, dy) => area(corners(geometry).map(([x, y]) => [x + dx, y - dy])),
  resized(geometry, dx, dy) {
    const places = corners(geometry), [left, right] = span(places.map(([x]) => x)), [bottom, top] = span(places.map(([, y]) => y));
    const wide = Math.max(right - left + dx, 1e-5) / (right - left || 1), high = Math.max(top - bottom + dy, 1e-5) / (top - bottom || 1);
    return area(places.map(([x, y]) => [left + (x - left) * wide, top - (top - y) * high]));
  },
  fields(geometry, _, nth = 0) {
    const places = corners(geometry), which = Math.min(nth, places.length - 1);
    return degrees((position) => area(places.with(which, position)), places[which]);
  },
  longer(geometry, nth) {
    const places = corners(geometry), here = places[nth], next = places[(nth + 1) % places.length];
    return area(places.toSpliced(nth + 1, 0, [(here[0] + next[0]) / 2, (here[1] + next[1]) / 2]));
  },
  shorter: (geometry, nth) => (corners(geometry).length > 3 ? area(corners(geometry).toSpliced(nth, 1)) : null),
  answer: ({ geometry }) => ({ geometry }),
  geometry({ geometry }) {
    const ring = geometry?.type === "Polygon" && geometry.coordinates?.[0];
    return Array.isArray(ring) && ring.length >= 4 && ring.every(isPosition) ? area(ring.slice(0, -1)) : null;
  },
  says: (geometry, context) => ({ place: said(corners(geometry)[0]), size: context.word("n_points", { n: corners(geometry).length }) }),
};

/** Lets a question mark the map of a surface. */
export const markMap = (surface, layer) => boardOn(surface, layer, async () => {
  const [library] = await Promise.all([geoman(), look()]);
  return new MapBoard(surface, library);
});

class MapBoard extends Board {
  constructor(surface, library) {
    super(surface);
    Object.assign(this, { map: surface.map, library, shown: new Map() });
    this.map.pm ??= new library.PM.Map(this.map); // the map may be older than Geoman
    this.map.pm.setGlobalOptions({ tooltips: false, continueDrawing: true, snappable: false, allowSelfIntersection: true });
    this.made = ({ layer }) => {
      const { geometry } = layer.toGeoJSON();
      layer.remove();
      const { kind } = this.active ?? {};
      const found = kind?.geometry({ geometry: geometry.type === "Polygon" ? geometry : { type: "Point", coordinates: geometry.coordinates } });
      if (found) this.active.created(found);
    };
    this.map.on("pm:create", this.made);
    // Corners of Geoman are buttons without names and keys: the list has what they do.
    this.handles = new MutationObserver(() => this.map.getPanes().markerPane.querySelectorAll("[role=button]").forEach((handle) => {
      handle.removeAttribute("role");
      handle.removeAttribute("tabindex");
    }));
    this.handles.observe(this.map.getPanes().markerPane, { childList: true });
  }

  /** What the map shows, in degrees. */
  get size() {
    const bounds = this.map.getBounds(), { lng, lat } = this.map.getCenter();
    return { center: [lng, lat], width: Math.min(bounds.getEast() - bounds.getWest(), 360), height: Math.min(bounds.getNorth() - bounds.getSouth(), 180) };
  }

  draw(layer, marks, selected) {
    for (const id of this.keep(layer, marks, selected)) this.drop(id);
    for (const [id, mark] of this.marks) {
      const state = JSON.stringify([mark.geometry.geometry, mark.colour, mark.name, id === this.chosen]);
      const shown = this.shown.get(id);
      if (shown?.state === state) continue;
      if (shown && this.dragged === id) { // under the pointer: it is drawn there already
        shown.state = state;
        continue;
      }
      this.drop(id);
      this.shown.set(id, { state, layer: this.put(id, mark) });
    }
  }
  drop(id) {
    this.shown.get(id)?.layer.remove();
    this.shown.delete(id);
  }

  put(id, { geometry: { geometry }, colour: shade = colour(0), name, layer }) {
    const { library } = this, chosen = id === this.chosen, places = geometry.type === "Point" ? null : geometry.coordinates[0].slice(0, -1).map(([x, y]) => [y, x]);
    const made = places
      ? library.polygon(places, { color: shade, weight: chosen ? 5 : 3, fillOpacity: 0.25, className: "map-area" })
      : library.marker([geometry.coordinates[1], geometry.coordinates[0]], { icon: this.icon(shade, name, chosen), keyboard: false });
    made.addTo(this.map);
    made.on("click", (event) => {
      library.DomEvent.stopPropagation(event);
      this.activate(layer);
      layer.selected(id);
    });
    if (chosen) made.pm.enable({ draggable: true, allowSelfIntersection: true, snappable: false });
    made.on("pm:markerdragstart pm:dragstart", () => { this.dragged = id; });
    made.on("pm:edit pm:dragend pm:vertexremoved", () => {
      const found = layer.kind.geometry({ geometry: made.toGeoJSON().geometry });
      if (found) layer.changed(id, found);
      this.dragged = null;
    });
    return made;
  }
  icon(shade, name, chosen) {
    const pin = document.createElement("span");
    pin.textContent = name;
    pin.style.setProperty("--pin", shade);
    return this.library.divIcon({ className: chosen ? "pin chosen" : "pin", html: pin, iconSize: [32, 32], iconAnchor: [16, 16] });
  }

  arm(armed) {
    super.arm(armed);
    this.map.pm.disableDraw();
    if (armed && this.active) this.map.pm.enableDraw(this.active.kind.word === "place" ? "Marker" : "Polygon", { tooltips: false, continueDrawing: true, snappable: false, cursorMarker: false });
  }

  destroy() {
    this.handles.disconnect();
    this.map.pm.disableDraw();
    this.map.off("pm:create", this.made);
  }
}
