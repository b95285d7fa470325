// The review of a task: the frame that shows it as volunteers see it, and the keys of the page. Everything works by buttons, too.
import { SampleFrame } from "../presenter/sample.js";
import { shortcuts } from "../tables/shortcuts.js";

const form = document.getElementById("review"), whole = document.getElementById("review-whole"), box = document.getElementById("review-task"), second = document.getElementById("review-second"), gold = document.getElementById("review-gold");
const AROUND = 160; // pixels of the window that the page around the frame takes
const opener = document.getElementById("review-keys-open"), keys = shortcuts(document.getElementById("use-review-keys"));

if (box) {
  const { project, tasks, source } = JSON.parse(box.dataset.preview);
  const decide = (info) => { // what is answered in the frame, where that is the decision
    whole.elements.info.value = JSON.stringify(info);
    whole.requestSubmit();
  };
  box.replaceChildren(new SampleFrame({ address: location.pathname, label: box.dataset.label, project, tasks, source, ...(whole ? { sent: decide, beginning: { room: Math.max(420, innerHeight - AROUND) } } : {}) }).element);
}
opener.hidden = false;

const KEYS = {
  s: () => { if (second) second.checked = !second.checked; },
  g: () => { if (gold) gold.checked = !gold.checked; },
  n: () => document.getElementById("review-next")?.click(),
  "?": () => opener.click(),
};
addEventListener("keydown", (event) => {
  if (!keys() || event.ctrlKey || event.metaKey || event.altKey || event.repeat || document.querySelector("dialog[open]")) return;
  if (event.target instanceof Element && event.target.matches("input:not([type=checkbox]), textarea, select")) return;
  const key = event.key.toLowerCase(), button = form?.querySelector(`[data-key="${CSS.escape(key)}"]`);
  const act = button ? () => form.requestSubmit(button) : KEYS[key];
  if (!act) return;
  event.preventDefault();
  act();
});

// The pictures of the next task are loaded while this one is looked at. Its page is not: what was decided stands on it.
const next = document.getElementById("review-next");
const isPicture = (value) => typeof value === "string" && /^(\/|https:)\S+\.(jpe?g|png|gif|webp|avif|svg)(\?|$)/i.test(value);
if (next) {
  const answer = await fetch(next.href, { headers: { Accept: "application/json" } }).catch(() => null);
  const page = answer?.ok ? await answer.json().catch(() => null) : null;
  for (const value of Object.values(page?.task?.info ?? {}).filter(isPicture)) new Image().src = value;
}
