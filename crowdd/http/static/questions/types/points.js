/* Points on a picture: point, and count, which counts them. */
import { MarksField } from "../marks/field.js";
import { drawOn } from "../marks/drawing.js";
import { point } from "../marks/shapes.js";

export const create = (question, context) => new MarksField(question, context, point, (layer) => drawOn(context.medium(question.on).surface, layer));
