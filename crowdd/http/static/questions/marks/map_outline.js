/* An area that is being drawn on a map, corner by corner, as tools.js does on pictures. */
const NEAR = { touch: 16, mouse: 8 }; // pixels of the screen from a corner that is meant

export class MapOutline {
  /** `done(corners)` gets the [longitude, latitude] of each corner, of at least `fewest`, and cancels what it has taken. */
  constructor(library, map, { fewest, done }) {
    Object.assign(this, { library, map, fewest, done, points: [], cursor: null });
    this.group = library.layerGroup().addTo(map);
    this.follow = ({ latlng, originalEvent }) => {
      if (!this.busy || originalEvent.pointerType === "touch") return;
      this.cursor = latlng;
      this.draw();
    };
    map.on("mousemove", this.follow);
  }
  get busy() {
    return this.points.length > 0;
  }

  add(place, touch) {
    const { points } = this, near = touch ? NEAR.touch : NEAR.mouse;
    if (points.length >= this.fewest && this.apart(place, points[0]) < near) return this.finish();
    if (points.length && this.apart(place, points.at(-1)) < near / 2) return this.finish(); // a double click, or a second tap
    points.push(place);
    this.draw();
  }
  apart(one, other) {
    return this.map.latLngToContainerPoint(one).distanceTo(this.map.latLngToContainerPoint(other));
  }

  finish() {
    const { points } = this;
    if (points.length >= this.fewest) this.done(points.map(({ lng, lat }) => [lng, lat]));
  }
  shorten() {
    this.points.pop();
    this.draw();
  }
  cancel() {
    Object.assign(this, { points: [], cursor: null });
    this.draw();
  }

  draw() {
    const { library, group, points, cursor } = this, still = { interactive: false, pmIgnore: true }, shown = cursor && points.length ? [...points, cursor] : points;
    group.clearLayers();
    for (const [color, weight] of [["#000", 5], ["#fff", 2]]) group.addLayer(library.polyline(shown, { ...still, color, weight, opacity: 0.9 }));
    for (const [nth, place] of points.entries()) group.addLayer(library.circleMarker(place, { ...still, radius: nth ? 4 : 6, color: "#000", weight: 1.5, fillColor: "#fff", fillOpacity: 1 }));
  }

  destroy() {
    this.map.off("mousemove", this.follow);
    this.group.remove();
  }
}
