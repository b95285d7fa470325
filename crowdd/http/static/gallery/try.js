/* Tries a template: its questions in a frame, on its sample tasks. */
import { SampleFrame, questionsPage } from "../presenter/sample.js";
import { show } from "./answer_words.js";

const box = document.getElementById("trial"), panel = document.getElementById("trial-answer"), again = document.getElementById("trial-again");

if (box) {
  const { project, tasks, list } = JSON.parse(box.dataset.told);
  let sample = null;
  const begin = () => {
    sample?.close();
    panel.hidden = again.hidden = true;
    sample = new SampleFrame({
      address: box.dataset.page, label: box.dataset.label, project, tasks, source: questionsPage(list, 1, ""),
      sent: (info) => {
        again.hidden = false;
        show(panel, list, info);
      },
    });
    box.replaceChildren(sample.element);
  };
  again.addEventListener("click", () => {
    begin();
    sample.element.focus();
  });
  begin();
}
