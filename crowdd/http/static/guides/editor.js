// The editor of a guide by clicks. The form sends what is in its JSON field; this keeps that field up to date, so that drafts and the
// question before unsaved changes (unsaved.js) are those of any other text.
import { showPage } from "./sample_dialog.js";
import { button, made, pick } from "./fields.js";
import { Model } from "./model.js";
import * as fieldGuide from "./field_guide.js";
import * as tutorial from "./tutorial.js";

const $ = (id) => document.getElementById(id);
const place = $("guide-editor"), field = $("document"), form = $("guide-form"), news = $("guide-news");
const about = JSON.parse(place.dataset.editor), PARTS = { guided_tutorial: tutorial, field_guide: fieldGuide }[about.guide];

class Editor {
  constructor() {
    const unaddressed = (value) => (about.project?.uploads ? JSON.parse(JSON.stringify(value).replaceAll(about.project.uploads, `/uploads/project-${about.project.id}/`)) : value);
    Object.assign(this, { questions: about.questions, language: about.language, project: about.project, tasks: unaddressed(about.tasks ?? []) });
    Object.assign(this, { words: JSON.parse(place.dataset.words), problems: JSON.parse(place.dataset.problems), frame: place.dataset.frame, pictures: place.dataset.pictures });
    this.model = new Model(about.language);
    this.own = false;
    field.addEventListener("input", () => !this.own && this.read()); // a draft was restored
    $("guide-preview").addEventListener("click", () => this.preview());
  }

  /* Takes what is in the field; without JSON it is shown as it is. */
  read() {
    let document = null;
    try { document = JSON.parse(field.value); } catch { /* the field stays in sight */ }
    const usable = document && typeof document === "object" && ["steps", "entries"].some((name) => Array.isArray(document[name]));
    place.hidden = $("guide-preview").hidden = !usable;
    $("as-json").classList.toggle("scripted", Boolean(usable));
    if (!usable) return;
    this.model.read(document);
    this.draw();
  }

  draw() {
    const sections = PARTS.sections(this); // may complete the document
    place.replaceChildren(this.bar(), ...sections, ...(about.guide === "guided_tutorial" ? [this.edition()] : []));
    this.tell();
  }

  redrawTasks() {
    queueMicrotask(() => {
      const sections = PARTS.sections(this), last = sections.at(-1), old = place.querySelectorAll(":scope > section");
      if (sections.length === 2 && old.length === 2) old[1].replaceWith(last);
    });
  }

  bar() {
    const { model, words } = this, name = (tag) => this.languageName(tag);
    const used = model.languages().map((tag) => [tag, name(tag)]);
    const others = Object.keys(about.languages).filter((tag) => !model.languages().includes(tag)).map((tag) => [tag, name(tag)]);
    const turn = (tag) => { if (!tag) return; model.language = tag; this.draw(); place.querySelector("select").focus(); };
    this.lacking = made("p", { className: "small", id: "guide-lacking" });
    return made("div", { className: "row guide-bar" }, pick(words.language, used, model.language, turn), pick(words.language_add, [["", words.choose], ...others], "", turn), this.lacking);
  }

  edition() {
    const { document } = this.model, stored = about.edition ?? document.edition ?? 1;
    about.edition = stored;
    const box = made("input", { type: "checkbox", checked: (document.edition ?? 1) > stored });
    box.addEventListener("change", () => { document.edition = stored + (box.checked ? 1 : 0); this.typed(); });
    return made("label", { className: "check" }, box, made("span", {}, this.words.again, made("small", {}, this.words.again_hint)));
  }

  languageName(tag) {
    return about.languages[tag] ?? tag;
  }

  /** A text of the questions in the language that is edited. */
  plain(text) {
    return typeof text === "string" ? text : this.model.said(text);
  }

  /** All questions and media of the project. */
  parts() {
    const steps = this.questions?.steps ?? [];
    return { questions: steps.flatMap((step) => step.questions ?? []), media: steps.flatMap((step) => step.media ?? []) };
  }

  problemsAt(path) {
    return this.problems.filter((one) => one.path === path || one.path.startsWith(`${path}/`)).map((one) => one.sentence);
  }

  /** Something was typed. */
  typed() {
    this.write();
    this.tell();
  }

  /** Something was changed by a click: it is said, and can be undone. */
  changed(words, undo = false) {
    this.write();
    this.tell();
    news.replaceChildren(words);
    if (undo) news.append(" ", button(this.words.undo, () => this.undo()));
  }

  undo() {
    this.model.undo();
    this.write();
    this.draw();
    news.textContent = this.words.undone;
    place.querySelector("summary, select")?.focus();
  }

  write() {
    this.own = true;
    field.value = JSON.stringify(PARTS.tidy(this.model.written()), null, 2);
    field.dispatchEvent(new Event("input", { bubbles: true }));
    this.own = false;
  }

  /* What is missing in the language that is edited. */
  tell() {
    const { model, words } = this, { missing, total } = model.missing(model.language);
    this.lacking.textContent = missing ? words.lacking.replace("{n}", missing).replace("{total}", total) : total ? words.complete : "";
    this.lacking.classList.toggle("warn", missing > 0);
  }

  async preview() {
    const body = new FormData(form);
    body.set("btn", "Preview");
    const answer = await fetch(form.action, { method: "POST", body: new URLSearchParams(body), headers: { Accept: "application/json" } }).catch(() => null);
    const told = await answer?.json().catch(() => null);
    if (told?.source) await showPage(this, told.source, this.words.preview);
    else if (told?.field_guide) this.previewEntries(told.field_guide);
    else if (told?.problems) this.refused(told);
    else news.textContent = this.words.preview_failed;
  }

  refused({ problems, form: sent }) {
    this.problems = problems;
    this.draw();
    news.textContent = sent.errors.document.join(" ");
    const wrong = place.querySelector("li.wrong summary");
    wrong?.click();
    wrong?.focus();
  }

  previewEntries({ entries }) {
    const dialog = $("guide-dialog");
    $("guide-dialog-title").textContent = this.words.preview;
    $("guide-dialog-hint").textContent = "";
    $("guide-dialog-frame").replaceChildren(...entries.map(({ title, text, pictures }) => {
      const prose = made("div", { className: "prose" });
      if (text) prose.innerHTML = text.html; // crowdd has cleaned it
      return made("article", { className: "stack after" }, made("h3", { lang: title.lang, dir: title.dir }, title.words), prose,
        ...pictures.map(({ url, description, credit }) => made("figure", {}, made("img", { src: url, alt: description }), made("figcaption", { className: "tiny soft" }, [description, credit].filter(Boolean).join(" · ")))));
    }));
    $("guide-dialog-close").onclick = () => dialog.close();
    dialog.showModal();
  }
}

new Editor().read();
