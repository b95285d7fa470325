/* Places and areas on a map. */
import { MarksField } from "../marks/field.js";
import { markMap, place, region } from "../marks/map.js";

export const create = (question, context) => new MarksField(question, context, question.type === "map_area" ? region : place, (layer) => markMap(context.medium(question.on).surface, layer));
