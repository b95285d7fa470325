// A table of rows: keys move through the rows and select them, and a bar says what is selected. Every table works without it.
import { shortcuts } from "./shortcuts.js";

const table = document.querySelector("table[data-rows]");
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const boxes = () => (table ? all("tbody input[type=checkbox]", table) : []);
const number = new Intl.NumberFormat(document.documentElement.lang || "en");
const plural = new Intl.PluralRules(document.documentElement.lang || "en");

// What is selected. Boxes send the rows themselves, so the choice "all on this page" is a box of the heading here.
const bar = document.querySelector("[data-selection]"), whole = table?.querySelector("[data-all]");
const scope = value => bar.querySelector(`[name=scope][value="${value}"]`);
let last = null;

function count() {
  const ticked = boxes().filter(box => box.checked).length, matching = Boolean(scope("matching")?.checked);
  const forms = JSON.parse(bar.dataset.words);
  bar.querySelector("[data-count]").textContent = (forms[plural.select(ticked)] || forms.other).replace("{count}", number.format(ticked));
  bar.classList.toggle("on", ticked > 0 || matching);
  for (const button of all("button", bar)) button.disabled = !ticked && !matching;
  Object.assign(whole.querySelector("input"), { checked: ticked > 0 && ticked === boxes().length, indeterminate: ticked > 0 && ticked < boxes().length });
}
function tick(rows, on) {
  for (const box of rows) box.checked = on;
  scope("selected").checked = true;
  count();
}
if (bar && whole) {
  whole.hidden = false;
  bar.querySelector("[data-page]").hidden = true;
  if (scope("page").checked) scope("selected").checked = true;
  whole.addEventListener("change", event => tick(boxes(), event.target.checked));
  table.tBodies[0].addEventListener("click", event => {
    const at = boxes().indexOf(event.target), from = boxes().indexOf(last);
    if (at < 0) return;
    if (event.shiftKey && from >= 0) tick(boxes().slice(Math.min(at, from), Math.max(at, from) + 1), event.target.checked);
    else tick([], true);
    last = event.target;
  });
  bar.addEventListener("change", count);
  addEventListener("pageshow", count); // the browser ticks again what was ticked
  count();
}

// Keys. A row has the focus where its link has it, so that Enter opens it.
const rows = () => [...(table?.tBodies[0].rows ?? [])];
const handle = row => row.querySelector("th a") || row.querySelector("a, button, input") || row;
const here = () => rows().findIndex(row => row.contains(document.activeElement));
function move(step) {
  const list = rows(), from = here(), to = from < 0 ? (step > 0 ? 0 : list.length - 1) : from + step;
  const row = list[to];
  if (!row) return;
  if (handle(row) === row) row.tabIndex = -1;
  handle(row).focus();
  row.scrollIntoView({ block: "nearest" });
}
function select() {
  const box = rows()[here()]?.querySelector("td.box input");
  if (!box) return;
  box.click();
}
const clear = () => bar?.classList.contains("on") && tick(boxes(), false);

const letters = shortcuts(document.getElementById("use-table-keys")), opener = document.getElementById("table-keys-open");
if (opener) opener.hidden = false;
const typing = target => target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]");
const LETTERS = { j: () => move(1), k: () => move(-1), x: select, "?": () => opener?.click() };
const IN_ROWS = { ArrowDown: () => move(1), ArrowUp: () => move(-1), " ": select, Escape: clear };
addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target) || document.querySelector("dialog[open]")) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const inRow = here() >= 0 && !(key === " " && event.target.matches("input, button"));
  const act = (inRow && Object.hasOwn(IN_ROWS, key) && IN_ROWS[key]) || (letters() && Object.hasOwn(LETTERS, key) && LETTERS[key]);
  if (!act) return;
  event.preventDefault();
  act();
});
