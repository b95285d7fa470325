/* One part of the task page is lit: everything beside it is dim and cannot be used. */
import { element } from "../element.js";

export class Light {
  /** `root` is the element around the task page. */
  constructor(root) {
    this.root = root;
    this.dimmed = [];
    this.off();
  }

  off() {
    for (const each of this.dimmed) {
      each.classList.remove("dim");
      each.inert = false;
    }
    this.dimmed = [];
    this.lit?.classList.remove("lit");
    this.hole?.remove();
    this.lit = this.hole = null;
  }

  /** Lights an element within the root. */
  on(part) {
    this.off();
    this.lit = part;
    part.classList.add("lit");
    for (let inner = part; inner !== this.root; inner = inner.parentElement) {
      for (const beside of inner.parentElement.children) if (beside !== inner) this.dim(beside);
    }
    part.scrollIntoView({ block: "nearest" });
  }

  dim(part) {
    part.classList.add("dim");
    part.inert = true;
    this.dimmed.push(part);
  }

  /** Lights a rectangle, in pixels of the original picture, on a medium that has loaded (Stage.medium). */
  rectangle(medium, rectangle) {
    const { viewer, naturalWidth: width, naturalHeight: height } = medium.surface ?? {};
    if (!width) return;
    this.hole = element("div", { className: "hole", ariaHidden: "true" });
    const part = (length, whole) => `${(100 * length) / whole}%`;
    Object.assign(this.hole.style, {
      left: part(rectangle.x, width), top: part(rectangle.y, height), width: part(rectangle.width, width), height: part(rectangle.height, height),
    });
    viewer.sheet.append(this.hole);
  }
}
