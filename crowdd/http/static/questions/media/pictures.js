/* Several pictures side by side, each in a viewer of its own. */
import { element } from "../element.js";
import { create as one } from "./picture.js";

export function create(medium, context) {
  const place = element("div", { className: "pictures" }), made = [];
  const nth = (n) => made[n] ??= one({ ...medium, source: [medium.source].flat()[n] }, {
    ...context, source: (task) => context.source(task)[n] ?? "", description: (task) => context.word("picture_n", { description: context.description(task), n: n + 1 }),
  });
  const all = (task) => context.source(task).map((_, n) => nth(n));
  return {
    element: place,
    get surface() { return { images: made.map(({ surface }) => surface.image) }; },
    prepare: (task) => Promise.allSettled(all(task).map((each) => each.prepare(task))),
    async show(task) {
      const shown = all(task), sources = context.source(task);
      place.replaceChildren(...shown.map((each) => each.element));
      const failed = (await Promise.allSettled(shown.map((each) => each.show(task)))).map(({ status }) => status === "rejected");
      shown.forEach((each, n) => each.element.classList.toggle("gone", failed[n]));
      if (failed.every(Boolean) || sources.some((address, n) => address && failed[n])) throw new Error("No picture.");
    },
    keys: () => nth(0).keys(),
    key: (key) => nth(0).key(key),
  };
}
