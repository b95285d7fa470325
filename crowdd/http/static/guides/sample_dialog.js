// A dialog in which the owner answers a sample task as a volunteer would, or looks at a page.
import { SampleFrame, questionsPage } from "./sample_frame.js";

const $ = (id) => document.getElementById(id);

/** Opens the dialog; `show(frame, close)` fills the frame. Resolves when it is closed, with what `close` was given. */
function open(editor, title, hint, events, show) {
  const dialog = $("guide-dialog");
  $("guide-dialog-title").textContent = title;
  $("guide-dialog-hint").textContent = hint;
  return new Promise((resolve) => {
    let result;
    const close = (value) => { result = value; dialog.close(); };
    const frame = new SampleFrame({ box: $("guide-dialog-frame"), address: editor.frame, project: editor.project, label: title, ...events(close) });
    dialog.addEventListener("close", () => { frame.close(); resolve(result); }, { once: true });
    $("guide-dialog-close").onclick = () => dialog.close();
    dialog.showModal();
    show(frame);
  });
}

/** What the owner answers to a list of questions about a sample task (`info`), undefined if they close the dialog. */
export function ask(editor, list, info, title, hint) {
  const answered = (close) => ({ answered: ({ questions_version: _, ...answers }) => close(answers) });
  return open(editor, title, hint, answered, (frame) => frame.show(questionsPage(list, editor.language), info));
}

/** Shows the page of a tutorial. */
export function showPage(editor, source, title) {
  return open(editor, title, "", (close) => ({ done: () => close() }), (frame) => frame.show(source, null));
}
