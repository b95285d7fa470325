/* One of the columns for each row.  On a phone each row stands by itself, with the words of its columns. */
import { element } from "../element.js";

export function create(question, context) {
  const columns = question.columns.map((column) => ({ ...column, id: context.newId() }));
  const head = element("tr", {}, element("td"), ...columns.map(({ text, id }) => context.write(element("th", { scope: "col", id }), text)));
  const rows = question.rows.map((row) => made(row));

  function made({ value, text }) {
    const id = context.newId(), name = context.newId();
    const inputs = columns.map((column) => {
      const input = element("input", { type: "radio", name, "aria-labelledby": `${id} ${column.id}`, "aria-describedby": context.describedBy });
      input.addEventListener("change", context.changed);
      return { input, value: column.value, text: column.text };
    });
    const cells = inputs.map(({ input, text: words }) => element("td", {}, element("label", {}, input, context.write(element("span", { "aria-hidden": "true" }), words))));
    return { value, inputs, element: element("tr", {}, context.write(element("th", { scope: "row", id }), text), ...cells) };
  }

  const table = element("table", { className: "matrix", "aria-labelledby": context.labelledBy }, element("thead", {}, head), element("tbody", {}, ...rows.map((row) => row.element)));
  const chosen = (row) => row.inputs.find(({ input }) => input.checked)?.value;
  const answers = () => Object.fromEntries(rows.map((row) => [row.value, chosen(row)]).filter(([, value]) => value !== undefined));
  const missing = () => rows.find((row) => chosen(row) === undefined);
  return {
    element: element("div", { className: "scroll" }, table),
    value: () => (Object.keys(answers()).length ? answers() : undefined),
    set(value) {
      for (const row of rows) for (const each of row.inputs) each.input.checked = Object.hasOwn(value ?? {}, row.value) && value[row.value] === each.value;
    },
    problem: () => (question.required && missing() && Object.keys(answers()).length ? context.word("every_row") : ""),
    focus: () => (missing() ?? rows[0]).inputs[0].input.focus(),
  };
}
