// The editor of a guided tutorial: steps, and the sample tasks that they show.
import { Cards } from "./cards.js";
import { button, made, pick, text } from "./fields.js";
import { onePicture, uploader } from "./pictures.js";
import { practiceFields } from "./practice.js";
import { ask } from "./sample_dialog.js";

const MOST = { steps: 30, tasks: 20 };
const PICTURES = ["picture", "zoom_picture"];

export function sections(editor) {
  const { model, words } = editor, { document } = model;
  document.tasks ??= [];
  document.steps ??= [];
  const copied = (list, stem) => (part) => ({ ...structuredClone(part), name: model.freeName(list, stem) });
  const steps = new Cards({
    editor, list: document.steps, heading: words.steps, most: MOST.steps, title: (step) => model.said(step.title), copy: copied(document.steps, "step"),
    problems: (nth) => editor.problemsAt(`/steps/${nth}`), body: (step) => stepFields(editor, step),
    add: { words: words.add_step, make: () => ({ name: model.freeName(document.steps, "step"), title: {} }) },
  });
  if (!editor.questions) return [steps.element, made("p", { className: "soft" }, words.no_questions)];
  const tasks = new Cards({
    editor, list: document.tasks, heading: words.tasks, most: MOST.tasks, title: (task) => titleOf(task), copy: copied(document.tasks, "sample"),
    problems: (nth) => editor.problemsAt(`/tasks/${nth}`), body: (task) => taskFields(editor, task),
    add: { words: words.add_task, make: () => sampleTask(editor) },
  });
  return [steps.element, tasks.element];
}

const titleOf = ({ name, info }) => [info.title, info.caption].find((words) => typeof words === "string" && words) ?? name;
const columnsOf = (editor) => [...new Set(editor.parts().media.flatMap(({ source }) => [source ?? []].flat()).flatMap((source) => source.column ?? []))];

/* A copy of a task of the project that no sample shows yet, or an empty one. */
function sampleTask(editor, from) {
  const { document } = editor.model, used = new Set(document.tasks.map(({ info }) => JSON.stringify(info)));
  const info = from ?? editor.tasks.find((task) => !used.has(JSON.stringify(task.info)))?.info ?? Object.fromEntries(columnsOf(editor).map((name) => [name, ""]));
  return { name: editor.model.freeName(document.tasks, "sample"), info: structuredClone(info) };
}

/* The columns that the questions show, and those that the task has. */
function taskFields(editor, task) {
  const { words } = editor, place = made("div", { className: "stack" });
  const draw = () => {
    const own = editor.tasks.map((each, nth) => [String(nth), `${words.task.replace("{id}", each.id)}${titleOf({ name: "", info: each.info }) ? ` · ${titleOf({ name: "", info: each.info })}` : ""}`]);
    const columns = [...new Set([...columnsOf(editor), ...Object.keys(task.info)])];
    place.replaceChildren(
      ...(own.length ? [pick(words.copy_task, [["", words.copy_none], ...own], "", (nth) => {
        if (nth === "") return;
        editor.model.mark();
        task.info = structuredClone(editor.tasks[Number(nth)].info);
        editor.changed("", true);
        draw();
      }, words.copy_hint)] : []),
      ...columns.map((column) => columnField(editor, task, column, draw)));
  };
  draw();
  return [place];
}

function columnField(editor, task, column, redraw) {
  const { words } = editor, value = task.info[column], plain = value === undefined || typeof value === "string" || typeof value === "number";
  if (!plain) return made("p", { className: "soft small" }, `${column}: ${JSON.stringify(value).slice(0, 80)}`);
  const input = made("input", { type: "text", value: String(value ?? ""), dir: "auto" });
  input.addEventListener("input", () => { task.info[column] = input.value; editor.typed(); });
  const label = made("label", { className: "stack tight" }, made("span", {}, column), input);
  const picture = editor.parts().media.some(({ type, source }) => [...PICTURES, "pictures"].includes(type) && [source ?? []].flat().some((each) => each.column === column));
  return made("div", { className: "field" }, label, picture ? uploader(editor, words.picture_for.replace("{column}", column), (path) => {
    editor.model.mark();
    task.info[column] = path;
    editor.changed("", true);
    redraw();
  }) : null);
}

const KINDS = ["none", "whole", "part", "rectangle", "practice"];
function kindOf(step) {
  if (step.practice) return "practice";
  if (step.highlight) return step.highlight.rectangle ? "rectangle" : "part";
  return step.task ? "whole" : "none";
}

function stepFields(editor, step) {
  const { model, words } = editor, shown = made("div", { className: "stack" });
  const draw = () => shown.replaceChildren(...shownFields(editor, step, draw));
  const turn = (kind) => {
    model.mark();
    become(editor, step, kind);
    editor.changed("", true);
    draw();
  };
  const kinds = editor.questions ? [pick(words.shows, KINDS.map((kind) => [kind, words[`shows_${kind}`]]), kindOf(step), turn, words.shows_hint)] : [];
  draw();
  return [
    text(editor, step, "title", words.title), text(editor, step, "text", words.text, { rows: 5, hint: words.markdown, maximum: 10000 }),
    onePicture(editor, step), ...kinds, shown,
  ];
}

/* Gives a step what its kind needs, and takes away what it does not. */
function become(editor, step, kind) {
  const { tasks } = editor.model.document, [{ name: question }] = editor.parts().questions, [medium] = editor.parts().media;
  delete step.highlight;
  delete step.practice;
  if (kind === "none") return delete step.task;
  if (!tasks.length) tasks.push(sampleTask(editor));
  step.task ??= tasks[0].name;
  if (kind === "part") step.highlight = { question };
  if (kind === "rectangle") {
    const picture = editor.parts().media.find(({ type }) => PICTURES.includes(type));
    step.highlight = { medium: (picture ?? medium)?.name, rectangle: { x: 0, y: 0, width: 100, height: 100 } };
    if (!step.highlight.medium) step.highlight = { question };
  }
  if (kind === "practice") step.practice = [];
  editor.redrawTasks();
}

function shownFields(editor, step, redraw) {
  const kind = kindOf(step), { words, model } = editor, { tasks } = model.document;
  if (kind === "none") return [];
  const set = (act) => { model.mark(); act(); editor.changed("", true); redraw(); };
  const samples = pick(words.sample, tasks.map((task) => [task.name, titleOf(task)]), step.task ?? tasks[0]?.name, (name) => set(() => { step.task = name; }));
  if (kind === "part") return [samples, partField(editor, step, set)];
  if (kind === "rectangle") return [samples, ...rectangleFields(editor, step, set)];
  return kind === "practice" ? [samples, practiceFields(editor, step, infoOf(editor, step), redraw)] : [samples];
}

export const infoOf = ({ model }, step) => (model.document.tasks.find(({ name }) => name === step.task) ?? model.document.tasks[0])?.info ?? {};

function partField(editor, step, set) {
  const { questions, media } = editor.parts(), { words } = editor, key = ({ question, medium }) => (question ? `question ${question}` : `medium ${medium}`);
  const options = [
    ...questions.map((each) => [`question ${each.name}`, `${words.question}: ${editor.plain(each.text)}`]),
    ...media.map((each) => [`medium ${each.name}`, `${words.medium}: ${each.name}`]),
  ];
  if (!options.some(([value]) => value === key(step.highlight))) options.unshift([key(step.highlight), `${words.gone}: ${step.highlight.question ?? step.highlight.medium}`]);
  return pick(words.part, options, key(step.highlight), (value) => set(() => {
    const [sort, name] = value.split(" ");
    step.highlight = { [sort]: name };
  }));
}

/* A rectangle is drawn with the box question, on the sample task. */
function rectangleFields(editor, step, set) {
  const { words } = editor, pictures = editor.parts().media.filter(({ type }) => PICTURES.includes(type));
  const { rectangle, medium } = step.highlight, round = Math.round;
  const draw = async () => {
    const of = pictures.find(({ name }) => name === medium), box = { name: "rectangle_1", type: "box", on: medium, text: words.draw_hint, required: true, min: 1, max: 1 };
    const answer = await ask(editor, { version: 1, steps: [{ name: "step_1", media: [of], questions: [box] }] }, infoOf(editor, step), words.draw, words.draw_long);
    const [drawn] = answer?.rectangle_1 ?? [];
    if (!drawn) return;
    const { x, y, width, height } = drawn;
    set(() => { step.highlight.rectangle = { x: Math.max(0, x), y: Math.max(0, y), width, height }; });
  };
  return [
    pick(words.medium, pictures.map(({ name }) => [name, name]), medium, (name) => set(() => { step.highlight.medium = name; })),
    made("p", { className: "row" }, button(words.draw, draw, "btn", { disabled: !pictures.some(({ name }) => name === medium) }),
      made("span", { className: "soft small num" }, `${round(rectangle.x)}, ${round(rectangle.y)} · ${round(rectangle.width)} × ${round(rectangle.height)}`)),
  ];
}

/** Parts that name nothing go. */
export function tidy(document) {
  if (!document.tasks?.length) delete document.tasks;
  for (const step of document.steps ?? []) if (step.practice && !step.practice.length) delete step.practice;
  return document;
}
