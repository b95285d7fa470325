// What every page may use; each page works without it.
const root = document.documentElement;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];
const one = (selector, within = document) => within.querySelector(selector);

// Menus: one open at a time, Escape and a click elsewhere close, focus returns.
const openMenus = () => all("details.menu[open]");
addEventListener("click", event => {
  for (const menu of openMenus()) if (!menu.contains(event.target)) menu.open = false;
});
addEventListener("keydown", event => {
  if (event.key !== "Escape") return;
  for (const menu of openMenus()) { menu.open = false; one("summary", menu).focus(); }
});

// Light and dark: shown at once, kept by the server. If that fails, the form goes the ordinary way.
const show = theme => {
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
  for (const button of all("button[name=theme][form=preferences]"))
    if (button.value === theme) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
};
for (const form of all("form[data-preferences]")) form.addEventListener("submit", async event => {
  const pressed = event.submitter;
  if (pressed?.name !== "theme" || "plain" in form.dataset) return;   // another language is another page
  event.preventDefault();
  show(pressed.value);
  pressed.closest("details").open = false;
  const body = new URLSearchParams(new FormData(form));
  body.set("theme", pressed.value);
  const answer = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
  if (answer?.ok || answer?.type === "opaqueredirect") return;
  form.dataset.plain = "";
  form.requestSubmit(pressed);
});

// Dialogs and messages
for (const button of all("[data-open]")) button.addEventListener("click", () => document.getElementById(button.dataset.open).showModal());
for (const button of all("[data-dismiss]")) button.addEventListener("click", () => button.closest(".toast, .flash").remove());

// Of many tabs the one that is open is seen; the page itself stays where it is.
for (const here of all(".tabs [aria-current]")) {
  const tabs = here.closest(".tabs"), mine = here.getBoundingClientRect(), whole = tabs.getBoundingClientRect();
  if (tabs.scrollWidth > tabs.clientWidth) tabs.scrollLeft += mine.left - whole.left - (whole.width - mine.width) / 2;
}

// Tabs within one page; arrows move, in reading direction.
for (const list of all("[role=tablist]")) {
  const tabs = all("[role=tab]", list);
  const go = chosen => tabs.forEach(tab => {
    const on = tab === chosen;
    tab.setAttribute("aria-selected", on);
    tab.tabIndex = on ? 0 : -1;
    document.getElementById(tab.getAttribute("aria-controls")).hidden = !on;
    if (on) tab.focus();
  });
  list.addEventListener("click", event => tabs.includes(event.target) && go(event.target));
  list.addEventListener("keydown", event => {
    const right = getComputedStyle(list).direction === "rtl" ? -1 : 1;
    const step = { ArrowRight: right, ArrowLeft: -right }[event.key];
    if (step) go(tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length]);
  });
}

// A secret is shown, and hidden again, by its button.
for (const button of all("[data-reveal]")) {
  const field = document.getElementById(button.dataset.reveal), words = [button.textContent, button.dataset.done];
  button.hidden = false;
  button.addEventListener("click", () => {
    const shown = field.type === "password";
    field.type = shown ? "text" : "password";
    button.textContent = words[Number(shown)];
  });
}

// The command palette, loaded when it is first opened. Ctrl+K (⌘K on a Mac) stays the browser's or the editor's where somebody
// writes, and never comes out of a presenter's frame.
const [opener] = all("[data-palette]");
const openPalette = async () => (await import(opener.dataset.palette)).open(opener);
if (opener) {
  const mac = /^Mac|^iP/.test(navigator.platform);
  if (mac) opener.title = opener.title.replace("Ctrl ", "⌘");
  opener.addEventListener("click", openPalette);
  addEventListener("keydown", event => {
    if (event.key.toLowerCase() !== "k" || !(mac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey)) return;
    if (event.altKey || event.shiftKey || event.defaultPrevented || one("dialog[open]")) return;
    if (event.target.closest?.("input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]")) return;
    event.preventDefault();
    openPalette();
  });
  const [, here] = location.pathname.match(/^\/project\/([^/]+)\//) || [];
  if (here) try {
    const recent = JSON.parse(localStorage["recent-projects"] || "[]").filter(name => name !== here);
    localStorage["recent-projects"] = JSON.stringify([here, ...recent].slice(0, 8));
  } catch { /* switched off, or not ours */ }
}

// The browser asks for a page of an owner when its link is pressed, before it is let go (record 48): no address with an effect,
// no file, no stream, no page that shows a presenter.
const AHEAD = ["", "settings", "stats", "update", "pictures", "blog", "webhook", "auditlog", "volunteers", "queue", "publish", "coowners",
  ...["", "browse", "import", "export", "redundancy", "priority", "scheduler"].map(page => `tasks/${page}`)];
if (opener && HTMLScriptElement.supports?.("speculationrules")) {
  const pages = AHEAD.map(page => ({ pathname: `/project/:name/${page}`, search: "" }));
  const where = { and: [{ selector_matches: "main a" }, { href_matches: pages }] };
  const rules = Object.assign(document.createElement("script"), { type: "speculationrules", nonce: one("script[nonce]").nonce });
  rules.textContent = JSON.stringify({ prefetch: [{ where, eagerness: "conservative" }] });
  document.head.append(rules);
}

// A form of one button that switches something: the other state is shown at once, and taken back with a message when the server
// refuses. data-toggle is the address of the way back.
const turn = form => {
  const words = one("[data-other]", form), back = form.getAttribute("action");
  form.setAttribute("action", form.dataset.toggle);
  form.dataset.toggle = back;
  [words.textContent, words.dataset.other] = [words.dataset.other, words.textContent];
};
for (const form of all("form[data-toggle]")) form.addEventListener("submit", async event => {
  event.preventDefault();
  if (form.ariaBusy === "true") return;
  const body = new URLSearchParams(new FormData(form)), sent = fetch(form.action, { method: "POST", body, headers: { Accept: "application/json" } });
  form.ariaBusy = "true";
  turn(form);
  const answer = await sent.catch(() => null);
  form.ariaBusy = "false";
  if (answer?.ok && !answer.redirected) return;
  turn(form);
  const box = one(".toasts") || document.body.appendChild(Object.assign(document.createElement("div"), { className: "toasts" }));
  const toast = Object.assign(document.createElement("p"), { className: "toast", role: "alert", textContent: form.dataset.failed });
  box.append(toast);
  setTimeout(() => toast.remove(), 10000);
});

// Copy buttons say that they did it; where copying is not allowed they select, so that the keyboard can.
for (const button of all("[data-copy]")) {
  const words = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const source = one(button.dataset.copy);
    source.select();
    try { await navigator.clipboard.writeText(source.value); } catch { return; }
    button.textContent = button.dataset.done;
    setTimeout(() => { button.textContent = words; }, 4000);
  });
}

for (const button of all("[data-print]")) {
  button.hidden = false;
  button.addEventListener("click", () => print());
}

// Deleting asks for the name; the button wakes when it is typed.
for (const field of all("[data-must]")) field.addEventListener("input", () => {
  document.getElementById(field.dataset.arms).disabled = field.value !== field.dataset.must;
});

// A page that asks to wait counts the seconds down.
for (const clock of all("[data-wait]")) {
  const bar = one("progress", clock), words = one("[data-left]", clock), until = Date.now() + 1000 * clock.dataset.wait;
  const tick = setInterval(() => {
    const left = Math.max(0, Math.ceil((until - Date.now()) / 1000));
    bar.value = bar.max - left;
    words.textContent = `${Math.floor(left / 60)}:${String(left % 60).padStart(2, "0")}`;
    if (!left) clearInterval(tick);
  }, 1000);
}

// Other tabs of this browser may wait for a new session (session.js), or show a presenter to a person who signs out
// (presenter/bridge.js); what presenters stored for them, and drafts (unsaved.js), go with the session.
const tellPages = words => {
  const pages = new BroadcastChannel("pages");
  pages.postMessage(words);
  pages.close();
};
const forget = area => {
  for (const key of Object.keys(area)) if (/^(presenter-\d+(-\d+)?$|recent-projects$|draft |guide )/.test(key)) area.removeItem(key);
};
/* What was taken along goes with the session, or when another account comes. */
const along = () => import("./presenter/forget.js");
addEventListener("submit", async event => {
  const form = event.target;
  if (form.id !== "sign-out") return;
  event.preventDefault();
  const away = await along().catch(() => ({}));
  if (await away.waiting?.() && !confirm(form.dataset.waits)) return;
  try { forget(localStorage); forget(sessionStorage); } catch { /* switched off */ }
  tellPages("signed-out");
  await away.forget?.();
  form.submit();
});
const account = one("script[data-account]")?.dataset.account;
if (account !== undefined) globalThis.caches?.keys().then(async names => {
  if (names.some(name => name.startsWith("along of ") && name.slice(9) !== account)) (await along()).forget({ answers: false });
}).catch(() => {});
tellPages("loaded");
