"use strict";
/* The service worker.  Where the server does not answer, it shows the page of a project whose tasks were taken along (ride.js, which
   registers it for the task pages of that project and for /app/, and no others), with what that page was made of.  It hears no
   message, writes nothing, and sends nothing but what its pages ask for.  No frame of a presenter reaches it: those have a sandbox
   and an opaque origin.  The one document that it shows in a frame is ours, without anything of an owner's but questions, and gets
   a sandbox without a network here. */
const NAME = "along {release}";
const PATIENCE = 5000; // milliseconds until a page that is here is shown instead of one that does not come
const TASKS = /^\/project\/[^/]+\/(newtask|task\/\d+)\/?$/, HOME = "/app/";
const FRAME = {
  "Content-Type": "text/html; charset=utf-8",
  "Content-Security-Policy": "sandbox allow-scripts allow-forms; default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    + "img-src data: blob:; media-src data: blob:; connect-src data: blob:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'",
  "X-Content-Type-Options": "nosniff",
};

/* What is kept of this release under an address, if anything. */
const kept = (path) => caches.match(path, { cacheName: NAME, ignoreVary: true });
const shellOf = (path) => (path === HOME ? HOME : path.replace(/(newtask|task\/\d+)\/?$/, "newtask"));

async function page(request, path) {
  const asked = fetch(request), waits = new Promise((resolve) => setTimeout(resolve, PATIENCE));
  const came = await Promise.race([asked.catch(() => null), waits]);
  return came ?? (await kept(shellOf(path))) ?? asked;
}

async function frame(path) {
  const document = await kept(`${shellOf(path)}?_presenter=along`);
  return document ? new Response(await document.text(), { headers: FRAME }) : Response.error();
}

addEventListener("install", (event) => event.waitUntil(skipWaiting()));
addEventListener("activate", (event) => event.waitUntil(caches.keys().then((names) => {
  const old = names.filter((name) => name.startsWith("along ") && !name.startsWith("along of ") && name !== NAME);
  return Promise.all(old.map((name) => caches.delete(name)));
})));
addEventListener("fetch", (event) => {
  const { request } = event, { origin, pathname, search } = new URL(request.url);
  if (request.method !== "GET" || origin !== location.origin) return;
  if (request.mode === "navigate") {
    if (request.destination === "document" && (TASKS.test(pathname) || pathname === HOME)) event.respondWith(page(request, pathname));
    else if (request.destination === "iframe" && TASKS.test(pathname) && search === "?_presenter=along") event.respondWith(frame(pathname));
  } else if (pathname.startsWith("/static/") || pathname === "/site.css") {
    event.respondWith(kept(request).then((file) => file ?? fetch(request)));
  }
});
