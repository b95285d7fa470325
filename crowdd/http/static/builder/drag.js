/* Moving entries with a pointer: an entry is taken at its grip, a line shows where it would go, Escape leaves it where it is. */
import { element } from "../questions/element.js";

const EDGE = 60, SPEED = 14; // pixels from the edge of the window within which it scrolls, and by how much

const pathOf = (place, name) => JSON.parse(place.dataset[name]);
const kindOf = (path) => path.filter((key) => typeof key === "string").join("/");

/** Makes the entries below `root` movable; `moved(from, to)` gets two paths, the second one as it is before the move. */
export function movable(root, moved) {
  root.addEventListener("pointerdown", (event) => {
    const grip = event.target.closest(".b-grip");
    if (grip && event.button === 0) begin(event, root, grip, moved);
  });
}

function begin(event, root, grip, moved) {
  const entry = grip.closest("[data-entry]"), from = pathOf(entry, "entry"), over = new AbortController(), mark = element("div", { className: "b-drop" });
  let target = null;
  event.preventDefault();
  grip.setPointerCapture(event.pointerId);
  entry.classList.add("b-dragged");
  const end = (done) => {
    over.abort();
    entry.classList.remove("b-dragged");
    mark.remove();
    if (done && target) moved(from, target);
  };
  const { signal } = over;
  grip.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (clientY < EDGE) scrollBy(0, -SPEED);
    if (clientY > innerHeight - EDGE) scrollBy(0, SPEED);
    target = place(root, entry, from, clientX, clientY, mark);
  }, { signal });
  grip.addEventListener("pointerup", () => end(true), { signal });
  grip.addEventListener("pointercancel", () => end(false), { signal });
  addEventListener("keydown", (key) => key.key === "Escape" && end(false), { signal });
}

/* The path before which the entry would be put, and the line that shows it. */
function place(root, entry, from, x, y, mark) {
  const lists = [...root.querySelectorAll("[data-list]")].filter((list) => kindOf(pathOf(list, "list")) === kindOf(from) && fits(pathOf(list, "list"), from) && !entry.contains(list));
  const within = (list) => { const box = list.parentElement.getBoundingClientRect(); return y >= box.top && y <= box.bottom; };
  const list = lists.find(within) ?? entry.parentElement;
  const others = [...list.children].filter((each) => "entry" in each.dataset);
  const next = others.find((each) => { const box = each.getBoundingClientRect(); return y < box.top + box.height / 2; });
  if (next) next.before(mark);
  else list.append(mark);
  return [...pathOf(list, "list"), next ? pathOf(next, "entry").at(-1) : others.length];
}

/* Questions about a mark stay with it, and choices with their question. */
const fits = (list, from) => list.length === 1 || list.length === 3 || JSON.stringify(list) === JSON.stringify(from.slice(0, -1));
