/* One picture in the viewer (viewer/viewer.js), which can enlarge and turn it, with marks and without. */
import { element } from "../element.js";

export function create(medium, context) {
  const place = element("figure", { className: context.marked ? "picture drawable" : "picture" });
  const surface = { image: element("img"), viewer: null, naturalWidth: 0, naturalHeight: 0 }, library = import("../viewer/picture.js");
  const picture = library.then(({ Picture }) => new Picture(place, surface, context.word));
  return {
    element: place, surface,
    prepare: async (task) => (await library).prepare(context.source(task)),
    show: async (task) => (await picture).show(context.source(task), context.description(task), (await library).finerOf(medium.source, task)),
    settled: async (wanted) => (await picture).settled(wanted),
    keys: () => surface.viewer.keys(),
    key: (key) => surface.viewer.key(key),
  };
}
