/* One picture, with a toolbar to zoom (presenter/zoom.js, by data-zoom).  Where marks are drawn on it, there is none: its viewer
   would lie over them. */
import { element } from "../element.js";
import { isAddress } from "../stage.js";

export function create(medium, context) {
  const image = element("img", { alt: "", "data-zoom": context.marked ? null : "" });
  const place = element("figure", { className: context.marked ? "picture drawable" : "picture" }, image);
  return {
    element: place,
    surface: { image, get naturalWidth() { return image.naturalWidth; }, get naturalHeight() { return image.naturalHeight; } },
    prepare: (task) => loaded(new Image(), context.source(task)),
    async show(task) {
      image.alt = context.description(task);
      await loaded(image, context.source(task));
      settle();
    },
    /* The beginning of a picture tells its size. */
    async settled(wanted) {
      while (!image.naturalWidth && wanted()) await new Promise(requestAnimationFrame);
      settle();
    },
  };

  function settle() {
    if (image.naturalWidth) place.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight);
  }
}

/** Resolves when `image` has loaded an address, and rejects when that fails. */
export function loaded(image, address) {
  return new Promise((resolve, reject) => {
    image.removeAttribute("src"); // otherwise the picture before stays until this one is there
    if (!isAddress(address)) {
      reject(new Error("No picture."));
      return;
    }
    image.onload = () => resolve();
    image.onerror = () => reject(new Error("The picture did not load."));
    image.src = address;
  });
}
