// Pictures of a guide, or of a help: uploaded to the project, each with what it shows and whose it is.
import { button, field, made, text } from "./fields.js";

const KINDS = "image/png,image/jpeg,image/gif,image/webp";

/** The path of an uploaded picture. Throws an Error whose message is a sentence. */
export async function upload(editor, file) {
  const body = new FormData();
  body.set("picture", file);
  body.set("csrf_token", document.querySelector("main form [name=csrf_token]")?.value ?? "");
  const answer = await fetch(editor.pictures, { method: "POST", body, headers: { Accept: "application/json" } });
  const told = await answer.json().catch(() => ({}));
  if (told.picture) return told.picture.path;
  throw new Error(told.form?.errors?.picture?.[0] ?? told.exception_msg ?? editor.words.upload_failed);
}

/** A field that uploads files and calls `got(path)` for each, in their order. */
export function uploader(editor, label, got, several = false) {
  const input = made("input", { type: "file", accept: KINDS, multiple: several }), said = made("p", { className: "small", role: "status" });
  input.addEventListener("change", async () => {
    const failed = [];
    input.disabled = true;
    for (const [nth, file] of [...input.files].entries()) {
      said.textContent = editor.words.uploading.replace("{n}", nth + 1).replace("{total}", input.files.length);
      await upload(editor, file).then(got, (error) => failed.push(`${file.name}: ${error.message}`));
    }
    input.disabled = false;
    input.value = "";
    said.textContent = failed.join(" ");
  });
  return made("div", { className: "stack tight" }, field(label, input, editor.words.picture_hint), said);
}

/** The fields of one picture; `remove()` takes it away. */
export function picture(editor, part, remove) {
  const { words } = editor;
  return made("div", { className: "guide-picture" }, made("img", { src: part.url, alt: "" }), made("div", { className: "stack tight" },
    text(editor, part, "description", words.picture_description), text(editor, part, "credit", words.picture_credit),
    made("p", {}, button(words.picture_remove, remove))));
}

/** One picture of `holder`, or the field to upload it. */
export function onePicture(editor, holder) {
  const place = made("div", {});
  const draw = () => place.replaceChildren(holder.picture
    ? picture(editor, holder.picture, () => { editor.model.mark(); delete holder.picture; editor.changed(editor.words.removed, true); draw(); })
    : uploader(editor, editor.words.picture, (url) => { editor.model.mark(); holder.picture = { url }; editor.changed(""); draw(); }));
  draw();
  return place;
}

/** Several pictures of `holder`, at most `most`. */
export function severalPictures(editor, holder, most) {
  const place = made("div", { className: "stack" }), { words } = editor;
  const change = (act, said, undo) => {
    editor.model.mark();
    act((holder.pictures ??= []));
    editor.changed(said, undo);
    draw();
  };
  const draw = () => {
    const list = holder.pictures ?? [];
    place.replaceChildren(made("h3", {}, words.pictures), ...list.map((part, nth) => {
      const shown = picture(editor, part, () => change((all) => all.splice(nth, 1), words.removed, true));
      if (nth) shown.lastElementChild.lastElementChild.append(" ", button(words.up, () => change((all) => all.splice(nth - 1, 0, ...all.splice(nth, 1)), "")));
      return shown;
    }), ...(list.length < most ? [uploader(editor, words.picture_add, (url) => (holder.pictures ?? []).length < most && change((all) => all.push({ url }), ""), true)] : []));
  };
  draw();
  return place;
}
