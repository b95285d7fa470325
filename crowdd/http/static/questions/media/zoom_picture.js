/* A picture to zoom deeply into (OpenSeadragon): an info.json of IIIF, another tile source, or a plain picture. */
import { element } from "../element.js";
import { look, openSeadragon } from "../marks/libraries.js";
import { focusStill } from "../pointer.js";
import { isAddress } from "../stage.js";

const STEP = 1.5, MAX_PIXEL = 10, WHOLE = 1.01; // pixels of the screen for one of the picture; above this it is enlarged
const TILES = /(\/info\.json|\.dzi|\.xml)([?#]|$)/i;
const BUTTONS = [ // word, drawing, what it does
  ["zoom_in", "M12 5v14M5 12h14", (view, still) => view.zoomBy(STEP, null, still)],
  ["zoom_out", "M5 12h14", (view, still) => view.zoomBy(1 / STEP, null, still)],
  ["zoom_whole", "M4 5h16v14H4zM8 9h8v6H8z", (view, still) => view.goHome(still)],
  ["rotate", "M19 12a7 7 0 1 1-2.1-5M19 3v4.5h-4.5", (view, still) => view.setRotation(view.getRotation() + 90, still)],
];

export function create(medium, context) {
  const stage = element("div", { className: "stage", dir: "ltr" });
  const bar = element("div", { className: "zoom-bar", role: "toolbar", "aria-label": context.word("zoom") });
  const place = element("div", { className: "zoom-picture" }, stage, bar);
  const surface = { viewer: null, image: { alt: "" }, naturalWidth: 0, naturalHeight: 0 };
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const buttons = BUTTONS.map(([word, drawing, act]) => {
    const button = element("button", { type: "button", title: context.word(word) });
    button.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${drawing}"/></svg>`;
    button.addEventListener("click", () => {
      if (!surface.viewer) return;
      act(surface.viewer.viewport, still);
      surface.viewer.viewport.applyConstraints(still);
    });
    return button;
  });
  bar.append(...buttons);
  return {
    element: place, surface,
    settled: () => Promise.resolve(), // its place has a size of its own
    async show(task) {
      const address = context.source(task), description = context.description(task);
      surface.viewer?.close(); // the picture before
      if (!isAddress(address)) throw new Error("No picture.");
      const [OpenSeadragon] = await Promise.all([openSeadragon(), look()]);
      surface.OpenSeadragon = OpenSeadragon;
      surface.viewer ??= begin(OpenSeadragon, stage, still);
      const item = await opened(surface.viewer, TILES.test(address) ? address : { type: "image", url: address });
      const { x, y } = item.getContentSize();
      Object.assign(surface, { image: { alt: description }, naturalWidth: x, naturalHeight: y });
      surface.viewer.canvas.setAttribute("aria-label", description);
      place.style.setProperty("--ratio", x / y);
    },
    destroy: () => surface.viewer?.destroy(),
  };
}

function begin(OpenSeadragon, stage, still) {
  const gestures = { clickToZoom: false, dblClickToZoom: false, flickEnabled: false };
  const viewer = OpenSeadragon({
    element: stage, drawer: "canvas", showNavigationControl: false, animationTime: still ? 0 : 0.4, minZoomImageRatio: 0.9, maxZoomPixelRatio: MAX_PIXEL,
    visibilityRatio: 0.5, gestureSettingsMouse: gestures, gestureSettingsPen: gestures, gestureSettingsTouch: { ...gestures, pinchRotate: false },
  });
  focusStill(viewer.canvas);
  viewer.canvas.setAttribute("role", "application"); // arrow keys move the picture, + and - zoom it
  viewer.addHandler("canvas-scroll", (event) => { // the page scrolls by a wheel that would make the whole picture smaller
    if (!isWhole(viewer) || event.scroll > 0 || event.originalEvent.ctrlKey) return;
    event.preventDefaultAction = true;
    event.preventDefault = false;
  });
  let whole = true; // and stays so when the window changes
  viewer.addHandler("open", () => { whole = true; });
  viewer.addHandler("animation-finish", () => { whole = isWhole(viewer); });
  viewer.addHandler("zoom", ({ immediately }) => { if (!immediately) whole = isWhole(viewer); });
  viewer.addHandler("after-resize", () => whole && viewer.viewport.goHome(true));
  viewer.addHandler("canvas-key", (event) => {
    if (/^[a-z0-9]$/i.test(event.originalEvent.key)) event.preventDefaultAction = true; // shortcuts; a mirrored picture has no places
  });
  return viewer;
}

function isWhole({ viewport }) {
  return viewport.getZoom() / viewport.getHomeZoom() < WHOLE;
}

function opened(viewer, source) {
  return new Promise((resolve, reject) => {
    viewer.addOnceHandler("open", () => resolve(viewer.world.getItemAt(0)));
    viewer.addOnceHandler("open-failed", () => reject(new Error("The picture did not load.")));
    viewer.viewport?.setRotation(0, true);
    viewer.open(source);
  });
}
