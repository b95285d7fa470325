/* The modules of the types that a list of questions uses. */
const SHARED = { // types that have a module in common; any other type has one of its own name
  yes_no: "single_choice", short_text: "texts", long_text: "texts",
  point: "points", count: "points", line: "lines", polygon: "lines", freehand: "lines",
  sound_segments: "segments", video_segments: "segments", map_place: "geometries", map_area: "geometries",
};
const NAME = /^[a-z]+(_[a-z]+)*$/;

/** The modules of types of questions and media in a document: {types, media}, two Maps by type. */
export async function load({ steps }) {
  const questions = steps.flatMap((step) => step.questions ?? []).flatMap((each) => [each, ...(each.each ?? [])]);
  const media = steps.flatMap((step) => step.media ?? []);
  const marked = questions.some(({ on, type }) => on || type === "transcription");
  const [types, kinds] = await Promise.all([modules("types", questions, SHARED), modules("media", media, {}), marked && look()]);
  return { types, media: kinds };
}

/* Before anything is shown, so that nothing moves when it comes; without it marks can be made all the same. */
const look = () => import("./marks/libraries.js").then((libraries) => libraries.look()).catch(() => {});

async function modules(folder, things, shared) {
  const names = [...new Set(things.map((each) => each.type))].filter((name) => NAME.test(name));
  return new Map(await Promise.all(names.map(async (name) => [name, await import(`./${folder}/${shared[name] ?? name}.js`)])));
}
