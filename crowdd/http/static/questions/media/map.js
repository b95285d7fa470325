/* A map (Leaflet).  Its source is a place to begin with: "latitude, longitude", or GeoJSON that is shown. */
import { element } from "../element.js";
import { leaflet, look } from "../marks/libraries.js";
import { focusStill } from "../pointer.js";
import { ground } from "./base_map.js";
import { fileLayer } from "./map_file.js";

const PLACE = /^\s*(-?\d+(?:\.\d+)?)\s*[,;\s]\s*(-?\d+(?:\.\d+)?)\s*$/, COMMAS = /^\s*(-?\d+(?:,\d+)?)(?:\s*;\s*|\s+)(-?\d+(?:,\d+)?)\s*$/;
const START = { center: [20, 0], zoom: 2, placed: 14 };

export function create(medium, context) {
  const place = element("div", { className: "map", dir: "ltr" }), surface = { map: null };
  let shown = null, tiles = null;
  return {
    element: place, surface,
    settled: () => Promise.resolve(), // its place has a size of its own
    async show(task) {
      const [library] = await Promise.all([leaflet(), look()]);
      surface.map ??= begin(library, place, medium, context);
      const { tiles: address, file } = pictured(medium);
      if (file) tiles ??= await fileLayer(surface.map, file);
      if (address) tiles ??= library.tileLayer(address, { maxZoom: 22, maxNativeZoom: 19 }).addTo(surface.map);
      surface.map.getContainer().setAttribute("aria-label", context.description(task));
      shown?.remove();
      shown = turnTo(library, surface.map, medium, medium.source ? context.source(task) : "");
      requestAnimationFrame(() => surface.map.invalidateSize());
      if (tiles) await seen(tiles, surface.map);
    },
    destroy: () => surface.map?.remove(),
  };
}

function begin(library, place, medium, context) {
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const map = library.map(place, { zoomControl: false, attributionControl: false, zoomAnimation: !still, fadeAnimation: !still, scrollWheelZoom: false, worldCopyJump: true, maxZoom: 24 });
  map.getContainer().setAttribute("role", "region");
  focusStill(map.getContainer());
  library.control.zoom({ zoomInTitle: context.word("zoom_in"), zoomOutTitle: context.word("zoom_out") }).addTo(map);
  const { tiles, file, attribution } = pictured(medium);
  if (attribution) library.control.attribution({ prefix: false }).addAttribution(written(context.text(attribution))).addTo(map);
  if (!tiles && !file) ground(library, map);
  map.on("focus", () => map.scrollWheelZoom.enable()); // before that a wheel scrolls the page
  map.on("blur", () => map.scrollWheelZoom.disable());
  new ResizeObserver(() => map.invalidateSize()).observe(place);
  return map;
}

/* The address of its pictures or of a file of the site, and what their provider asks for: its own, or those of the site where it shows these. */
function pictured(medium) {
  const site = medium.site_map && !medium.tiles ? JSON.parse(document.getElementById("questions-map")?.textContent || "{}") : {};
  return site.tiles || site.file ? site : medium;
}

/* Leaflet takes attributions as HTML. */
function written(words) {
  return element("span", {}, words).innerHTML;
}

/* Until some tiles are seen; without any, the map is not.  Those that did not load are asked for once more. */
async function seen(tiles, map) {
  const any = () => tiles.getContainer().querySelector(".leaflet-tile-loaded");
  if (!tiles.isLoading() && !any()) tiles.redraw();
  if (tiles.isLoading() || !map.getSize().x) await new Promise((resolve) => tiles.once("load", resolve));
  if (!any()) throw new Error("The tiles did not load.");
}

/* Shows the part of the map that a task begins with, and answers what was added to it. */
function turnTo(library, map, { center, zoom }, source) {
  const [, latitude, longitude] = (PLACE.exec(source) ?? COMMAS.exec(source) ?? []).map((part) => part.replace(",", "."));
  if (latitude !== undefined && Math.abs(latitude) <= 90 && Math.abs(longitude) <= 180) {
    map.setView([Number(latitude), Number(longitude)], zoom ?? START.placed);
    return null;
  }
  const layer = source ? geometries(library, source) : null;
  if (layer) {
    layer.addTo(map);
    map.fitBounds(layer.getBounds(), { maxZoom: zoom ?? 17, padding: [20, 20] });
    return layer;
  }
  map.setView(center ?? START.center, zoom ?? START.zoom);
  if (source.trim()) throw new Error("No place.");
  return null;
}

/* Dashes on a lighter line, which are seen on land and sea, on tiles of a site, by day and by night. */
const UNDER = { color: "#fff", weight: 5, opacity: .75, fill: false }, DASHES = { color: "#000", weight: 2, dashArray: "6 4", fill: false };

function geometries(library, source) {
  try {
    const shapes = JSON.parse(source);
    const layer = library.featureGroup([UNDER, DASHES].map((style) => library.geoJSON(shapes, { interactive: false, pmIgnore: true, style, pointToLayer: (_, place) => library.circleMarker(place, { radius: 6, pmIgnore: true }) })), { pmIgnore: true });
    return layer.getBounds().isValid() ? layer : null;
  } catch {
    return null;
  }
}
