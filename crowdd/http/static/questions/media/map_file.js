/* The map in the data folder of a site: a PMTiles file with vector tiles, of which browsers load the parts that they draw. */
import { protomaps } from "../marks/libraries.js";
import { onTheme, theme } from "../theme.js";

const VECTORS = 1; // the type of such tiles in a file's header

/** Puts the map of a file under everything else, light or dark as the page is. Fails when it cannot be read. */
export async function fileLayer(map, address) {
  const library = await protomaps(), { p: file } = new library.PmtilesSource(new URL(address, location.href).href, true);
  const { maxZoom, tileType } = await file.getHeader();
  if (tileType !== VECTORS) throw new Error("The map must have vector tiles.");
  const made = () => library.leafletLayer({ url: file, flavor: theme(), lang: document.documentElement.lang, maxDataZoom: maxZoom, attribution: "", pmIgnore: true });
  const layer = made().addTo(map);
  map.on("unload", onTheme(() => {
    const { paintRules, labelRules, backgroundColor } = made();
    Object.assign(layer, { paintRules, labelRules, backgroundColor });
    layer.clearLayout();
    layer.rerenderTiles();
  }));
  return layer;
}
