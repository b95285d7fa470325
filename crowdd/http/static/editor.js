// The editor of a presenter: a frame shows what a volunteer would see, on a few tasks that are no more than shown.
import { SampleFrame, shortened } from "./presenter/sample.js";

const box = document.getElementById("preview");
const text = document.getElementById("editor");
const said = document.getElementById("preview-said");
const { project, tasks } = JSON.parse(box.dataset.preview);
const WAIT = 600;
let sample = null, waiting = 0;

/* A new frame each time: nothing of the text before is left in it. */
function show() {
  sample?.close();
  sample = null;
  said.textContent = "";
  if (!text.value.trim()) { // a white box would say less
    box.textContent = box.dataset.empty;
    return;
  }
  sample = new SampleFrame({
    address: location.pathname, label: box.dataset.label, project, tasks, source: text.value,
    sent: (info) => { said.textContent = said.dataset.words.replace("{answer}", shortened(info)); },
  });
  box.replaceChildren(sample.element);
}

/* The words of a starter stand in its first lines; changed in their fields they are changed there, and the other way round. */
const BLOCK = /(<script type="application\/json" id="asked">)([^]*?)(<\/script>)/;
const words = document.getElementById("words").elements;
const COLUMNS = ["picture", "text", "caption"];
const lines = (text) => [...new Set(text.split("\n").map((line) => line.trim()).filter(Boolean))];
function asked() {
  const found = text.value.match(BLOCK);
  try { return found && JSON.parse(found[2]); } catch { return null; }
}
function reworded() {
  const said = asked();
  if (!said) return;
  said.question = words.question.value.trim();
  said.unsure = words.unsure.value.trim();
  if (said.answers) said.answers = lines(words.answers.value);
  for (const name of COLUMNS) if (words[name] && name in said) said[name] = words[name].value;
  const block = JSON.stringify(said).replaceAll("<", "\\u003c");
  text.value = text.value.replace(BLOCK, (_, first, __, last) => first + block + last);
}
function reread() {
  const said = words.question && asked();
  if (!said) return;
  words.question.value = said.question ?? "";
  words.unsure.value = said.unsure ?? "";
  if (Array.isArray(said.answers) && words.answers) words.answers.value = said.answers.join("\n");
  for (const name of COLUMNS) if (words[name] && name in said) words[name].value = said[name];
}
function later() {
  clearTimeout(waiting);
  waiting = setTimeout(show, WAIT);
}
text.form.addEventListener("input", ({ target }) => {
  if (target === text) reread(); else reworded();
  later();
});
show();
