/* Pictures in tiles (IIIF, Deep Zoom and other sources of OpenSeadragon, a plain picture as one of them).  OpenSeadragon loads and draws the tiles, and nothing
   else: where they are is the viewport's business. */
import { openSeadragon } from "../marks/libraries.js";

export class Tiles {
  /** Opens a source in `place`, an element of the size of the room. */
  static async open(place, address) {
    const library = await openSeadragon();
    const viewer = library({
      element: place, drawer: "canvas", showNavigationControl: false, mouseNavEnabled: false, keyboardNavEnabled: false, animationTime: 0,
      minZoomImageRatio: 0, maxZoomPixelRatio: Infinity, visibilityRatio: 0, constrainDuringPan: false,
    });
    try {
      await new Promise((resolve, reject) => {
        viewer.addOnceHandler("open", resolve);
        viewer.addOnceHandler("open-failed", () => reject(new Error("The picture did not load.")));
        viewer.open(address);
      });
    } catch (error) {
      viewer.destroy();
      throw error;
    }
    return new Tiles(library, viewer);
  }

  constructor(library, viewer) {
    const item = viewer.world.getItemAt(0), { x: width, y: height } = item.getContentSize();
    Object.assign(this, { library, viewer, width, height, source: item.source });
    this.complete = new Promise((resolve) => {
      if (item.getFullyLoaded()) resolve();
      else item.addHandler("fully-loaded-change", ({ fullyLoaded }) => fullyLoaded && resolve());
    });
    for (const part of viewer.element.querySelectorAll("[tabindex]")) part.removeAttribute("tabindex"); // the viewer around has the keys
    viewer.addHandler("after-resize", () => this.viewport && this.show(this.viewport));
  }

  /** The address of the whole picture as one small tile, undefined where there is none. */
  get small() {
    const { source } = this;
    for (let level = source.maxLevel; level >= source.minLevel; level--) {
      const { x, y } = source.getNumTiles(level);
      if (x === 1 && y === 1) return String(source.getTileUrl(level, 0, 0));
    }
    return undefined;
  }

  show(viewport) {
    this.viewport = viewport;
    const { scale, degrees, centre: [x, y], room, picture: { width } } = viewport, { viewport: view } = this.viewer;
    view.setRotation(degrees, true);
    view.zoomTo(width * scale / room.width, null, true);
    view.panTo(new this.library.Point(x / width, y / width), true);
  }

  destroy() {
    this.viewer.destroy();
  }
}
