/* Whether an answer to a practice task is right.  Pure functions.  What `tolerance` means depends on the type:
     box, polygon, freehand, map_area, text_spans, *_segments   the part of both marks together that they share, 0 to 1 (0.5)
     point, line     pixels of the original picture (a twentieth of its longer side)
     map_place       metres (1,000)
     count           how many marks more or fewer (0)
     number, rating  the difference (0)
     short_text, long_text, transcription   characters that differ (0); case and spaces never count
   Marks are right when each one that is known has a mark of its own with the same label, and there is no further mark. */
import { areaShare, farthest, metres, rectangleShare, spanShare } from "./geometry.js";

const SHARE = 0.5, PLACE = 0.05, METRES = 1000, MAX_COMPARED = 2000; // characters that are compared one by one
const distance = (one, other) => Math.hypot(one.x - other.x, one.y - other.y);
const shares = (share) => (one, other, { tolerance = SHARE }) => share(one, other) >= tolerance;
const near = (measure) => (one, other, { tolerance, longer }) => measure(one, other) <= (tolerance ?? PLACE * longer);

const MARKS = {
  box: shares(rectangleShare),
  polygon: shares((one, other) => areaShare(one.points, other.points)),
  freehand: shares((one, other) => areaShare(one.points, other.points)),
  map_area: shares((one, other) => areaShare(one.geometry.coordinates[0], other.geometry.coordinates[0])),
  text_spans: shares(spanShare), sound_segments: shares(spanShare), video_segments: shares(spanShare),
  point: near(distance),
  line: near((one, other) => farthest(one.points, other.points)),
  map_place: (one, other, { tolerance = METRES }) => metres(one.geometry.coordinates, other.geometry.coordinates) <= tolerance,
};
const VALUES = {
  number: (given, known, { tolerance = 0 }) => typeof given === "number" && Math.abs(given - known) <= tolerance,
  multiple_choice: (given, known) => same([...(given ?? [])].sort(), [...(known ?? [])].sort()) && (given === null) === (known === null),
  matrix: (given, known) => given && known ? Object.keys(known).every((row) => given[row] === known[row]) : given === known,
  count: (given, known, { tolerance = 0 }) => Math.abs((given ?? []).length - known.length) <= tolerance,
  short_text: (given, known, { tolerance = 0 }) => sameWords(given, known, tolerance),
  transcription: (given, known, { tolerance = 0 }) => sameWords(lines(given), lines(known), tolerance),
};
VALUES.rating = VALUES.number;
VALUES.long_text = VALUES.short_text;

const same = (one, other) => JSON.stringify(one ?? null) === JSON.stringify(other ?? null);
const lines = (found) => (found ?? []).map(({ text }) => text).join(" ");
const plain = (words) => String(words ?? "").normalize("NFC").toLowerCase().replace(/\s+/g, " ").trim();

function sameWords(given, known, tolerance) {
  const one = plain(given), other = plain(known);
  if (one === other || !tolerance) return one === other;
  if (Math.max(one.length, other.length) > MAX_COMPARED || Math.abs(one.length - other.length) > tolerance) return false;
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let at = 1; at <= one.length; at++) {
    const next = [at];
    for (let to = 1; to <= other.length; to++) next[to] = Math.min(next[to - 1] + 1, row[to] + 1, row[to - 1] + (one[at - 1] === other[to - 1] ? 0 : 1));
    row = next;
  }
  return row[other.length] <= tolerance;
}

/** How many of the known marks have a mark of their own: the largest number of pairs (augmenting paths). */
export function pairs(given, known, fits) {
  const taken = new Map();
  const place = (mark, seen) => given.some((each, nth) => {
    if (seen.has(nth) || each.label !== mark.label || !fits(each, mark)) return false;
    seen.add(nth);
    if (taken.has(nth) && !place(taken.get(nth), seen)) return false;
    taken.set(nth, mark);
    return true;
  });
  return known.filter((mark) => place(mark, new Set())).length;
}

/**
 * {right, marks?}: what an answer to a question is worth beside what is known of it, `{answers, tolerance}`.  `longer` is the longer side
 * of the picture in its pixels.  `marks` are {found, known, more} for marks that are not right.
 */
export function judge(question, given, { answers, tolerance }, longer = 0) {
  const rule = MARKS[question.type], about = { tolerance, longer };
  if (!rule) return { right: answers.some((known) => (VALUES[question.type] ?? same)(given, known, about)) };
  const marks = given ?? [], tried = answers.map((known) => ({ known: known ?? [], found: pairs(marks, known ?? [], (one, other) => rule(one, other, about)) }));
  if (given === null) return { right: answers.includes(null) };
  const right = tried.some(({ known, found }, nth) => answers[nth] !== null && found === known.length && found === marks.length);
  const [best] = tried.sort((one, other) => other.found - one.found);
  return right ? { right } : { right, marks: { found: best.found, known: best.known.length, more: marks.length - best.found } };
}
