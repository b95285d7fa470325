/* Several pictures side by side. */
import { element } from "../element.js";
import { loaded } from "./picture.js";

export function create(medium, context) {
  const place = element("div", { className: "pictures" });
  let images = [];
  return {
    element: place,
    get surface() { return { images }; },
    prepare: (task) => Promise.allSettled(context.source(task).map((address) => loaded(new Image(), address))),
    async show(task) {
      const description = context.description(task), sources = context.source(task);
      images = sources.map((_, nth) => element("img", { alt: context.word("picture_n", { description, n: nth + 1 }), "data-zoom": "" }));
      place.replaceChildren(...images.map((image) => element("figure", { className: "picture" }, image)));
      const outcomes = await Promise.allSettled(sources.map((address, nth) => loaded(images[nth], address)));
      const failed = (_, nth) => outcomes[nth].status === "rejected";
      if (sources.every(failed) || sources.some((address, nth) => address && failed(address, nth))) throw new Error("No picture.");
    },
  };
}
