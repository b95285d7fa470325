// The editor of a field guide: groups and entries.
import { Cards } from "./cards.js";
import { pick, text } from "./fields.js";
import { severalPictures } from "./pictures.js";

const MOST = { groups: 50, entries: 300, pictures: 10 };

export function sections(editor) {
  const { model, words } = editor, { document } = model;
  document.groups ??= [];
  document.entries ??= [];
  const copied = (list, stem) => (part) => ({ ...structuredClone(part), name: model.freeName(list, stem) });
  const entries = new Cards({
    editor, list: document.entries, heading: words.entries, most: MOST.entries, title: (entry) => model.said(entry.title), copy: copied(document.entries, "entry"),
    problems: (nth) => editor.problemsAt(`/entries/${nth}`), body: (entry) => entryFields(editor, entry),
    add: { words: words.add_entry, make: () => ({ name: model.freeName(document.entries, "entry"), title: {} }) },
  });
  const groups = new Cards({
    editor, list: document.groups, heading: words.groups, most: MOST.groups, title: (group) => model.said(group.title), copy: copied(document.groups, "group"),
    problems: (nth) => editor.problemsAt(`/groups/${nth}`), body: (group) => [text(editor, group, "title", words.title)],
    add: { words: words.add_group, make: () => ({ name: model.freeName(document.groups, "group"), title: {} }) },
  });
  return [entries.element, groups.element];
}

function entryFields(editor, entry) {
  const { model, words } = editor, known = model.document.groups.map(({ name, title }) => [name, model.said(title) || name]);
  const chosen = known.some(([name]) => name === entry.group) ? entry.group : "";
  return [
    text(editor, entry, "title", words.title),
    ...(known.length ? [pick(words.group, [["", words.no_group], ...known], chosen, (name) => { if (name) entry.group = name; else delete entry.group; editor.changed(""); })] : []),
    text(editor, entry, "text", words.text, { rows: 6, hint: words.markdown, maximum: 10000 }),
    text(editor, entry, "keywords", words.keywords, { hint: words.keywords_hint }),
    severalPictures(editor, entry, MOST.pictures),
  ];
}

/** Entries of groups that were deleted have none. */
export function tidy(document) {
  const known = new Set((document.groups ?? []).map(({ name }) => name));
  for (const entry of document.entries ?? []) if (entry.group && !known.has(entry.group)) delete entry.group;
  if (!document.groups?.length) delete document.groups;
  for (const entry of document.entries ?? []) if (!entry.pictures?.length) delete entry.pictures;
  return document;
}
