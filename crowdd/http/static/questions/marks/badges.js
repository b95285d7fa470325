/* Numbers beside marks on a picture: colours alone say nothing to many people.  A number stands outside of its mark, and of the
   others where there is room; if there is none at all, it is in the list only. */
const HEIGHT = 18, DIGIT = 8, APART = 5; // pixels of the screen
const MANY = 100; // marks, above which a number may stand on another one's

const around = ({ left, top, right, bottom, peak }, wide) => { // places for a number: the corners of boxes, then above and below
  const sides = [left - wide, right], levels = [top - HEIGHT, bottom], middle = (peak ?? left + wide / 2) - wide / 2;
  return [...(peak === undefined ? levels.flatMap((y) => sides.map((x) => [x, y])) : []), ...levels.map((y) => [middle, y]), ...sides.map((x) => [x, top])];
};
const apart = (one, other) => one.right <= other.left || one.left >= other.right || one.bottom <= other.top || one.top >= other.bottom;

/* What a mark takes up on the screen, with its line. */
function taken({ points, x, y, width = 0, height = 0 }, scale, radius) {
  const xs = points?.map(([right]) => right * scale) ?? [x * scale, (x + width) * scale], ys = points?.map(([, down]) => down * scale) ?? [y * scale, (y + height) * scale];
  const more = APART + (points || width ? 0 : radius), top = Math.min(...ys);
  return { left: Math.min(...xs) - more, top: top - more, right: Math.max(...xs) + more, bottom: Math.max(...ys) + more, ...(points ? { peak: xs[ys.indexOf(top)] } : {}) };
}

export class Badges {
  constructor(place) {
    this.element = Object.assign(document.createElement("div"), { className: "tags", ariaHidden: "true" });
    this.shown = new Map(); // by id of the mark
    place.append(this.element);
  }

  /** `marks` is a Map by id of {geometry, name}; `scale` is that of a picture of `size`, `radius` that of points on the screen. */
  draw(marks, current, { scale, size, radius }) {
    for (const [id, { element }] of this.shown) {
      if (marks.has(id)) continue;
      element.remove();
      this.shown.delete(id);
    }
    const all = marks.size > MANY ? [] : [...marks.values()].map(({ geometry }) => taken(geometry, scale, radius));
    for (const [id, { geometry, name }] of marks) this.put(id, name, this.free(taken(geometry, scale, radius), name.length * DIGIT + 8, all, { right: size.width * scale, bottom: size.height * scale }), id === current);
  }

  free(mark, wide, all, { right, bottom }) {
    const fits = ([x, y]) => x >= 0 && y >= 0 && x + wide <= right && y + HEIGHT <= bottom;
    const along = ([x, y]) => [Math.min(Math.max(x, 0), right - wide), Math.min(Math.max(y, 0), bottom - HEIGHT)]; // beside it, from the edge of the picture
    const sides = around(mark, wide), places = [...sides.filter(fits), ...sides.map(along)], box = ([left, top]) => ({ left, top, right: left + wide, bottom: top + HEIGHT });
    return places.find((each) => [mark, ...all].every((other) => apart(box(each), other))) ?? places.find((each) => apart(box(each), mark));
  }

  put(id, name, place, current) {
    const state = `${name} ${place} ${current}`, known = this.shown.get(id);
    if (known?.state === state) return;
    const element = known?.element ?? document.createElement("span");
    element.textContent = name;
    element.hidden = !place;
    element.style.translate = place ? `${place[0]}px ${place[1]}px` : "";
    element.classList.toggle("chosen", current);
    if (!known) this.element.append(element);
    this.shown.set(id, { state, element });
  }
}
