/* Marks in a text. */
import { MarksField } from "../marks/field.js";
import { markText, spans } from "../marks/text.js";

export function create(question, context) {
  const { surface } = context.medium(question.on);
  return new MarksField(question, context, spans({ rightToLeft: () => surface.root.matches(":dir(rtl)") }), (layer) => markText(surface, layer));
}
