/* Segments of a sound or a video. */
import { MarksField } from "../marks/field.js";
import { markTime, segment } from "../marks/time.js";

export const create = (question, context) => new MarksField(question, context, segment, (layer) => markTime(context.medium(question.on).surface, layer));
