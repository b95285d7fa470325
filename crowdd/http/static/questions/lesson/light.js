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
    this.sizes?.disconnect();
    this.lit = this.hole = this.sizes = null;
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
    const { viewer, OpenSeadragon, image, naturalWidth: width, naturalHeight: height } = medium.surface ?? {};
    if (!width) return;
    this.hole = element("div", { className: "hole", ariaHidden: "true" });
    if (viewer) this.overViewer(viewer, OpenSeadragon, rectangle);
    else this.overImage(medium.element, image, { width, height }, rectangle);
  }

  overViewer(viewer, OpenSeadragon, { x, y, width, height }) {
    const place = viewer.world.getItemAt(0).imageToViewportRectangle(x, y, width, height);
    viewer.addOverlay({ element: this.hole, location: place });
    this.sizes = { disconnect: () => viewer.removeOverlay(this.hole) };
  }

  overImage(place, image, whole, rectangle) {
    place.append(this.hole);
    const put = () => {
      if (!this.hole) return;
      const box = image.getBoundingClientRect(), origin = place.getBoundingClientRect();
      const scale = Math.min(box.width / whole.width, box.height / whole.height); // object-fit: contain
      const left = box.left - origin.left + (box.width - whole.width * scale) / 2, top = box.top - origin.top + (box.height - whole.height * scale) / 2;
      Object.assign(this.hole.style, {
        left: `${left + rectangle.x * scale}px`, top: `${top + rectangle.y * scale}px`,
        width: `${rectangle.width * scale}px`, height: `${rectangle.height * scale}px`,
      });
    };
    this.sizes = new ResizeObserver(put);
    this.sizes.observe(image);
    this.sizes.observe(place);
    put();
  }
}
