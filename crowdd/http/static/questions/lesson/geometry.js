/* How far marks agree.  Pure functions; a share is the part of both marks together that they have in common, 0 to 1. */
const GRID = 100, EARTH = 6371008.8; // cells along each side of what two areas cover; metres

/** Of two rectangles {x, y, width, height}. */
export function rectangleShare(one, other) {
  const width = Math.min(one.x + one.width, other.x + other.width) - Math.max(one.x, other.x);
  const height = Math.min(one.y + one.height, other.y + other.height) - Math.max(one.y, other.y);
  const common = Math.max(0, width) * Math.max(0, height);
  return common / (one.width * one.height + other.width * other.height - common || 1);
}

/** Of two spans {start, end}. */
export function spanShare(one, other) {
  const common = Math.max(0, Math.min(one.end, other.end) - Math.max(one.start, other.start));
  return common / (one.end - one.start + other.end - other.start - common || 1);
}

function inside([x, y], corners) {
  let within = false;
  for (let at = 0, before = corners.length - 1; at < corners.length; before = at++) {
    const [x1, y1] = corners[at], [x2, y2] = corners[before];
    if (y1 > y !== y2 > y && x < ((x2 - x1) * (y - y1)) / (y2 - y1) + x1) within = !within;
  }
  return within;
}

/** Of two areas, lists of corners, counted on a grid. */
export function areaShare(one, other) {
  const xs = [...one, ...other].map(([x]) => x), ys = [...one, ...other].map(([, y]) => y);
  const [left, top] = [Math.min(...xs), Math.min(...ys)], width = Math.max(...xs) - left, height = Math.max(...ys) - top;
  let both = 0, any = 0;
  for (let row = 0; row < GRID; row++) {
    for (let column = 0; column < GRID; column++) {
      const place = [left + ((column + 0.5) / GRID) * width, top + ((row + 0.5) / GRID) * height];
      const first = inside(place, one), second = inside(place, other);
      both += first && second ? 1 : 0;
      any += first || second ? 1 : 0;
    }
  }
  return both / (any || 1);
}

function toSegment([x, y], [x1, y1], [x2, y2]) {
  const length = (x2 - x1) ** 2 + (y2 - y1) ** 2;
  const along = length ? Math.min(1, Math.max(0, ((x - x1) * (x2 - x1) + (y - y1) * (y2 - y1)) / length)) : 0;
  return Math.hypot(x - x1 - along * (x2 - x1), y - y1 - along * (y2 - y1));
}

/** The largest distance from a corner of one line to the other line. */
export function farthest(one, other) {
  const away = (line, from) => Math.max(...from.map((place) => Math.min(...line.slice(1).map((end, at) => toSegment(place, line[at], end)))));
  return Math.max(away(one, other), away(other, one));
}

/** Between two places [longitude, latitude]. */
export function metres([one, north], [other, south]) {
  const rad = Math.PI / 180, half = Math.sin(((south - north) * rad) / 2) ** 2;
  const around = Math.cos(north * rad) * Math.cos(south * rad) * Math.sin(((other - one) * rad) / 2) ** 2;
  return 2 * EARTH * Math.asin(Math.sqrt(half + around));
}
