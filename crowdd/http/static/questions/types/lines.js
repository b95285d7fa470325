/* Lines, and areas by their corners or in one stroke, on a picture. */
import { MarksField } from "../marks/field.js";
import { drawOn } from "../marks/drawing.js";
import { freehand, line, polygon } from "../marks/shapes.js";

const KINDS = { line, polygon, freehand };

export const create = (question, context) => new MarksField(question, context, KINDS[question.type], (layer) => drawOn(context.medium(question.on).surface, layer));
