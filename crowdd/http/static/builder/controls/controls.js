/* Controls by the names that options declare (crowdd/kinds/questions/options.py). */
import { choices } from "./choices.js";
import { source, sources, suggest } from "./source.js";
import { address, boolean, day, kind, number, numbers } from "./simple.js";
import { description, help, text, unsure } from "./texts.js";

const CONTROLS = { address, boolean, choices, day, description, help, integer: number, kind, number, numbers, source, sources, suggest, text, unsure };

/** The control of a declared option. */
export function control(field, ui, how) {
  return CONTROLS[field.option.control](field, ui, how);
}
