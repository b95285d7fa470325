/* A video with our own player. */
import { element } from "../element.js";
import { playing } from "./sound.js";

export function create(medium, context) {
  return playing(early() ?? element("video", { preload: "metadata", playsInline: true }), context);
}

/* That of the first task began to load before this was here (presenter/hello.js). */
function early() {
  const media = window.presenterFirst?.media ?? new Map(), [address, video] = [...media].find(([, each]) => each instanceof HTMLVideoElement) ?? [];
  media.delete(address);
  return video;
}
