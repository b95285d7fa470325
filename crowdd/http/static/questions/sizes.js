/* How large files are, and how that is said. */

/** How many bytes a file has; NaN where its site does not say it to others. */
export async function sizeOf(address) {
  const answer = await fetch(address, { method: "HEAD" }).catch(() => null);
  return Number(answer?.ok ? answer.headers.get("Content-Length") ?? NaN : NaN);
}

/** Bytes as kilobytes or megabytes. */
export function inWords(bytes, locale) {
  const [unit, size] = bytes < 1e6 ? ["kilobyte", 1e3] : ["megabyte", 1e6];
  return new Intl.NumberFormat(locale, { style: "unit", unit, maximumFractionDigits: bytes < 1e7 && bytes >= 1e6 ? 1 : 0 }).format(bytes / size);
}
