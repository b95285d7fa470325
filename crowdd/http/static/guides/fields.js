// Fields of the editors of guides.
let ids = 0;

/** An element with properties and children; undefined and null are left out. */
export function made(name, properties = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(properties)) {
    if (value === undefined || value === null) continue;
    if (key in element) element[key] = value;
    else element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(words, act, className = "btn sm", more = {}) {
  const element = made("button", { type: "button", className, ...more }, words);
  element.addEventListener("click", act);
  return element;
}

/** A field with its label and hint. */
export function field(label, input, hint) {
  input.id ||= `guide-field-${++ids}`;
  const said = hint ? made("p", { className: "hint", id: `${input.id}-hint` }, hint) : null;
  if (said) input.setAttribute("aria-describedby", said.id);
  return made("div", { className: "field" }, made("label", { htmlFor: input.id }, label), said, input);
}

/** A text in the language that is edited: `holder[key]` is an object of texts by language. Below it stands the text in the base language. */
export function text(editor, holder, key, label, { rows = 0, hint = "", maximum = 2000 } = {}) {
  const { model } = editor, input = made(rows ? "textarea" : "input", rows ? { rows } : { type: "text" });
  input.value = holder[key]?.[model.language] ?? "";
  input.maxLength = maximum;
  input.lang = model.language;
  input.dir = "auto";
  input.autocomplete = "off";
  input.addEventListener("input", () => {
    holder[key] = { ...holder[key], [model.language]: input.value };
    editor.typed();
  });
  const base = model.language === model.base ? "" : holder[key]?.[model.base];
  return field(label, input, [hint, base && `${editor.languageName(model.base)}: ${base}`].filter(Boolean).join(" · "));
}

/** One of several; options are pairs of value and words. */
export function pick(label, options, value, act, hint = "") {
  const select = made("select", {}, ...options.map(([key, words]) => made("option", { value: key, selected: key === value }, words)));
  select.addEventListener("change", () => act(select.value));
  return field(label, select, hint);
}

export function numberField(label, value, act, hint) {
  const input = made("input", { type: "number", min: 0, step: "any", value: value ?? "" });
  input.addEventListener("input", () => act(input.value === "" || Number.isNaN(input.valueAsNumber) ? undefined : input.valueAsNumber));
  return field(label, input, hint);
}
