/* Kinds of marks on pictures: pure functions on their geometry, in pixels of the original picture (y goes down).
     word       the end of the names of its words: add_box, mark_box …
     spot       whether it is one place; readable: whether its place says something to people without a map
     start(size, nth)            where a mark is put that is added without a pointer; size {width, height}
     moved(geometry, dx, dy, size), resized(geometry, dx, dy, size)
     fields(geometry, size)      numbers that can be typed: [{word, value, step, set(number) → geometry}]
     answer(geometry)            what is stored: the geometry and its selector (W3C Web Annotation Data Model)
     geometry(answer)            back again; null for what is not such a mark */

const FRAGMENTS = "http://www.w3.org/TR/media-frags/";
const MIN = 1; // pixels of a side

/** Rounded to a tenth: pictures have no finer places. */
export const tenth = (number) => Math.round(number * 10) / 10 || 0;
const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));
const finite = (...numbers) => numbers.every((number) => typeof number === "number" && Number.isFinite(number));

export const fragment = (value) => ({ type: "FragmentSelector", conformsTo: FRAGMENTS, value });
const svg = (name, points) => ({ type: "SvgSelector", value: `<svg xmlns="http://www.w3.org/2000/svg"><${name} points="${points.map((point) => point.join(",")).join(" ")}"/></svg>` });

/* A new mark is put into the middle, and a little further for each one that is there. */
const beside = (size, nth) => (nth % 8) * Math.min(size.width, size.height) * 0.02;

/** A step of an arrow key: a hundredth of the picture, or a pixel. */
export const step = (size, fine) => (fine ? 1 : Math.max(1, Math.round(Math.max(size.width, size.height) / 100)));

function fitted({ x, y, width, height }, size) {
  const wide = between(width, MIN, size.width), high = between(height, MIN, size.height);
  return { x: tenth(between(x, 0, size.width - wide)), y: tenth(between(y, 0, size.height - high)), width: tenth(wide), height: tenth(high) };
}

/** A box as a pointer drew it: what lies outside of the picture is cut off. */
export function cut({ x, y, width, height }, size) {
  const left = between(x, 0, size.width - MIN), top = between(y, 0, size.height - MIN);
  const right = between(x + width, left + MIN, size.width), bottom = between(y + height, top + MIN, size.height);
  return { x: tenth(left), y: tenth(top), width: tenth(right - left), height: tenth(bottom - top) };
}

export const box = {
  word: "box",
  start(size, nth) {
    const width = size.width / 4, height = size.height / 4, away = beside(size, nth);
    return fitted({ x: (size.width - width) / 2 + away, y: (size.height - height) / 2 + away, width, height }, size);
  },
  moved: (box, dx, dy, size) => fitted({ ...box, x: box.x + dx, y: box.y + dy }, size),
  resized: (box, dx, dy, size) => cut({ ...box, width: Math.max(MIN, box.width + dx), height: Math.max(MIN, box.height + dy) }, size),
  fields: (box, size) => [["x", size.width - box.width], ["y", size.height - box.height], ["width", size.width - box.x], ["height", size.height - box.y]].map(([name, max]) => ({
    word: name, value: box[name], step: 1,
    set: (number) => cut({ ...box, [name]: between(number, 0, max) }, size),
  })),
  answer: (box) => ({ ...box, selector: fragment(`xywh=pixel:${box.x},${box.y},${box.width},${box.height}`) }),
  geometry: ({ x, y, width, height }) => (finite(x, y, width, height) ? { x, y, width, height } : null),
  says: ({ x, y, width, height }) => ({ place: `${x}, ${y}`, size: `${width} × ${height}` }),
};

const placed = ({ x, y }, size) => ({ x: tenth(between(x, 0, size.width)), y: tenth(between(y, 0, size.height)) });

export const point = {
  word: "point", spot: true,
  start: (size, nth) => placed({ x: size.width / 2 + beside(size, nth), y: size.height / 2 + beside(size, nth) }, size),
  moved: (point, dx, dy, size) => placed({ x: point.x + dx, y: point.y + dy }, size),
  fields: (point, size) => ["x", "y"].map((name) => ({
    word: name, value: point[name], step: 1, set: (number) => placed({ ...point, [name]: number }, size),
  })),
  answer: ({ x, y }) => ({ x, y, selector: fragment(`xywh=pixel:${x},${y},1,1`) }),
  geometry: ({ x, y }) => (finite(x, y) ? { x, y } : null),
  says: ({ x, y }) => ({ place: `${x}, ${y}`, size: "" }),
};

function path(word, closed, fewest, first) {
  const within = (points, size) => ({ points: points.map(([x, y]) => [tenth(between(x, 0, size.width)), tenth(between(y, 0, size.height))]) });
  return {
    word, closed, fewest,
    start(size, nth) {
      const away = beside(size, nth);
      return within(first.map(([x, y]) => [size.width * x + away, size.height * y + away]), size);
    },
    moved({ points }, dx, dy, size) { // as a whole: it keeps its form at the edges of the picture
      const xs = points.map(([x]) => x), ys = points.map(([, y]) => y);
      const right = between(dx, -Math.min(...xs), size.width - Math.max(...xs)), down = between(dy, -Math.min(...ys), size.height - Math.max(...ys));
      return within(points.map(([x, y]) => [x + right, y + down]), size);
    },
    resized({ points }, dx, dy, size) {
      const xs = points.map(([x]) => x), ys = points.map(([, y]) => y), left = Math.min(...xs), top = Math.min(...ys);
      const wide = Math.max(...xs) - left, high = Math.max(...ys) - top;
      const scaled = (value, from, length, more) => (length ? from + (value - from) * Math.max(length + more, MIN) / length : value);
      return within(points.map(([x, y]) => [scaled(x, left, wide, dx), scaled(y, top, high, dy)]), size);
    },
    fields({ points }, size, nth) {
      const at = between(nth ?? 0, 0, points.length - 1);
      return ["x", "y"].map((name, axis) => ({
        word: name, value: points[at][axis], step: 1,
        set: (number) => within(points.map((point, which) => (which === at ? point.with(axis, number) : point)), size),
      }));
    },
    /** With one more point halfway to the next. */
    longer({ points }, nth, size) {
      const here = points[nth], next = points[nth + 1] ?? (closed ? points[0] : [here[0] + step(size), here[1] + step(size)]);
      return within(points.toSpliced(nth + 1, 0, [(here[0] + next[0]) / 2, (here[1] + next[1]) / 2]), size);
    },
    shorter: ({ points }, nth) => (points.length > fewest ? { points: points.toSpliced(nth, 1) } : null),
    drawn: ({ points }, size) => within(points, size),
    answer: ({ points }) => ({ points, selector: svg(closed ? "polygon" : "polyline", points) }),
    geometry: ({ points }) => (Array.isArray(points) && points.length >= fewest && points.every((each) => Array.isArray(each) && each.length === 2 && finite(...each)) ? { points } : null),
    says: ({ points }, context) => ({ place: points[0].join(", "), size: context.word("n_points", { n: points.length }) }),
  };
}

export const line = path("line", false, 2, [[0.375, 0.5], [0.625, 0.5]]);
export const polygon = path("polygon", true, 3, [[0.4, 0.4], [0.6, 0.4], [0.6, 0.6], [0.4, 0.6]]);
export const freehand = path("freehand", true, 3, [[0.6, 0.5], [0.57, 0.57], [0.5, 0.6], [0.43, 0.57], [0.4, 0.5], [0.43, 0.43], [0.5, 0.4], [0.57, 0.43]]);
