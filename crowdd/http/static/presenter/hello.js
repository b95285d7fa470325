"use strict";
/* What a frame with questions says and hears before its scripts are there; it stands in the document itself.  The page knows its
   task by then, and the pictures of it begin to load.  prelude.js takes over. */
if (parent !== window) {
  const { port1: port, port2: its } = new MessageChannel(), heard = [], { theme } = (() => {
    try {
      return JSON.parse(window.name) || {};
    } catch {
      return {};
    }
  })();
  const first = window.presenterFirst = { port, heard, pictures: [] };
  document.documentElement.dataset.look = ""; // frame.css
  if (theme) document.documentElement.dataset.theme = theme;
  port.onmessage = (event) => {
    const { op, addresses = [] } = JSON.parse(event.data);
    if (op === "ping") port.postMessage('{"op":"pong"}');
    else if (op === "ahead") first.pictures = addresses.map(picture);
    else heard.push(event);
  };
  /* Asked for as prelude.js has it asked, or it would be fetched twice. */
  function picture(src) {
    const own = new URL(src, document.baseURI).host === location.host;
    return Object.assign(new Image(), own ? { crossOrigin: "anonymous" } : {}, { src });
  }
  parent.postMessage("presenter:hello", location.origin, [its]);
}
