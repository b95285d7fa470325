"use strict";
/* In the frame of the preview: puts the text that the page around it sends into the document, scripts in their order, each
   after the one before has loaded, as a parser would. */
const focus = HTMLElement.prototype.focus; // the owner may be typing in the page around it
HTMLElement.prototype.focus = function (options) {
  if (document.hasFocus()) focus.call(this, options);
};
addEventListener("message", async function fill(event) {
  if (event.source !== parent || typeof event.data !== "string") return;
  removeEventListener("message", fill);
  const parsed = document.createElement("template");
  parsed.innerHTML = event.data;
  document.body.append(parsed.content);
  for (const found of [...document.body.querySelectorAll("script")]) {
    const script = document.createElement("script");
    for (const { name, value } of found.attributes) script.setAttribute(name, value);
    script.text = found.text;
    script.async = false;
    const loaded = found.src && new Promise((done) => { script.onload = script.onerror = done; });
    found.replaceWith(script);
    await loaded;
  }
});
parent.postMessage("preview:ready", "*");
