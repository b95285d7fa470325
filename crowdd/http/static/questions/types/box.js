/* Boxes on a picture. */
import { MarksField } from "../marks/field.js";
import { drawOn } from "../marks/drawing.js";
import { box } from "../marks/shapes.js";

export const create = (question, context) => new MarksField(question, context, box, (layer) => drawOn(context.medium(question.on).surface, layer));
