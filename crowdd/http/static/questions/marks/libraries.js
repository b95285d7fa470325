/* Libraries of others (static/vendor), each loaded once, when a question first needs it. */
const VENDOR = new URL("../../vendor/", import.meta.url).href;
const loading = new Map();

const ANNOTORIOUS = "annotorious-annotorious-3.8.10/", RECOGITO = "recogito-text-annotator-4.1.1/", WAVES = "wavesurfer.js-8.0.1/";
const LEAFLET = "leaflet-1.9.4/", GEOMAN = "geoman-io-leaflet-geoman-free-2.20.2/", ZOOM = "openseadragon-6.1.1/", PROTOMAPS = "protomaps-leaflet-5.1.0/";

/* Whether a file came with the script in which this module is (crowdd.http.html.bundles). */
const isHere = (path) => window.crowddBundles?.shipped.has(new URL(path, VENDOR).pathname.replace("/static/", ""));

function once(path, load) {
  if (isHere(path)) return Promise.resolve();
  if (!loading.has(path)) {
    loading.set(path, load(VENDOR + path).catch((error) => {
      loading.delete(path); // the next question may try again
      throw error;
    }));
  }
  return loading.get(path);
}

function attached(element, name) {
  return new Promise((resolve, reject) => {
    element.onload = () => resolve();
    element.onerror = () => {
      element.remove();
      reject(new Error(`${name} did not load.`));
    };
    document.head.append(element);
  });
}

const style = (path) => once(path, (href) => attached(Object.assign(document.createElement("link"), { rel: "stylesheet", crossOrigin: "anonymous", href }), path));
const script = (path) => once(path, (src) => attached(Object.assign(document.createElement("script"), { crossOrigin: "anonymous", src }), path));
const module = (path) => once(path, (address) => import(address));

/* A library that makes a global variable; one that a presenter has of the same name stays. */
async function global(path, name) {
  const theirs = window[name];
  await script(path);
  const ours = window[name];
  if (theirs && theirs !== ours) window[name] = theirs;
  return ours;
}

const first = {};
const kept = (name, load) => (first[name] ??= load().catch((error) => {
  delete first[name];
  throw error;
}));

/** Our own style sheet for marks. */
export const look = () => once("../questions/marks/marks.css", (href) => attached(Object.assign(document.createElement("link"), { rel: "stylesheet", crossOrigin: "anonymous", href }), "marks.css"));

export const annotorious = () => kept("annotorious", async () => {
  const [library] = await Promise.all([global(`${ANNOTORIOUS}annotorious.js`, "Annotorious"), style(`${ANNOTORIOUS}annotorious.css`)]);
  return library;
});

export const textAnnotator = () => kept("text", async () => {
  window.process ??= { env: { NODE_ENV: "production" } }; // it was built for both, and asks for it while it runs
  const [library] = await Promise.all([global(`${RECOGITO}text-annotator.js`, "RecogitoJS"), style(`${RECOGITO}text-annotator.css`)]);
  return library;
});

export const openSeadragon = () => kept("zoom", () => global(`${ZOOM}openseadragon.min.js`, "OpenSeadragon"));

/** {WaveSurfer, Regions} */
export const waves = () => kept("waves", async () => {
  const [player, regions] = await Promise.all([module(`${WAVES}wavesurfer.js`), module(`${WAVES}regions.js`)]);
  return { WaveSurfer: player.default, Regions: regions.default };
});

export const spectrogram = () => kept("spectrogram", async () => (await module(`${WAVES}spectrogram.js`)).default);

export const leaflet = () => kept("leaflet", async () => {
  const [library] = await Promise.all([global(`${LEAFLET}leaflet.js`, "L"), style(`${LEAFLET}leaflet.css`)]);
  library.Icon.Default.imagePath = `${VENDOR}${LEAFLET}images/`;
  return library;
});

/** Draws the vector tiles of a file with Leaflet, which it takes from the window. */
export const protomaps = () => kept("protomaps", async () => {
  window.L ??= await leaflet();
  return global(`${PROTOMAPS}protomaps-leaflet.js`, "protomapsL");
});

/** Leaflet with its `pm`, by which places and areas are drawn. */
export const geoman = () => kept("geoman", async () => {
  const library = await leaflet(), theirs = window.L;
  window.L = library; // Geoman adds itself to this
  await Promise.all([script(`${GEOMAN}leaflet-geoman.min.js`), style(`${GEOMAN}leaflet-geoman.css`)]);
  if (theirs) window.L = theirs;
  return library;
});
