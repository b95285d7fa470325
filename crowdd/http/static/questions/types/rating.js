/* A whole number on a scale: a row of buttons, or a slider. */
import { element } from "../element.js";

export function create(question, context) {
  return question.slider ? slider(question, context) : row(question, context);
}

const bounds = ({ min = 1, max = 5, step = 1 }) => ({ min, max, step });

function ends({ low, high }, context) {
  if (!low && !high) return null;
  return element("p", { className: "ends small soft", "aria-hidden": "true" }, context.write(element("span"), low ?? ""), context.write(element("span"), high ?? ""));
}

/* What the ends of the scale mean is part of their names. */
function name(number, { min = 1, max = 5, low, high }, context) {
  const said = number === min ? low : number === max ? high : undefined;
  return said === undefined ? String(number) : `${number}, ${context.text(said)}`;
}

function row(question, context) {
  const { min, max, step } = bounds(question), inputs = [];
  const scale = element("div", { className: "scale" });
  for (let number = min; number <= max; number += step) {
    const input = element("input", { type: "radio", name: context.id, value: String(number), "aria-label": name(number, question, context) });
    input.addEventListener("change", context.changed);
    inputs.push(input);
    scale.append(element("label", { className: "choice" }, input, element("span", { className: "num" }, String(number))));
  }
  const place = element("div", { className: "rating", role: "radiogroup", "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy, "aria-required": question.required ? "true" : undefined }, scale, ends(question, context));
  return {
    element: place,
    value() {
      const input = inputs.find(({ checked }) => checked);
      return input && Number(input.value);
    },
    set: (value) => inputs.forEach((input) => { input.checked = value === Number(input.value); }),
    focus: () => (inputs.find(({ checked }) => checked) ?? inputs[0]).focus(),
  };
}

/* It has no answer before it was touched, be it only to leave it where it stands: a finger does that without input or click. */
function slider(question, context) {
  const { min, max, step } = bounds(question), middle = min + step * Math.round((max - min) / 2 / step);
  const input = element("input", { type: "range", min: String(min), max: String(max), step: String(step), "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy });
  const shown = element("output", { className: "num" });
  let touched = false;
  const draw = () => {
    shown.textContent = touched ? input.value : context.word("not_set");
    input.setAttribute("aria-valuetext", touched ? name(Number(input.value), question, context) : context.word("not_set"));
  };
  const touch = () => {
    touched = true;
    draw();
    context.changed();
  };
  for (const event of ["input", "click", "pointerup"]) input.addEventListener(event, touch);
  input.addEventListener("keydown", (event) => {
    if (event.key !== " ") return;
    event.preventDefault();
    touch();
  });
  return {
    element: element("div", { className: "rating slider" }, element("div", { className: "row" }, input, shown), ends(question, context)),
    value: () => (touched ? Number(input.value) : undefined),
    set(value) {
      touched = value !== undefined;
      input.value = String(value ?? middle);
      draw();
    },
    focus: () => input.focus(),
  };
}
