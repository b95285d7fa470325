/* An area that is being drawn on a map, corner by corner, as tools.js does on pictures. */
import { withCorners } from "./corners.js";

export class MapOutline extends withCorners(Object) {
  /** `done(corners)` gets the [longitude, latitude] of each corner, of at least `fewest`, and cancels what it has taken. */
  constructor(library, map, { fewest, done }) {
    super();
    Object.assign(this, { library, map, fewest, done, closed: true });
    this.group = library.layerGroup().addTo(map);
    this.moved = ({ latlng, originalEvent }) => this.follow(latlng, originalEvent.pointerType);
    map.on("mousemove", this.moved);
  }

  apart(one, other) {
    return this.map.latLngToContainerPoint(one).distanceTo(this.map.latLngToContainerPoint(other));
  }

  finish() {
    const { points } = this;
    if (points.length >= this.fewest) this.done(points.map(({ lng, lat }) => [lng, lat]));
  }

  draw() {
    const { library, group, points, shown } = this, still = { interactive: false, pmIgnore: true };
    group.clearLayers();
    for (const [color, weight] of [["#000", 5], ["#fff", 2]]) group.addLayer(library.polyline(shown, { ...still, color, weight, opacity: 0.9 }));
    for (const [nth, place] of points.entries()) group.addLayer(library.circleMarker(place, { ...still, radius: nth ? 4 : 6, color: "#000", weight: 1.5, fillColor: "#fff", fillOpacity: 1 }));
  }

  destroy() {
    this.map.off("mousemove", this.moved);
    this.group.remove();
  }
}
