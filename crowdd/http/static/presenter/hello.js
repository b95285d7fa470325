"use strict";
/* What a frame says and hears before its scripts are there; it stands in the document itself.  The page knows the task by then, and the
   media of it begin to load.  The scripts of questions are brought by the page, too (early.js), or loaded by their addresses,
   `data-sheets` and `data-scripts`.  prelude.js takes over. */
{
  const place = document.currentScript, { sheets, scripts, ...start } = place.dataset, list = (addresses) => addresses.split(" ").filter(Boolean);
  const whenRead = (act) => (document.readyState === "loading" ? document.addEventListener("DOMContentLoaded", act, { once: true }) : act());

  /* `texts` are the files by their addresses. */
  function load(texts) {
    if (!scripts) return;
    const all = [...list(sheets), ...list(scripts)], brought = all.every((address) => texts[address]);
    const made = (name, properties, address) => Object.assign(document.createElement(name), brought ? { textContent: texts[address] } : properties);
    place.after(...list(sheets).map((href) => made(brought ? "style" : "link", { rel: "stylesheet", href }, href)));
    const elements = list(scripts).map((src) => made("script", { src, async: false, crossOrigin: "anonymous" }, src));
    Object.assign(elements.at(-1).dataset, start);
    whenRead(() => document.head.append(...elements));
  }

  if (parent === window) load({});
  else {
    const { port1: port, port2: its } = new MessageChannel(), heard = [], { theme, brought } = (() => {
      try {
        return JSON.parse(window.name) || {};
      } catch {
        return {};
      }
    })();
    const first = window.presenterFirst = { port, heard, media: new Map() };
    if (scripts) document.documentElement.dataset.look = ""; // frame.css
    if (theme) document.documentElement.dataset.theme = theme;
    port.onmessage = (event) => {
      const { op, media, texts } = JSON.parse(event.data);
      if (op === "ping") port.postMessage('{"op":"pong"}');
      else if (op === "files") load(texts);
      else if (op === "ahead") for (const [kind, addresses] of Object.entries(media)) for (const address of addresses) ask(address, kind);
      else heard.push(event);
    };
    const ASK = {
      picture(src) { // as prelude.js has it asked, or it would be fetched twice
        const own = new URL(src, document.baseURI).host === location.host;
        return Object.assign(new Image(), own ? { crossOrigin: "anonymous" } : {}, { src });
      },
      sound(address) { // media/sound.js
        const answer = fetch(address);
        answer.catch(() => {});
        return answer;
      },
      video: (src) => Object.assign(document.createElement("video"), { preload: "metadata", playsInline: true, src }), // media/video.js
    };
    const ask = (address, kind) => first.media.has(address) || first.media.set(address, ASK[kind](address));
    parent.postMessage("presenter:hello", location.origin, [its]);
    if (!brought) load({});
  }
}
