/* Land and borders under a map without pictures of its own (Natural Earth, as TopoJSON), drawn as vectors. */
import { onTheme } from "../theme.js";

const FOLDER = new URL("../../vendor/world-atlas-2.0.2/", import.meta.url).href;
const COARSE = 4; // up to this zoom the shapes of the whole world are fine enough
const shapes = new Map();

const read = (name) => {
  if (!shapes.has(name)) shapes.set(name, fetch(FOLDER + name).then((response) => response.json()).then(decoded).catch((error) => {
    shapes.delete(name);
    throw error;
  }));
  return shapes.get(name);
};

/* The rings of the land, and the lines that two countries share, as [latitude, longitude]. */
function decoded({ arcs: steps, objects, transform: { scale, translate } }) {
  const arcs = steps.map((arc) => {
    let x = 0, y = 0;
    return arc.map(([right, up]) => [(y += up) * scale[1] + translate[1], (x += right) * scale[0] + translate[0]]);
  });
  const ring = (numbers) => numbers.flatMap((number, nth) => (number < 0 ? arcs[~number].toReversed() : arcs[number]).slice(nth ? 1 : 0));
  const parts = ({ type, arcs: found = [] }) => (type === "Polygon" ? [found] : found), uses = new Map();
  for (const country of objects.countries.geometries) {
    for (const number of new Set(parts(country).flat(2).map((each) => (each < 0 ? ~each : each)))) uses.set(number, (uses.get(number) ?? 0) + 1);
  }
  return {
    land: objects.land.geometries.flatMap(parts).flatMap((rings) => both(rings.map((numbers) => unrolled(ring(numbers), true)))),
    borders: both([...uses].filter(([, n]) => n > 1).map(([number]) => unrolled(arcs[number]))),
  };
}

/* A line that goes on beyond 180 degrees in place of jumping to the other edge; a ring around the south pole is closed there. */
function unrolled(line, closed = false) {
  let turn = 0;
  const way = line.map(([latitude, longitude], nth) => {
    const before = nth ? line[nth - 1][1] : longitude;
    if (Math.abs(longitude - before) > 180) turn += longitude < before ? 360 : -360;
    return [latitude, longitude + turn];
  });
  return closed && turn ? [...way, [-90, way.at(-1)[1]], [-90, way[0][1]]] : way;
}

/* What goes beyond an edge of the map is drawn at the other one, too. */
function both(lines) {
  const all = lines.flat(), beyond = [all.some(([, x]) => x > 180) && -360, all.some(([, x]) => x < -180) && 360].filter(Boolean);
  return [0, ...beyond].map((turn) => lines.map((line) => line.map(([y, x]) => [y, x + turn])));
}

/** Puts land and borders under everything else of a map, finer ones when it comes closer. A map without them stays as it is. */
export function ground(library, map) {
  const pane = map.createPane("ground"); // its style has the colours
  const renderer = library.canvas({ pane: "ground", padding: 0.5 });
  let shown = "", group = null;
  const put = async () => {
    const name = map.getZoom() > COARSE ? "countries-50m.json" : "countries-110m.json", { color, caretColor: fillColor } = getComputedStyle(pane);
    const wanted = [name, color, fillColor].join();
    if (shown === wanted) return;
    shown = wanted;
    const { land, borders } = await read(name);
    if (shown !== wanted) return;
    const still = { renderer, interactive: false, pmIgnore: true, weight: 1, color };
    group?.remove();
    group = library.layerGroup([
      library.polygon(land, { ...still, fillColor, fillOpacity: 1 }),
      ...borders.flat().map((line) => library.polyline(line, { ...still, dashArray: "3 3" })),
    ]).addTo(map);
    pane.dataset.shown = name;
  };
  const shows = () => put().catch(() => { shown = ""; });
  map.on("zoomend", shows);
  map.on("unload", onTheme(shows));
  map.whenReady(shows);
}
