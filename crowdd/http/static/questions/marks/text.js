/* Marks in a text, drawn by text-annotator.  Places are counted in characters (code points), as in most languages but
   JavaScript, which counts halves of some of them. */
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { look, textAnnotator } from "./libraries.js";

const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));
const SLIP = 4; // pixels that a hand moves while it clicks
const SPACE = /\s/u, HALF = /[\uD800-\uDFFF]/;

/* What is known of the text that was asked for last: it may be long, and is asked for with each key. */
let last = null;
function known(text) {
  if (last?.text !== text) last = { text, plain: !HALF.test(text), characters: null, words: null };
  return last;
}
const characters = (text) => (known(text).plain ? text : (known(text).characters ??= [...text]));
const part = (text, start, end) => (known(text).plain ? text.slice(start, end) : characters(text).slice(start, end).join(""));
const points = (text, units) => (known(text).plain ? between(units, 0, text.length) : [...text.slice(0, units)].length);
const units = (text, points) => (known(text).plain ? points : part(text, 0, points).length);

/* A span of a text between two places, without the blanks around it. */
function span(text, start, end) {
  const all = characters(text);
  let first = between(start, 0, all.length - 1), last = between(end, first + 1, all.length);
  while (first < last - 1 && SPACE.test(all[first])) first++;
  while (last > first + 1 && SPACE.test(all[last - 1])) last--;
  return { start: first, end: last, text: part(text, first, last) };
}

/* Where words begin and end, in code points: [[start, end], …]. */
function words(text) {
  return known(text).words ??= found(text);
}
function found(text) {
  const places = [];
  let at = 0;
  for (const { segment, isWordLike } of new Intl.Segmenter(undefined, { granularity: "word" }).segment(text)) {
    const length = known(text).plain ? segment.length : [...segment].length;
    if (isWordLike) places.push([at, at + length]);
    at += length;
  }
  return places.length ? places : [[0, at]];
}

/* The place after or before `at` where a word ends or begins. */
function jump(text, at, way, edge) {
  const near = way > 0 ? words(text).find((word) => word[edge] > at) : words(text).findLast((word) => word[edge] < at);
  return near ? near[edge] : at;
}

/** Spans of a text.  Left and right go by words as they are read: `rightToLeft` says from where. */
export function spans({ rightToLeft }) {
  const way = (dx, dy) => Math.sign(dy || (rightToLeft() ? -dx : dx));
  return {
    word: "span", words: true, readable: true, step: (_, fine) => (fine ? 1 : 2), // 2 is a word, 1 a character
    start({ text, used = [] }) {
      const free = words(text).find(([start, end]) => !used.some((span) => start < span.end && end > span.start)) ?? words(text)[0];
      return span(text, ...free);
    },
    moved(geometry, dx, dy, { text }) {
      const ahead = way(dx, dy);
      if (!ahead) return span(text, geometry.start, geometry.end);
      if (Math.abs(dx || dy) === 1) {
        const length = geometry.end - geometry.start, start = between(geometry.start + ahead, 0, characters(text).length - length);
        return { start, end: start + length, text: part(text, start, start + length) };
      }
      const start = jump(text, geometry.start, ahead, 0), word = words(text).find(([begin]) => begin === start);
      return word ? span(text, ...word) : geometry;
    },
    resized({ start, end }, dx, dy, { text }) {
      const ahead = way(dx, dy), to = Math.abs(dx || dy) === 1 ? end + ahead : jump(text, end, ahead, 1);
      return exact(text, start, to);
    },
    fields: ({ start, end }, { text }) => [["start", start], ["end", end]].map(([word, value]) => ({
      word, value, step: 1,
      set: (number) => (word === "start" ? exact(text, between(Math.round(number), 0, end - 1), end) : exact(text, start, Math.round(number))),
    })),
    acts: {
      word_more: ({ start, end }, { size: { text } }) => exact(text, start, jump(text, end, 1, 1)),
      word_less: ({ start, end }, { size: { text } }) => (jump(text, end, -1, 1) > start ? exact(text, start, jump(text, end, -1, 1)) : null),
    },
    answer: ({ start, end, text }) => ({ start, end, text, selector: { type: "TextPositionSelector", start, end } }),
    geometry: ({ start, end, text }) => (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end > start ? { start, end, text: String(text ?? "") } : null),
    says: ({ text }) => ({ place: text.length > 60 ? `“${[...text].slice(0, 58).join("")}…”` : `“${text}”` }),
  };
}
function exact(text, start, end) {
  const { length } = characters(text), first = between(start, 0, length - 1), last = between(end, first + 1, length);
  return { start: first, end: last, text: part(text, first, last) };
}

/** Lets a question mark the text of a surface. */
export const markText = (surface, layer) => boardOn(surface, layer, async () => {
  const [library] = await Promise.all([textAnnotator(), look()]);
  return new TextBoard(surface, library);
});

class TextBoard extends Board {
  constructor(surface, library) {
    super(surface);
    const { root } = surface;
    root.classList.add("markable");
    this.annotator = library.createTextAnnotator(root, { userSelectAction: "SELECT", renderer: "SPANS", style: ({ id }, state) => this.style(id, state) });
    this.annotator.state.store.observe(({ origin, changes }) => origin === "LOCAL" && this.marked(changes));
    this.begin = ({ clientX, clientY }) => { this.from = [clientX, clientY]; };
    this.click = (event) => this.clicked(event);
    root.addEventListener("pointerdown", this.begin);
    root.addEventListener("click", this.click);
  }

  /* A click on a mark chooses it.  A finger that taps a word marks it: to select words takes a long press, and handles that are
     hard to grasp. */
  clicked({ clientX, clientY, detail, pointerType }) {
    const { from = [clientX, clientY] } = this, [x, y] = from;
    if (detail > 1 || Math.hypot(clientX - x, clientY - y) > SLIP || String(document.getSelection())) return; // words are selected
    const { root, text } = this.surface, caret = document.caretPositionFromPoint?.(clientX, clientY) ?? document.caretRangeFromPoint(clientX, clientY);
    const at = caret && (caret.offsetNode ?? caret.startContainer) === root.firstChild ? points(text, caret.offset ?? caret.startOffset) : -1;
    const hit = (start, end) => start <= at && at <= end && this.covers(start, end, clientX, clientY);
    const [id, { layer = this.active } = {}] = [...this.marks].findLast(([, { geometry: { start, end } }]) => hit(start, end)) ?? [];
    const word = !id && pointerType === "touch" && this.armed && words(text).find(([start, end]) => hit(start, end));
    const taken = ({ geometry }) => geometry.start < word[1] && geometry.end > word[0];
    if (word && ![...this.marks.values()].some(taken)) return this.active?.created(span(text, ...word));
    if (id) this.activate(layer);
    layer?.selected(id ?? null);
  }
  covers(start, end, x, y) {
    const { text } = this.surface, boxes = [...this.range(units(text, start), units(text, end)).getClientRects()];
    return boxes.some(({ left, right, top, bottom }) => left <= x && x <= right && top <= y && y <= bottom);
  }
  get size() {
    const { text } = this.surface;
    return { text, used: [...this.marks.values()].map(({ geometry }) => geometry) };
  }

  marked({ created = [], updated = [] }) {
    for (const { id, target } of created) this.later(() => this.active?.created(this.geometry(target), id), id);
    for (const { newValue: { id, target } } of updated) this.later(() => this.marks.get(id)?.layer.changed(id, this.geometry(target)), id);
  }
  /* Not within the library's own change. */
  later(act, id) {
    queueMicrotask(() => {
      if (!this.armed && !this.marks.has(id)) this.annotator.state.store.deleteAnnotation(id, "REMOTE");
      else act();
      if (!this.marks.has(id)) this.annotator.state.store.deleteAnnotation(id, "REMOTE");
      document.getSelection()?.removeAllRanges();
    });
  }
  geometry({ selector: [{ start, end }] }) {
    const { text } = this.surface;
    return span(text, points(text, start), points(text, end));
  }

  draw(layer, marks, current, selected) {
    const { store, selection } = this.annotator.state, { text } = this.surface;
    for (const id of this.keep(layer, marks, current, selected)) store.deleteAnnotation(id, "REMOTE");
    for (const { id, geometry } of marks) {
      const start = units(text, geometry.start), end = units(text, geometry.end), quote = text.slice(start, end), before = store.getAnnotation(id);
      const [old] = before?.target.selector ?? [];
      if (!quote || (old && old.start === start && old.end === end)) continue;
      const target = { annotation: id, selector: [{ start, end, quote, range: this.range(start, end) }], created: new Date() };
      if (before) store.updateAnnotation({ ...before, target }, "REMOTE");
      else store.addAnnotation({ id, bodies: [], target }, "REMOTE");
    }
    const now = selection.selected?.[0]?.id ?? null;
    if (this.current !== now) {
      if (this.marks.has(this.current)) selection.setSelected(this.current);
      else selection.clear();
    }
    this.annotator.setStyle(({ id }, state) => this.style(id, state));
  }
  range(start, end) {
    const range = document.createRange(), { firstChild } = this.surface.root;
    range.setStart(firstChild, start);
    range.setEnd(firstChild, end);
    return range;
  }

  style(id, state) {
    const fill = this.marks.get(id)?.colour ?? colour(0), current = state?.selected || this.current === id;
    return { fill, fillOpacity: 0.08, underlineColor: fill, underlineThickness: current ? 5 : 3, underlineOffset: 2 };
  }

  arm(armed) {
    super.arm(armed);
    this.annotator.setAnnotatingEnabled(Boolean(armed && this.active));
  }
  destroy() {
    this.surface.root.removeEventListener("pointerdown", this.begin);
    this.surface.root.removeEventListener("click", this.click);
    super.destroy();
    this.annotator.destroy();
    this.surface.root.querySelector(".r6o-span-highlight-layer")?.remove();
    this.surface.root.classList.remove("markable");
  }
}
