/* All entries in an order: moved by buttons, or dragged by a mouse.  The order shown at first is no answer before it was
   changed or kept on purpose. */
import { element } from "../element.js";

export function create(question, context) {
  const entries = question.choices.map((choice) => entry(choice));
  const list = element("ol", { className: "ranking", "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy });
  const keep = element("button", { type: "button", className: "btn" }, context.word("keep_order"));
  let order = [...entries], decided = false, dragged = null;

  function entry({ value, text }) {
    const words = context.write(element("span", { className: "words", id: context.newId() }), text);
    const made = { value, words };
    const button = (name, sign, step) => {
      const pressed = element("button", { type: "button", className: "icon", title: context.word(name, { label: words.textContent }) }, element("span", { "aria-hidden": "true" }, sign));
      pressed.addEventListener("click", () => move(made, order.indexOf(made) + step, pressed));
      return pressed;
    };
    made.up = button("up", "↑", -1);
    made.down = button("down", "↓", 1);
    made.element = element("li", { draggable: true }, words, made.up, made.down);
    made.element.addEventListener("dragstart", (event) => {
      dragged = made;
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
    });
    made.element.addEventListener("dragover", (event) => dragged && event.preventDefault());
    made.element.addEventListener("drop", (event) => {
      event.preventDefault();
      if (dragged) move(dragged, order.indexOf(made));
      dragged = null;
    });
    return made;
  }

  function move(made, to, button) {
    if (to < 0 || to >= order.length) return;
    order = order.filter((each) => each !== made).toSpliced(to, 0, made);
    decide();
    const still = button && button.getAttribute("aria-disabled") !== "true" ? button : button && (button === made.up ? made.down : made.up);
    still?.focus();
    context.announce(context.word("moved", { label: made.words.textContent, place: to + 1, total: order.length }));
  }

  function decide() {
    decided = true;
    draw();
    context.changed();
  }

  function draw() {
    list.classList.toggle("undecided", !decided);
    list.append(...order.map((each) => each.element));
    order.forEach(({ up, down }, nth) => {
      up.setAttribute("aria-disabled", String(nth === 0));
      down.setAttribute("aria-disabled", String(nth === order.length - 1));
    });
    keep.style.visibility = decided ? "hidden" : ""; // its place stays, so that nothing moves under the pointer
  }

  keep.addEventListener("click", () => {
    decide();
    order[0].down.focus();
    context.announce(context.word("kept_order"));
  });
  draw();
  return {
    element: element("div", { className: "choices" }, list, element("p", {}, keep)),
    value: () => (decided ? order.map(({ value }) => value) : undefined),
    set(value) {
      decided = Array.isArray(value);
      order = decided ? value.map((one) => entries.find((each) => each.value === one)).filter(Boolean) : [...entries];
      order.push(...entries.filter((each) => !order.includes(each)));
      draw();
    },
    focus: () => order[0].down.focus(),
  };
}
