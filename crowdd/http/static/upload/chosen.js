// Files that a person chooses or drops, also whole folders, each with its path: [{file, path, key}].

// A word for a text, of 53 bits (cyrb53): the browser's own digests are missing on pages without TLS.
function word(text) {
  let a = 0xdeadbeef, b = 0x41c6ce57;
  for (const character of text) {
    const code = character.codePointAt(0);
    a = Math.imul(a ^ code, 2654435761);
    b = Math.imul(b ^ code, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}

/** What tells a file from others: the same file that is chosen again has the same key. */
const named = (file, path) => ({ file, path, key: `${file.size}-${file.lastModified}-${word(path)}` });

/** The files of an input, in the order of their paths. */
export const picked = (input) => sorted([...input.files].map((file) => named(file, file.webkitRelativePath || file.name)));

/** The files of a drop, with those in its folders; at most `maximum` and one more. */
export async function dropped(transfer, maximum) {
  const entries = [...transfer.items].map((item) => item.webkitGetAsEntry?.()).filter(Boolean); // only now: the list goes
  if (!entries.length) return sorted([...transfer.files].map((file) => named(file, file.name)));
  const found = [];
  for (let entry; (entry = entries.shift()) && found.length <= maximum; ) {
    const path = entry.fullPath.replace(/^\//, "");
    if (entry.isDirectory) entries.push(...(await members(entry)));
    else {
      const file = await new Promise((resolve) => entry.file(resolve, () => resolve(null)));
      if (file) found.push(named(file, path));
    }
  }
  return sorted(found);
}

async function members(folder) {
  const reader = folder.createReader(), all = [];
  for (;;) {
    const some = await new Promise((resolve) => reader.readEntries(resolve, () => resolve([]))); // a hundred at a time
    if (!some.length) return all;
    all.push(...some);
  }
}

const order = new Intl.Collator(undefined, { numeric: true });
const sorted = (files) => files.sort((one, other) => order.compare(one.path, other.path));
