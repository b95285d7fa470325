/* Marks in a text, drawn by text-annotator.  Places are counted in characters (code points), as in most languages but
   JavaScript, which counts halves of some of them. */
import { Board, boardOn } from "./board.js";
import { colour } from "./colours.js";
import { look, textAnnotator } from "./libraries.js";

const points = (text, units) => [...text.slice(0, units)].length;
const units = (text, points) => [...text].slice(0, points).join("").length;
const between = (number, low, high) => Math.min(Math.max(number, low), Math.max(low, high));
const SPACE = /\s/u;

/* A span of a text between two places, without the blanks around it. */
function span(text, start, end) {
  const characters = [...text];
  let first = between(start, 0, characters.length - 1), last = between(end, first + 1, characters.length);
  while (first < last - 1 && SPACE.test(characters[first])) first++;
  while (last > first + 1 && SPACE.test(characters[last - 1])) last--;
  return { start: first, end: last, text: characters.slice(first, last).join("") };
}

/* Where words begin and end, in code points. */
function words(text, language) {
  const segments = new Intl.Segmenter(language || undefined, { granularity: "word" }).segment(text), found = [];
  for (const { index, segment, isWordLike } of segments) if (isWordLike) found.push([points(text, index), points(text, index + segment.length)]);
  return found.length ? found : [[0, [...text].length]];
}

/* The place after or before `at` where a word ends or begins. */
function jump(text, at, way, edge) {
  const places = words(text).map((word) => word[edge]);
  return way > 0 ? places.find((place) => place > at) ?? at : places.findLast((place) => place < at) ?? at;
}

/** Spans of a text.  Left and right go by words as they are read: `rightToLeft` says from where. */
export function spans({ rightToLeft }) {
  const way = (dx, dy) => Math.sign(dy || (rightToLeft() ? -dx : dx));
  return {
    word: "span", words: true, step: (_, fine) => (fine ? 1 : 2), // 2 is a word, 1 a character
    start({ text, used = [] }) {
      const free = words(text).find(([start, end]) => !used.some((span) => start < span.end && end > span.start)) ?? words(text)[0];
      return span(text, ...free);
    },
    moved(geometry, dx, dy, { text }) {
      const ahead = way(dx, dy);
      if (!ahead) return span(text, geometry.start, geometry.end);
      if (Math.abs(dx || dy) === 1) {
        const last = [...text].length - (geometry.end - geometry.start), start = between(geometry.start + ahead, 0, last), end = start + geometry.end - geometry.start;
        return { start, end, text: [...text].slice(start, end).join("") };
      }
      const start = jump(text, geometry.start, ahead, 0), word = words(text).find(([begin]) => begin === start);
      return word ? span(text, ...word) : geometry;
    },
    resized({ start, end }, dx, dy, { text }) {
      const ahead = way(dx, dy), to = Math.abs(dx || dy) === 1 ? end + ahead : jump(text, end, ahead, 1);
      return exact(text, start, to);
    },
    fields: ({ start, end }, { text }) => [["start", start, 0, end - 1], ["end", end, start + 1, [...text].length]].map(([word, value, min, max]) => ({
      word, value, min, max, step: 1,
      set: (number) => (word === "start" ? exact(text, between(Math.round(number), min, max), end) : exact(text, start, Math.round(number))),
    })),
    answer: ({ start, end, text }) => ({ start, end, text, selector: { type: "TextPositionSelector", start, end } }),
    geometry: ({ start, end, text }) => (Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end > start ? { start, end, text: String(text ?? "") } : null),
    says: ({ text }) => ({ place: text.length > 60 ? `“${[...text].slice(0, 58).join("")}…”` : `“${text}”` }),
  };
}
function exact(text, start, end) {
  const characters = [...text], first = between(start, 0, characters.length - 1), last = between(end, first + 1, characters.length);
  return { start: first, end: last, text: characters.slice(first, last).join("") };
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
    this.quiet = false;
    this.annotator.state.selection.subscribe(() => this.clicked());
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

  clicked() {
    if (this.quiet) return;
    const id = this.annotator.state.selection.selected?.[0]?.id, mark = this.marks.get(id);
    if (!mark || this.chosen === id) return;
    queueMicrotask(() => {
      this.activate(mark.layer);
      mark.layer.selected(id);
    });
  }

  draw(layer, marks, selected) {
    const { store, selection } = this.annotator.state, { text } = this.surface;
    this.quiet = true;
    for (const id of this.keep(layer, marks, selected)) store.deleteAnnotation(id, "REMOTE");
    for (const { id, geometry } of marks) {
      const start = units(text, geometry.start), end = units(text, geometry.end), quote = text.slice(start, end), before = store.getAnnotation(id);
      const [old] = before?.target.selector ?? [];
      if (!quote || (old && old.start === start && old.end === end)) continue;
      const target = { annotation: id, selector: [{ start, end, quote, range: this.range(start, end) }], created: new Date() };
      if (before) store.updateAnnotation({ ...before, target }, "REMOTE");
      else store.addAnnotation({ id, bodies: [], target }, "REMOTE");
    }
    const now = selection.selected?.[0]?.id ?? null;
    if (this.chosen !== now) {
      if (this.chosen && this.marks.get(this.chosen)) selection.setSelected(this.chosen);
      else selection.clear();
    }
    this.quiet = false;
    this.annotator.setStyle(({ id }, state) => this.style(id, state));
  }
  range(start, end) {
    const range = document.createRange(), { firstChild } = this.surface.root;
    range.setStart(firstChild, start);
    range.setEnd(firstChild, end);
    return range;
  }

  style(id, state) {
    const fill = this.marks.get(id)?.colour ?? colour(0), chosen = state?.selected || this.chosen === id;
    return { fill, fillOpacity: chosen ? 0.65 : 0.35, underlineColor: fill, underlineThickness: chosen ? 4 : 2, underlineOffset: 2 };
  }

  arm(armed) {
    super.arm(armed);
    this.annotator.setAnnotatingEnabled(Boolean(armed && this.active));
  }
  destroy() {
    this.annotator.destroy();
    this.surface.root.querySelector(".r6o-span-highlight-layer")?.remove();
    this.surface.root.classList.remove("markable");
  }
}
