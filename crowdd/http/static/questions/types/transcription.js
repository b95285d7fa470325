/* A text line by line; beside a picture each line may have a box. */
import { drawOn } from "../marks/drawing.js";
import { MarksField } from "../marks/field.js";
import { RowItem } from "../marks/row_item.js";
import { box } from "../marks/shapes.js";

const MAX = 10000; // characters of a line
const hasBox = ({ x }) => x !== undefined;
const words = ({ text = "" }) => ({ text });
const boxOf = ({ x, y, width, height }) => ({ x, y, width, height });
const boxed = (change) => (row, ...others) => (hasBox(row) ? { ...words(row), ...change(boxOf(row), ...others) } : row);

const row = {
  word: "row", max: MAX,
  start: () => ({ text: "" }),
  box: (row, size, nth) => ({ ...words(row), ...box.start(size, nth) }),
  moved: boxed(box.moved), resized: boxed(box.resized),
  fields: (row, size) => (hasBox(row) ? box.fields(boxOf(row), size).map((field) => ({ ...field, set: (number) => ({ ...words(row), ...field.set(number) }) })) : []),
  answer: (row) => ({ ...words(row), ...(hasBox(row) ? box.answer(boxOf(row)) : {}) }),
  geometry: (answer) => (typeof answer.text === "string" ? { ...words(answer), ...(box.geometry(answer) ?? {}) } : null),
  says: (row) => (hasBox(row) ? box.says(boxOf(row)) : {}),
};

class RowsField extends MarksField {
  make(mark) {
    return new RowItem(this, mark);
  }
  /* What is drawn is the box of the chosen line, if that has none; otherwise a line of its own. */
  add(geometry, said, id) {
    const { current } = this;
    if (hasBox(geometry) && current && !hasBox(current.geometry)) {
      this.change(current, { ...geometry, ...words(current.geometry) });
      current.focus();
      return current;
    }
    const item = super.add({ ...words({}), ...geometry }, said, id);
    if (item && hasBox(geometry)) item.focus();
    return item;
  }
  change(item, geometry) {
    super.change(item, item ? { ...geometry, ...words(item.geometry) } : geometry);
  }
  put() {
    this.drawer.activate(this.layer);
    this.add(this.kind.start(), "row_added")?.focus();
  }
  drawn() {
    return this.items.filter(({ geometry }) => hasBox(geometry));
  }
  /* Without a text and a box a line is none. */
  value() {
    const rows = this.items.filter(({ geometry }) => geometry.text.trim() || hasBox(geometry));
    if (rows.length) return rows.map((item) => item.value());
    return this.nothing.checked ? [] : undefined;
  }
}

/* Beside sounds, videos and nothing at all there is nothing to draw on. */
const alone = (layer) => ({ size: { width: 0, height: 0 }, draw() {}, leave() {}, activate: () => layer.turned(false) });

export function create(question, context) {
  const surface = question.on ? context.medium(question.on).surface : null, pictured = Boolean(surface?.naturalWidth);
  return new RowsField(question, context, { ...row, pictured }, (layer) => (pictured ? drawOn(surface, layer) : alone(layer)));
}
