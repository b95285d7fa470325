/* A video with the player of the browser. */
import { element } from "../element.js";
import { playing } from "./sound.js";

export function create(medium, context) {
  return playing(element("video", { controls: true, preload: "metadata", playsInline: true }), context);
}
