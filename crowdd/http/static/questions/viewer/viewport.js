/* What of a picture is seen in a room on the screen, in numbers only.  Places in the picture are in its own pixels, places in the
   room in pixels of the screen, from the upper left corner of each. */
const SMALLEST = 0.5, LARGEST = 8; // times the size at which the whole picture is seen
const MAX_PIXEL = 10; // pixels of the screen for one of the finest picture
const WHOLE = 1.01; // up to this all of it is seen
const BEYOND = 56; // pixels of the screen that an enlarged picture can be moved beyond its edge

const TURNS = { 0: [1, 0], 90: [0, 1], 180: [-1, 0], 270: [0, -1] }; // cosine and sine
const turned = ([x, y], degrees) => {
  const [cos, sin] = TURNS[degrees];
  return [x * cos - y * sin, x * sin + y * cos];
};
const between = (number, low, high) => Math.min(Math.max(number, low), high);

export class Viewport {
  constructor() {
    this.room = { width: 1, height: 1 };
    this.begin({ width: 1, height: 1 });
  }

  /** Shows another picture, the whole of it. `fine` are pixels of the finest one that can be had, for one of this. */
  begin({ width, height }) {
    Object.assign(this, { picture: { width, height }, degrees: 0, fine: 1 });
    this.fit();
  }

  /** Another room: a whole picture stays whole, and another one keeps its size and its middle. */
  fill({ width, height }) {
    if (!width || !height) return;
    const { isWhole } = this;
    this.room = { width, height };
    if (isWhole) this.fit();
    else this.set(this.scale);
  }

  /** The size of the picture as it is turned. */
  get turned() {
    const { picture: { width, height }, degrees } = this;
    return degrees % 180 ? { width: height, height: width } : { width, height };
  }
  /** The scale, in pixels of the screen for one of the picture, at which all of it is seen. */
  get whole() {
    return Math.min(this.room.width / this.turned.width, this.room.height / this.turned.height);
  }
  /** How many times larger than the whole picture it is. */
  get zoom() {
    return this.scale / this.whole;
  }
  get isWhole() {
    return this.zoom <= WHOLE;
  }

  fit() {
    this.centre = [this.picture.width / 2, this.picture.height / 2];
    this.scale = this.whole;
  }

  set(scale) {
    const { whole } = this;
    this.scale = between(scale, whole * SMALLEST, Math.max(whole * LARGEST, MAX_PIXEL * this.fine));
    this.settle();
  }

  /** What is at a place of the room stays there. */
  scaleTo(scale, place = [this.room.width / 2, this.room.height / 2]) {
    const before = this.inPicture(place);
    this.set(scale);
    this.move(before, this.inPicture(place));
  }
  panBy(right, down) {
    this.move(turned([-right / this.scale, -down / this.scale], (360 - this.degrees) % 360), [0, 0]);
  }
  turn() {
    const { isWhole } = this;
    this.degrees = (this.degrees + 90) % 360;
    if (isWhole) this.fit();
    else this.set(this.scale);
  }

  move([x, y], [fromX, fromY]) {
    this.centre = [this.centre[0] + x - fromX, this.centre[1] + y - fromY];
    this.settle();
  }
  /** Brings a place of the picture into the middle, as far as that is possible. */
  turnTo(place) {
    this.move(place, this.centre);
  }

  /* The picture fills the room, or is in its middle. */
  settle() {
    const { picture, seen, isWhole, scale } = this, more = isWhole ? 0 : BEYOND / scale;
    this.centre = [picture.width, picture.height].map((size, axis) => {
      const half = seen[axis] / 2 - more;
      return size <= 2 * half || size <= seen[axis] ? size / 2 : between(this.centre[axis], half, size - half);
    });
  }
  /** How many pixels of the picture, along its own sides, the room has. */
  get seen() {
    const { room: { width, height }, scale, degrees } = this;
    return (degrees % 180 ? [height, width] : [width, height]).map((side) => side / scale);
  }

  inPicture([x, y]) {
    const { room, scale, degrees, centre } = this;
    const [right, down] = turned([(x - room.width / 2) / scale, (y - room.height / 2) / scale], (360 - degrees) % 360);
    return [centre[0] + right, centre[1] + down];
  }
  inRoom([x, y]) {
    const { room, scale, degrees, centre } = this, [right, down] = turned([(x - centre[0]) * scale, (y - centre[1]) * scale], degrees);
    return [room.width / 2 + right, room.height / 2 + down];
  }
}
