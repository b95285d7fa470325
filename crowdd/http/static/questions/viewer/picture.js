/* A picture in a viewer: an image, or a source in tiles (IIIF, Deep Zoom).  An image may have tiles, too: they are shown where it is
   enlarged beyond its own pixels, as the file is that it was made of, and places stay those of the image.  Its `surface`, {image, viewer, naturalWidth, naturalHeight},
   is what marks are drawn on. */
import { broughtOr, isAddress, sourceOf } from "../sources.js";
import { Viewer } from "./viewer.js";

const TILES = /(\/info\.json|\.dzi|\.xml)([?#]|$)/i;
const EMPTY = "data:image/svg+xml,";

/**
 * The address of a picture with more pixels, "" for none: of the tiles that the server made of it (columns `picture` and
 * `picture_tiles`), or of the file that came (`original`) where a task has only one.
 */
export function finerOf(source, task) {
  const at = (column) => sourceOf({ column }, task), info = Object(task.info);
  if (!source || typeof source !== "object" || !("column" in source)) return "";
  return [at(`${source.column}_tiles`), "filename_2" in info ? "" : at("original")].find(isAddress) ?? "";
}

/** Loads the picture of an address before it is shown. */
export const prepare = (address) => (TILES.test(address) ? Promise.resolve() : loaded(new Image(), address));

export class Picture {
  constructor(place, surface, word) {
    Object.assign(this, { place, surface });
    surface.viewer = new Viewer(place, surface.image, word);
  }

  /** Shows an address, and rejects when that fails; `finer` is the address of one with more pixels, "" for none. */
  async show(address, description, finer = "") {
    const { surface, surface: { image, viewer } } = this;
    Object.assign(surface, { naturalWidth: 0, naturalHeight: 0 });
    Object.assign(image, { alt: description }).removeAttribute("src"); // otherwise the picture before stays until this one is there
    const wanted = {};
    this.wanted = wanted;
    const tiles = TILES.test(address) && isAddress(address) ? await this.tiles(address) : null;
    if (this.wanted !== wanted) return tiles?.destroy(); // another task came
    await loaded(image, tiles ? empty(tiles) : address);
    if (this.wanted !== wanted) return;
    const { width, height } = tiles ?? { width: image.naturalWidth, height: image.naturalHeight };
    viewer.begin({ width, height }, tiles, finer ? () => this.refine(finer, wanted) : null);
    Object.assign(surface, { naturalWidth: width, naturalHeight: height });
  }

  /* Without one the image stays as it is. */
  async refine(address, wanted) {
    const { surface: { viewer } } = this, tiles = await this.tiles(address).catch(() => null);
    if (this.wanted !== wanted) tiles?.destroy();
    else if (tiles) viewer.refine(tiles);
  }

  async tiles(address) {
    const { Tiles } = await import("./tiles.js");
    return Tiles.open(this.surface.viewer.ground, TILES.test(address) ? address : { type: "image", url: address, buildPyramid: false });
  }

  /** Resolves when its size is known: the beginning of an image tells it. */
  async settled(wanted) {
    const { image } = this.surface;
    while (!image.naturalWidth && wanted()) await new Promise(requestAnimationFrame);
    if (image.naturalWidth) this.place.style.setProperty("--ratio", image.naturalWidth / image.naturalHeight);
  }
}

/* A transparent picture: what is drawn on a source in tiles has this size. */
function empty({ width, height }) {
  return `${EMPTY}${encodeURIComponent(`<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}"/>`)}`;
}

function loaded(image, address) {
  return new Promise((resolve, reject) => {
    image.onload = () => resolve();
    image.onerror = () => reject(new Error("The picture did not load."));
    if (isAddress(address) || address.startsWith(EMPTY)) image.src = broughtOr(address);
    else reject(new Error("No picture."));
  });
}
