/* A sound with the player of the browser; video.js is the same with pictures. */
import { element } from "../element.js";
import { isAddress } from "../stage.js";

export function create(medium, context) {
  return playing(element("audio", { controls: true, preload: "metadata" }), context);
}

/** A medium around an <audio> or <video>. */
export function playing(player, context) {
  const line = context.marked ? element("div", { className: "line" }) : null; // room for the line of time (marks/time.js)
  const place = element("div", { className: player.localName }, player, line);
  return {
    element: place, surface: { player, line },
    show(task) {
      const address = context.source(task);
      player.pause();
      player.setAttribute("aria-label", context.description(task));
      return new Promise((resolve, reject) => {
        if (!isAddress(address)) {
          player.removeAttribute("src");
          player.load();
          reject(new Error("No file."));
          return;
        }
        player.onloadedmetadata = () => resolve();
        player.onerror = () => reject(new Error("It did not load."));
        player.src = address;
      });
    },
  };
}
