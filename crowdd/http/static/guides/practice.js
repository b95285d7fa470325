// The fields of a practice task: its answer is given by answering it.
import { ask } from "./sample_dialog.js";
import { button, made, numberField, text } from "./fields.js";

const TOLERANCES = {
  box: "share", polygon: "share", freehand: "share", map_area: "share", text_spans: "share", sound_segments: "share", video_segments: "share",
  point: "pixels", line: "pixels", map_place: "metres", count: "marks", number: "difference", rating: "difference",
  short_text: "characters", long_text: "characters", transcription: "characters",
};

export function practiceFields(editor, step, info, redraw) {
  const { words, model } = editor;
  const answer = async () => {
    const given = await ask(editor, editor.questions, info, words.answer_sample, words.answer_sample_hint);
    if (!given) return;
    model.mark();
    const before = new Map(step.practice.map((known) => [known.question, known]));
    const asked = editor.parts().questions.filter(({ name }) => name in given);
    step.practice = asked.map(({ name }) => ({ ...before.get(name), question: name, answers: accepted(before.get(name), given[name]) }));
    editor.changed(words.answered, true);
    redraw();
  };
  return made("div", { className: "stack" },
    step.practice.length ? null : made("p", { className: "soft" }, words.practice_none),
    ...step.practice.map((known) => knownFields(editor, step, known, redraw)),
    made("p", {}, button(step.practice.length ? words.answer_other : words.answer_sample, answer, "btn")));
}

/* Further answers count as right, too. */
function accepted(known, answer) {
  const all = known?.answers ?? [];
  return all.some((each) => JSON.stringify(each) === JSON.stringify(answer)) ? all : [...all, answer].slice(-20);
}

function knownFields(editor, step, known, redraw) {
  const { words, model } = editor, question = editor.parts().questions.find(({ name }) => name === known.question);
  const change = (act) => { model.mark(); act(); editor.changed(words.removed, true); redraw(); };
  const answers = known.answers.map((answer, nth) => made("li", {}, said(editor, question, answer), " ",
    known.answers.length > 1 ? button(words.remove, () => change(() => known.answers.splice(nth, 1))) : null));
  const kind = TOLERANCES[question?.type];
  const tolerance = kind ? numberField(words.tolerance, known.tolerance, (value) => {
    if (value === undefined) delete known.tolerance; else known.tolerance = value;
    editor.typed();
  }, words[`tolerance_${kind}`]) : null;
  const heading = made("h3", {}, question ? editor.plain(question.text) : `${words.gone}: ${known.question}`);
  return made("div", { className: "panel stack", role: "group", ariaLabel: heading.textContent }, heading, made("p", { className: "small soft" }, words.right_answers), made("ul", {}, ...answers), tolerance,
    text(editor, known, "right", words.said_right, { rows: 2 }), text(editor, known, "wrong", words.said_wrong, { rows: 2 }),
    made("p", {}, button(words.no_check, () => change(() => { step.practice = step.practice.filter((each) => each !== known); }))));
}

/* An answer as the owner would say it. */
function said(editor, question, answer) {
  const { words } = editor, choices = new Map((question?.choices ?? []).map(({ value, text: label }) => [value, editor.plain(label)]));
  const one = (value) => (value === true ? words.yes : value === false ? words.no : choices.get(value) ?? value);
  if (answer === null) return words.unsure;
  if (!Array.isArray(answer)) return typeof answer === "object" ? JSON.stringify(answer) : String(one(answer));
  if (answer.every((each) => typeof each !== "object")) return answer.map(one).join(", ");
  return words.marks.replace("{n}", answer.length);
}
