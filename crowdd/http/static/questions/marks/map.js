/* Places and areas on a map, drawn by Geoman on Leaflet.  Geometries are GeoJSON (RFC 7946): longitude before latitude, areas
   against the clock. */
import { element } from "../element.js";
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { geoman, look } from "./libraries.js";
import { MapOutline } from "./map_outline.js";

const FINEST = 1e7; // parts of a degree, about a centimetre each: less than a pixel of any map
const rounded = (degrees) => Math.round(degrees * FINEST) / FINEST || 0;
const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));
const at = ([longitude, latitude]) => [rounded(between(longitude, -180, 180)), rounded(between(latitude, -90, 90))];
const inside = (longitude) => (Math.abs(longitude) > 180 ? 360 * Math.round(longitude / 360) : 0); // beside the world a map shows it again
const said = ([longitude, latitude]) => `${latitude}, ${longitude}`;
const isPosition = (found) => Array.isArray(found) && found.length >= 2 && found.every(Number.isFinite);
const degrees = (set, [longitude, latitude]) => [["latitude", latitude], ["longitude", longitude]].map(([word, value]) => ({
  word, value, step: 0.0001, set: (number) => set(at(word === "latitude" ? [longitude, number] : [number, latitude])),
}));

/* A step of an arrow key: a fiftieth of what the map shows. */
const step = ({ width }, fine) => rounded(fine ? width / 1000 : width / 50);

const point = ([longitude, latitude]) => ({ geometry: { type: "Point", coordinates: at([longitude - inside(longitude), latitude]) } });
export const place = {
  word: "place", spot: true, step,
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
  const away = inside(positions[0][0]), ring = positions.map(([x, y]) => at([x - away, y])), turns = ring.reduce((sum, [x, y], nth) => sum + x * ring[(nth + 1) % ring.length][1] - ring[(nth + 1) % ring.length][0] * y, 0);
  const [first, ...rest] = ring, ordered = turns < 0 ? [first, ...rest.reverse()] : ring;
  return { geometry: { type: "Polygon", coordinates: [[...ordered, ordered[0]]] }, get points() { return ordered; } };
}
const span = (numbers) => [Math.min(...numbers), Math.max(...numbers)];
const crosses = (positions) => positions.some(([x]) => Math.abs(x - inside(positions[0][0])) > 180); // RFC 7946 has such areas in parts
/* Corners as they are to each other, in the world. */
function within(positions) {
  const back = (degrees, most) => (([low, high]) => Math.max(-most - low, 0) + Math.min(most - high, 0))(span(degrees));
  const right = back(positions.map(([x]) => x), 180), up = back(positions.map(([, y]) => y), 90);
  return positions.map(([x, y]) => [x + right, y + up]);
}
export const region = {
  word: "area", fewest: 3, step,
  start({ center: [x, y], width, height }, nth) {
    const away = (nth % 8) * width * 0.01, w = width / 8, h = height / 8, left = x - inside(x) + away, low = y - away;
    return area(within([[left - w, low - h], [left + w, low - h], [left + w, low + h], [left - w, low + h]]));
  },
  moved: (geometry, dx, dy) => area(within(corners(geometry).map(([x, y]) => [x + dx, y - dy]))),
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
    this.map.pm ??= new library.PM.Map(this.map); // the map may be older than Geoman, which edits what is chosen
    this.map.pm.setGlobalOptions({ tooltips: false, snappable: false, allowSelfIntersection: true });
    this.drawn = new MapOutline(library, this.map, { fewest: region.fewest, done: (corners) => this.outlined(corners) });
    this.clicked = (event) => this.click(event);
    this.map.on("click", this.clicked);
    this.listenToKeys();
    // Corners of Geoman are buttons without names and keys: the list has what they do.
    this.handles = new MutationObserver(() => this.map.getPanes().markerPane.querySelectorAll("[role=button]").forEach((handle) => {
      handle.removeAttribute("role");
      handle.removeAttribute("tabindex");
    }));
    this.handles.observe(this.map.getPanes().markerPane, { childList: true });
  }

  get outline() {
    return this.drawn;
  }

  click({ latlng, originalEvent }) {
    const { active, armed } = this;
    if (armed && active?.kind === place) active.created(point([latlng.lng, latlng.lat]));
    else if (armed && active) {
      this.drawn.add(latlng, originalEvent.pointerType);
      this.stroked();
    } else active?.selected(null);
  }

  outlined(corners) {
    if (crosses(corners)) return this.active.refused("area_crosses");
    this.drawn.cancel();
    this.active.created(area(corners));
  }

  /** What the map shows, in degrees. */
  get size() {
    const bounds = this.map.getBounds(), { lng, lat } = this.map.getCenter();
    return { center: [lng, lat], width: Math.min(bounds.getEast() - bounds.getWest(), 360), height: Math.min(bounds.getNorth() - bounds.getSouth(), 180) };
  }

  draw(layer, marks, current, selected) {
    for (const id of this.keep(layer, marks, current, selected)) this.drop(id);
    this.put();
  }
  put() {
    for (const [id, mark] of this.marks) {
      const state = JSON.stringify([mark.geometry.geometry, mark.colour, mark.name, id === this.current, id === this.edited, this.catches(id)]);
      const shown = this.shown.get(id);
      if (shown?.state === state) continue;
      if (shown && this.dragged === id) { // under the pointer: it is drawn there already
        shown.state = state;
        continue;
      }
      this.drop(id);
      this.shown.set(id, { state, layer: this.shape(id, mark) });
    }
  }
  drop(id) {
    this.shown.get(id)?.layer.remove();
    this.shown.delete(id);
  }

  /* Whether a press on a mark is for it, and not for the one that is drawn. */
  catches(id) {
    const { active, armed } = this;
    return !armed || !active || (active.kind === place && !active.only);
  }

  shape(id, { geometry: { geometry }, colour: shade = colour(0), name, layer }) {
    const { library } = this, current = id === this.current, edited = id === this.edited, interactive = this.catches(id);
    const away = inside(this.map.getCenter().lng - geometry.coordinates.flat(2)[0]); // where it is seen
    const corner = ([x, y]) => [y, x + away], places = geometry.type === "Point" ? null : geometry.coordinates[0].slice(0, -1).map(corner);
    const made = places
      ? library.polygon(places, { color: shade, weight: current ? 5 : 3, fillOpacity: current ? 0.08 : 0.04, className: "map-area", interactive })
      : library.marker(corner(geometry.coordinates), { icon: this.icon(shade, name, current), keyboard: false, interactive });
    made.addTo(this.map);
    if (places) this.surround(made, name, current);
    made.on("click", (event) => {
      library.DomEvent.stopPropagation(event);
      this.activate(layer);
      layer.selected(id);
    });
    if (edited) made.pm.enable({ draggable: true, allowSelfIntersection: true, snappable: false });
    made.on("pm:markerdragstart pm:dragstart", () => { this.dragged = id; });
    made.on("pm:edit pm:dragend pm:vertexremoved", () => {
      const { geometry: now } = made.toGeoJSON(false), found = places && crosses(now.coordinates[0]) ? null : layer.kind.geometry({ geometry: now });
      if (found) layer.changed(id, found);
      this.dragged = null;
      if (!found) queueMicrotask(() => this.takeBack(id, layer)); // not within Geoman's own change
    });
    return made;
  }
  takeBack(id, layer) {
    this.drop(id);
    this.put();
    layer.refused("area_crosses");
  }
  /* The dark line that shapes on pictures have, and a number above the highest corner. */
  surround(made, name, current) {
    const top = () => made.getLatLngs()[0].reduce((one, other) => (other.lat > one.lat ? other : one));
    const icon = this.library.divIcon({ className: current ? "map-number chosen" : "map-number", html: element("b", {}, name), iconSize: [0, 0] });
    const number = this.library.marker(top(), { icon, interactive: false, keyboard: false, pmIgnore: true }).addTo(this.map);
    const line = this.library.polygon(made.getLatLngs(), { color: "#000", opacity: 0.8, weight: made.options.weight + 2.5, fill: false, interactive: false, pmIgnore: true }).addTo(this.map).bringToBack();
    made.on("pm:edit pm:drag pm:markerdrag", () => {
      number.setLatLng(top());
      line.setLatLngs(made.getLatLngs());
    });
    made.on("remove", () => [number, line].forEach((each) => each.remove()));
  }
  /* A ring around the place, and its number beside it. */
  icon(shade, name, current) {
    const pin = element("span", {}, element("i"), element("b", {}, name));
    pin.style.setProperty("--pin", shade);
    return this.library.divIcon({ className: current ? "pin chosen" : "pin", html: pin, iconSize: [24, 24], iconAnchor: [12, 12] });
  }

  activate(layer) {
    super.activate(layer);
    this.put();
  }
  arm(armed) {
    super.arm(armed);
    if (!armed || this.active?.kind !== region) this.drawn.cancel();
    this.map.doubleClickZoom[armed ? "disable" : "enable"]();
    this.map.getContainer().classList.toggle("armed", Boolean(armed && this.active));
    this.put();
  }

  destroy() {
    super.destroy();
    this.handles.disconnect();
    this.drawn.destroy();
    this.map.off("click", this.clicked);
  }
}
