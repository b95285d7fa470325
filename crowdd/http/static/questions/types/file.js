/* Photos, sounds and videos that a volunteer takes or chooses.  The page around the frame keeps them and sends them before the
   answer (presenter/uploads.js).  The answer has {file, kind}: `file` is the page's name for one, or the address of one that was sent. */
import { element } from "../element.js";

const KINDS = { picture: "image", sound: "audio", video: "video" }, EDGE = 160; // pixels of what is shown of a photo
const MEGABYTE = 1e6;
const previews = new Map(); // by name; a frame that begins again has none

const kindOf = ({ type }) => Object.keys(KINDS).find((kind) => type.startsWith(`${KINDS[kind]}/`));

/* A small copy as a data address: the frame may show no other one of a file. */
async function preview(file) {
  const picture = await createImageBitmap(file), share = Math.min(1, EDGE / Math.max(picture.width, picture.height));
  const canvas = element("canvas", { width: Math.max(1, picture.width * share), height: Math.max(1, picture.height * share) });
  canvas.getContext("2d").drawImage(picture, 0, 0, canvas.width, canvas.height);
  picture.close();
  return canvas.toDataURL("image/jpeg", 0.8);
}

export function create(question, context) {
  const wanted = Object.keys(KINDS).filter((kind) => question[kind]), kinds = wanted.length ? wanted : Object.keys(KINDS);
  const max = question.max ?? 1, limit = context.maxFileBytes;
  const input = element("input", {
    type: "file", accept: kinds.map((kind) => `${KINDS[kind]}/*`).join(","), multiple: max > 1,
    "aria-labelledby": context.labelledBy, "aria-describedby": context.describedBy,
  });
  const list = element("ul", { className: "files plain" }), trouble = element("p", { className: "bad small", role: "alert" });
  let files = []; // {file, kind, name?}

  function row(entry, nth) {
    const remove = element("button", { type: "button", className: "btn sm" }, context.word("file_remove", { name: entry.name ?? nth + 1 }));
    remove.addEventListener("click", () => change(files.filter((each) => each !== entry), input));
    const shown = element("img", { alt: "", hidden: true }), { small } = previews.get(entry.file) ?? {};
    small?.then((src) => Object.assign(shown, { src, hidden: false }), () => null);
    return element("li", { className: "row" }, shown, element("span", {}, entry.name ?? context.word("file_sent", { n: nth + 1 })), remove);
  }
  function change(next, focused) {
    files = next;
    list.replaceChildren(...files.map(row));
    input.hidden = files.length >= max;
    if (focused) (input.hidden ? list.querySelector("button") : input).focus();
    context.changed();
  }
  function take(chosen) {
    const right = chosen.filter(kindOf).filter((file) => kinds.includes(kindOf(file)) && file.size), small = right.filter(({ size }) => size <= limit);
    trouble.textContent = right.length < chosen.length ? context.word("file_kind") : small.length < right.length ? context.word("file_large", { max: Math.floor(limit / MEGABYTE) }) : "";
    const fresh = small.slice(0, max - files.length).map((file) => {
      const kind = kindOf(file), name = presenterBridge.keep(file);
      previews.set(name, { label: file.name, small: kind === "picture" ? preview(file) : undefined });
      return { file: name, kind, name: file.name };
    });
    if (small.length > fresh.length) trouble.textContent = context.word("file_many", { n: max });
    input.value = "";
    if (fresh.length) change([...files, ...fresh], input);
  }
  input.addEventListener("change", () => take([...input.files]));
  return {
    element: element("div", {}, list, input, trouble),
    value: () => (files.length ? files.map(({ file, kind }) => ({ file, kind })) : undefined),
    set(value) { // what a frame before this one kept is not here any more
      files = (Array.isArray(value) ? value : []).filter(({ file }) => file.startsWith("/") || previews.has(file)).map(({ file, kind }) => ({ file, kind, name: previews.get(file)?.label }));
      list.replaceChildren(...files.map(row));
      input.hidden = files.length >= max;
    },
    focus: () => (input.hidden ? list.querySelector("button") : input).focus(),
  };
}
