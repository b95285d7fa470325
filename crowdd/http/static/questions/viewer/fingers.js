/* Two fingers on a picture.  One finger draws or moves it; two move and enlarge it, and end what the first one had begun. */

export class Fingers {
  /**
   * `begin()` is called when a second finger comes; false says that it does not matter here.  `move({from, to, scale})` gets the
   * middle between both before and after a movement, in pixels of the window, and by how much they are further apart.
   */
  constructor(place, { begin, move }) {
    Object.assign(this, { begin, move, down: new Map(), two: false });
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) place.addEventListener(name, (event) => this.hear(event), true);
  }

  hear(event) {
    const { down } = this, { type, pointerId, pointerType, clientX, clientY } = event;
    if (pointerType !== "touch") return;
    if (type === "pointerdown" && event.isPrimary) this.forget();
    const before = this.shape();
    if (type === "pointerdown" || (type === "pointermove" && down.has(pointerId))) down.set(pointerId, [clientX, clientY]);
    if (type === "pointerdown" && down.size === 2) this.two = this.begin() !== false;
    if (this.two) {
      event.stopImmediatePropagation();
      const after = this.shape();
      if (type === "pointermove" && before && after) this.move?.({ from: before.middle, to: after.middle, scale: after.apart / before.apart });
    }
    if (/up|cancel/.test(type)) down.delete(pointerId);
    if (!down.size) this.forget();
  }

  forget() {
    this.down.clear();
    this.two = false;
  }

  shape() {
    if (this.down.size !== 2) return null;
    const [[x, y], [right, bottom]] = [...this.down.values()];
    return { middle: [(x + right) / 2, (y + bottom) / 2], apart: Math.max(Math.hypot(right - x, bottom - y), 1) };
  }
}
