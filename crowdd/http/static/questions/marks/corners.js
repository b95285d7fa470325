/* An outline that is drawn corner by corner, on a picture (tools.js) or on a map (map_outline.js). */
const NEAR = { touch: 16, mouse: 8, pen: 8 }; // pixels of the screen from a corner that is meant

/**
 * Adds the corners to a class that has `fewest`, apart(one, other) in pixels of the screen, finish() and draw(); `closed`
 * outlines end at their first corner, too.
 */
export const withCorners = (Base) => class extends Base {
  points = [];
  cursor = null; // where the pointer is, for the line that would come next

  get busy() {
    return this.points.length > 0;
  }
  /* The line as it is seen: to the pointer, once it has begun. */
  get shown() {
    return this.cursor && this.busy ? [...this.points, this.cursor] : this.points;
  }
  add(place, pointerType) {
    const { points, closed, fewest } = this, near = NEAR[pointerType] ?? NEAR.mouse;
    const isLast = points.length > 0 && this.apart(place, points.at(-1)) < near / 2; // a double click, or a second tap
    if (isLast || (closed && points.length >= fewest && this.apart(place, points[0]) < near)) this.finish();
    else points.push(place);
    this.draw();
  }
  follow(place, pointerType) {
    if (!this.busy || pointerType === "touch") return;
    this.cursor = place;
    this.draw();
  }
  shorten() {
    this.points.pop();
    this.draw();
  }
  cancel() {
    Object.assign(this, { points: [], cursor: null });
    this.draw();
  }
};
