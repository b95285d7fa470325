/* A video with our own player. */
import { element } from "../element.js";
import { playing } from "./sound.js";

export function create(medium, context) {
  return playing(element("video", { preload: "metadata", playsInline: true }), context);
}
