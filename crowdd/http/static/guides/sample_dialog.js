// A dialog in which the owner answers a sample task as a volunteer would, or looks at a page.
import { SampleFrame, questionsPage } from "../presenter/sample.js";

const $ = (id) => document.getElementById(id);

const ROOM = 520;

/** Opens the dialog with a page (HTML) on `tasks`; `events(close)` are those of the frame. Resolves with what `close` was given. */
function open(editor, title, hint, source, tasks, events) {
  const dialog = $("guide-dialog");
  $("guide-dialog-title").textContent = title;
  $("guide-dialog-hint").textContent = hint;
  return new Promise((resolve) => {
    let result;
    const close = (value) => { result = value; dialog.close(); };
    const sample = new SampleFrame({ address: editor.frame, label: title, project: editor.project, tasks, source, beginning: { room: ROOM }, ...events(close) });
    $("guide-dialog-frame").replaceChildren(sample.element);
    dialog.addEventListener("close", () => { sample.close(); resolve(result); }, { once: true });
    $("guide-dialog-close").onclick = () => dialog.close();
    dialog.showModal();
  });
}

/** What the owner answers to a list of questions about a sample task (`info`), undefined if they close the dialog. */
export function ask(editor, list, info, title, hint) {
  const task = { id: 1, project_id: editor.project.id, info };
  const sent = (close) => ({ sent: ({ questions_version: _, unseen: _unseen, ...answers }) => close(answers) });
  return open(editor, title, hint, questionsPage(list, 1, editor.language), [task], sent);
}

/** Shows the page of a tutorial. */
export function showPage(editor, source, title) {
  return open(editor, title, "", source, [], (close) => ({ heard: { done: () => close() } }));
}
