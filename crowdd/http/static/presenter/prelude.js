"use strict";
/* The frame's half of the bridge, loaded before anything of the presenter.  It gives an opaque origin what presenters expect
   of a page (the API as the same volunteer, pushState, cookies, storage, dialogs, links).  It is a courtesy, not a guard:
   the presenter can take all of it apart and gains nothing, because bridge.js checks.

   A presenter may use `window.presenterBridge`:
     api(method, url, body)      a promise of {status, body}; status 0 without a network
     path()                      where the volunteer is, as far as the address bar says
     shown()                     the task can be seen, from its first step on
     done()                      the tutorial is over: the page shows the task
     brought(address)            a medium that the page has with it, as a data: URL; undefined for others
     keyLabel(key)               what is printed on that key, in capitals: another letter on layouts without Latin ones, once the
                                 event crowdd:keys has come
     work(unsent)                whether the task that is shown has work which is not sent: the page's keys for skipping and help
                                 do nothing then, and its Skip button asks
     keep(file)                  has the page keep a file (a Blob) for an answer: how the answer names it, [{"file": name}]
     skip()                      asks the volunteer whether to give the task back
     offer({key: label, …})      what its keys do, for the page's list of shortcuts; "s" also gives the page a Skip button
   An <img> with the attribute `data-zoom` gets a toolbar to zoom, rotate and invert it (zoom.js), and keys for that.
   And the event `crowdd:key` on `document` with detail {key}: a shortcut key, pressed in the frame or outside it, never while
   somebody types and never when shortcuts are switched off.  preventDefault() says that the presenter used it.
   `crowdd:again` with detail {task}, a number, asks it to show a task once more whose answer the volunteer wants to change, and
   with null to go back to the one that was open.  preventDefault() says that it does; otherwise the frame is reloaded. */
(function () {
  if (parent === window) { // opened by itself: no presenter under our address
    document.documentElement.remove();
    return;
  }
  const root = document.documentElement;
  const start = readName();
  const first = window.presenterFirst; // hello.js was here before
  const channel = first ? null : new MessageChannel();
  const port = first ? first.port : channel.port1;
  const open = new Map();
  const buttons = document.currentScript.dataset; // their words in the volunteer's language
  const zoom = parsed(buttons.zoom);
  const brought = new Map(), BROUGHT = 40;
  let last = 0;
  let here = location.pathname + location.search;
  let shortcuts = start.shortcuts !== false;
  let labels = {}; // of keys (key_labels.js)
  if (start.theme) root.dataset.theme = start.theme;
  if (start.room) root.style.setProperty("--room", start.room + "px");
  /* What is asked stands beside what it is about: in wide windows, and in those that are low (page around: a frame is as high as all
     it has). */
  const [wide, almost] = ["(min-width: 56em)", "(min-width: 40em)"].map((query) => matchMedia(query));
  let low = start.low === true;
  const widen = () => {
    root.toggleAttribute("data-wide", wide.matches || (low && almost.matches));
    root.toggleAttribute("data-small", low || !wide.matches); // the window of a phone, upright or lying
  };
  for (const query of [wide, almost]) query.addEventListener("change", widen);
  widen();
  if (!first) parent.postMessage("presenter:hello", location.origin, [channel.port2]);

  function readName() {
    const name = window.name;
    window.name = "";
    return parsed(name) || {}; // nothing in it: the frame reloaded itself and will be replaced
  }
  function parsed(text) {
    try {
      return JSON.parse(text);
    } catch {
      return null;
    }
  }
  function send(message) {
    port.postMessage(JSON.stringify(message));
  }
  function ask(message) {
    return new Promise((resolve) => {
      message.id = ++last;
      open.set(message.id, resolve);
      send(message);
    });
  }
  function replace(object, name, value) {
    Object.defineProperty(object, name, { value, configurable: true, writable: true });
  }
  function getter(object, name, get, set) {
    Object.defineProperty(object, name, { get, set, configurable: true });
  }

  const HEARD = {
    ping: () => send({ op: "pong" }),
    view(message) {
      low = message.low === true;
      widen();
      for (const [name, pixels] of [["--view-top", message.top], ["--view-height", message.height], ["--room", message.room]]) {
        const value = pixels + "px";
        if (root.style.getPropertyValue(name) !== value) root.style.setProperty(name, value); // everything inherits it
      }
    },
    pop(message) {
      here = message.url;
      dispatchEvent(new PopStateEvent("popstate", { state: null }));
    },
    press: (message) => isTooSoon(performance.now()) || used(message.key, message.code),
    /* What tasks to come show is in the browser's cache when the line is cut. */
    async load({ addresses, reports }) {
      for (const address of addresses) {
        const own = new URL(address, document.baseURI).host === location.host;
        await nativeFetch.call(window, address, { mode: own ? "cors" : "no-cors", credentials: "omit", priority: "low" }).then((answer) => answer.blob()).catch(() => null);
      }
      if (reports) send({ op: "loaded" });
    },
    /* Media that the page has with it, by their addresses: {address: data: URL}.  Those of a few tasks stay. */
    media({ files }) {
      for (const [address, file] of Object.entries(files)) {
        brought.delete(address);
        brought.set(address, file);
      }
      for (const address of [...brought.keys()].slice(0, -BROUGHT)) brought.delete(address);
    },
    again({ task }) {
      send({ op: "again", shown: !document.dispatchEvent(new CustomEvent("crowdd:again", { detail: { task }, cancelable: true })) });
    },
    shortcuts: (message) => { shortcuts = message.on; },
    keys: (message) => {
      labels = message.labels;
      document.dispatchEvent(new Event("crowdd:keys"));
    },
  };
  port.onmessage = hear;
  queueMicrotask(() => first?.heard.forEach(hear)); // when all that it needs is there
  function hear(event) {
    const message = JSON.parse(event.data);
    if (message.op) return HEARD[message.op]?.(message);
    const answered = open.get(message.id);
    open.delete(message.id);
    if (answered) answered(message);
  }

  /* XMLHttpRequest, fetch, sendBeacon of our /api; everything else goes its own way, as from any foreign page. */
  function apiUrl(address) {
    const url = new URL(address, document.baseURI);
    const path = url.pathname.replace(/^\/+/, "/"); // setEndpoint("https://host//")
    return url.host === location.host && path.startsWith("/api/") ? path + url.search : null; // http: on an https site too
  }
  function api(method, url, body) {
    const said = { op: "api", method: String(method).toUpperCase(), url, body: body || "" };
    if (said.method === "POST" && /^\/api\/taskrun\b/.test(url)) {
      work(false); // what was worked at is on its way
      hasFollowed();
    }
    const reply = ask(said);
    if (task && /^\/api\/([^/?]+|project\/[^/?]+)\/newtask\/?(\?(?!.*\boffset=[1-9])|$)/.test(url)) reply.then(hasFollowed);
    return reply;
  }
  /* The presenter's own keys, and those of its pictures; where both want one, it is the presenter's. */
  const offered = { own: {}, zoom: {} };
  function offer(whose, keys) {
    offered[whose] = keys;
    const taken = Object.keys(offered.own).map((key) => key.toLowerCase());
    const free = Object.entries(offered.zoom).filter(([key]) => !taken.includes(key.toLowerCase()));
    send({ op: "offer", keys: { ...offered.own, ...Object.fromEntries(free) } });
  }
  function keyLabel(key) {
    return String(labels[key.toLowerCase()] || key).toUpperCase();
  }
  function keep(file) {
    const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
    port.postMessage(new File([file], key));
    return `sent:${key}`;
  }
  window.presenterBridge = { api, keep, path: () => here, offer: (keys) => offer("own", keys), done: () => send({ op: "done" }), brought: (address) => brought.get(address), shown: () => send({ op: "shown" }), work, skip: () => send({ op: "skip" }), keyLabel };

  const Native = window.XMLHttpRequest;
  class BridgedXMLHttpRequest extends Native {
    open(method, address, async = true, ...rest) {
      const url = apiUrl(address);
      this.bridged = url && { method, url, readyState: 1, status: 0, statusText: "", responseText: "", responseURL: "" };
      if (!url) return super.open(method, address, async, ...rest);
      if (!async) throw new DOMException("A presenter cannot ask the API synchronously.", "NetworkError");
      this.dispatchEvent(new Event("readystatechange"));
    }
    setRequestHeader(name, value) {
      if (!this.bridged) super.setRequestHeader(name, value);
    }
    getAllResponseHeaders() {
      return this.bridged ? "content-type: application/json\r\n" : super.getAllResponseHeaders();
    }
    getResponseHeader(name) {
      if (!this.bridged) return super.getResponseHeader(name);
      return /^content-type$/i.test(name) ? "application/json" : null;
    }
    abort() {
      if (!this.bridged) return super.abort();
      if (this.bridged.sent && this.bridged.readyState < 4) this.finish("abort", { status: 0, body: "" });
    }
    send(body) {
      const mine = this.bridged;
      if (!mine) return super.send(body);
      const unfinished = () => mine === this.bridged && mine.readyState < 4;
      mine.sent = true;
      if (this.timeout) setTimeout(() => unfinished() && this.finish("timeout", { status: 0, body: "" }), this.timeout);
      api(mine.method, mine.url, body).then((reply) => unfinished() && this.finish(reply.status ? "load" : "error", reply));
    }
    finish(how, { status, body }) {
      const statusText = status === 200 ? "OK" : "";
      const responseURL = status ? new URL(this.bridged.url, location.href).href : "";
      Object.assign(this.bridged, { readyState: 4, status, statusText, responseText: body, responseURL });
      this.dispatchEvent(new Event("readystatechange"));
      this.dispatchEvent(new ProgressEvent(how));
      this.dispatchEvent(new ProgressEvent("loadend"));
    }
  }
  for (const name of ["readyState", "status", "statusText", "responseText", "responseURL", "response"]) {
    const native = Object.getOwnPropertyDescriptor(Native.prototype, name).get;
    getter(BridgedXMLHttpRequest.prototype, name, function () {
      if (!this.bridged) return native.call(this);
      if (name !== "response") return this.bridged[name];
      return this.responseType === "json" ? parsed(this.bridged.responseText) : this.bridged.responseText;
    });
  }
  replace(window, "XMLHttpRequest", BridgedXMLHttpRequest);

  const nativeFetch = window.fetch;
  replace(window, "fetch", async function (input, init) {
    const url = apiUrl(input instanceof Request ? input.url : input);
    if (!url) return nativeFetch.call(window, input, init);
    const request = new Request(input, init);
    const { status, body } = await api(request.method, url, await request.text());
    if (!status) throw new TypeError("Failed to fetch");
    return new Response(status === 204 ? null : body, { status, headers: { "Content-Type": "application/json" } });
  });
  const nativeBeacon = navigator.sendBeacon;
  replace(navigator, "sendBeacon", function (address, data) {
    const url = apiUrl(address);
    if (!url) return nativeBeacon.call(navigator, address, data);
    new Response(data).text().then((body) => api("POST", url, body));
    return true;
  });

  /* History: the address bar is the page's.  location itself cannot be changed; presenterBridge.path() knows better. */
  let state = null;
  function go(push) {
    return function (data, title, address) {
      state = data;
      if (address === undefined || address === null) return;
      const url = new URL(address, new URL(here, location.href)), [, shown = task] = url.pathname.match(/\/task\/(\d+)/) || [];
      here = url.pathname.replace(/\/{2,}/g, "/") + url.search;
      if (task && shown !== task) hasFollowed();
      task = shown;
      send({ op: "address", url: here + url.hash, push });
    };
  }
  replace(history, "pushState", go(true));
  replace(history, "replaceState", go(false));
  getter(history, "state", () => state);
  addEventListener("hashchange", () => send({ op: "address", url: here + location.hash, push: true }));

  /* document.cookie and the storages: private to the project, kept by the page. */
  const jar = new Map();
  function isGone(attribute) {
    return /^\s*max-age=(0|-)/i.test(attribute) || (/^\s*expires=/i.test(attribute) && new Date(attribute.split("=")[1]) < new Date());
  }
  getter(document, "cookie", () => [...jar].map(([name, value]) => name + "=" + value).join("; "), (line) => {
    const [pair, ...attributes] = String(line).split(";");
    const [name, ...value] = pair.split("=");
    if (attributes.some(isGone)) jar.delete(name.trim());
    else jar.set(name.trim(), value.join("=").trim());
  });

  function storage(area) {
    const items = Object.assign(Object.create(null), parsed(start[area]));
    let timer = 0;
    const save = () => {
      clearTimeout(timer);
      timer = setTimeout(() => send({ op: "memory", area, data: JSON.stringify(items) }), 100);
    };
    const methods = {
      getItem: (key) => (key in items ? items[key] : null),
      setItem(key, value) { items[key] = String(value); save(); },
      removeItem(key) { delete items[key]; save(); },
      clear() { for (const key in items) delete items[key]; save(); },
      key: (index) => Object.keys(items)[index] || null,
    };
    return new Proxy(items, {
      get: (_, key) => (key === "length" ? Object.keys(items).length : methods[key] || items[key]),
      set(_, key, value) { methods.setItem(key, value); return true; },
      deleteProperty(_, key) { methods.removeItem(key); return true; },
    });
  }
  for (const area of ["local", "session"]) {
    const kept = storage(area);
    getter(window, area + "Storage", () => kept);
  }

  /* alert, confirm and prompt are shown in this document, as part of the presenter: the page around it never speaks for a
     presenter.  A script cannot be made to wait here: confirm() says no, the volunteer is asked, and after a yes the event
     that led to it is sent again and finds the answer. */
  const answers = new Map();
  const questions = [];
  const LOOK = `
    dialog { box-sizing: border-box; position: absolute; inset-block: calc(var(--view-top, 0px) + 1rem) auto; margin: 0 auto;
      inline-size: min(30rem, 100% - 2rem); max-block-size: calc(var(--view-height, 100%) - 2rem); overflow: auto; padding: 1.25rem;
      color: CanvasText; background: Canvas; border: 1px solid GrayText; border-radius: 8px; font: 1rem/1.5 system-ui, sans-serif; }
    p { margin: 0 0 1rem; white-space: pre-wrap; overflow-wrap: anywhere; }
    input { box-sizing: border-box; inline-size: 100%; margin-block-end: 1rem; padding: .5rem; font: inherit; }
    button { min-block-size: 44px; min-inline-size: 5rem; margin-inline-end: .5rem; font: inherit; }
    [hidden] { display: none; }`;
  const FORM = `<dialog><form method="dialog"><p id="words"></p><input type="text" autocomplete="off" aria-labelledby="words" hidden>
    <button value="yes"></button><button value="no"></button></form></dialog>`;

  function showQuestion() {
    const { kind, text, value, answer } = questions[0];
    const host = document.createElement("div");
    const shadow = host.attachShadow({ mode: "open" });
    shadow.innerHTML = `<style>${LOOK}</style>${FORM}`;
    const [dialog, words, field] = ["dialog", "p", "input"].map((name) => shadow.querySelector(name));
    const [yes, no] = shadow.querySelectorAll("button");
    words.textContent = text;
    field.hidden = kind !== "prompt";
    field.value = value;
    yes.textContent = buttons.ok;
    no.textContent = buttons.cancel;
    no.hidden = kind === "alert";
    shadow.addEventListener("keydown", (event) => event.stopPropagation()); // no shortcuts
    dialog.addEventListener("close", () => {
      host.remove();
      questions.shift();
      answer(dialog.returnValue !== "yes" ? null : kind === "prompt" ? field.value : true);
      if (questions.length) showQuestion();
    });
    document.documentElement.append(host);
    dialog.showModal();
  }
  function raise(kind, text, value) {
    return new Promise((answer) => {
      if (questions.push({ kind, text, value, answer }) === 1) showQuestion();
    });
  }
  function question(kind, refused) {
    return function (words, value) {
      const text = String(words === undefined ? "" : words);
      const key = kind + text;
      const cause = window.event;
      if (answers.has(key)) {
        const given = answers.get(key);
        answers.delete(key);
        return given;
      }
      raise(kind, text, String(value === undefined ? "" : value)).then((given) => {
        if (kind === "alert" || given === null) return;
        answers.set(key, given);
        if (cause && cause.target) cause.target.dispatchEvent(new cause.constructor(cause.type, cause));
      });
      return refused;
    };
  }
  replace(window, "alert", question("alert", undefined));
  replace(window, "confirm", question("confirm", false));
  replace(window, "prompt", question("prompt", null));

  /* Links and window.open: the page opens them, without an opener.  Plain links to our own pages go by the server's stub. */
  replace(window, "open", (url) => {
    send({ op: "open", url: new URL(url || "", document.baseURI).href, tab: true });
    return { closed: false, close() {}, focus() {}, blur() {} };
  });
  function follow(event) {
    const link = event.target.closest && event.target.closest("a[href], area[href]");
    if (!link || event.defaultPrevented || !/^https?:$/.test(link.protocol)) return;
    const foreign = link.host !== location.host;
    const target = link.target || (document.querySelector("base[target]") || {}).target || "";
    const inTab = target === "_blank" || event.button === 1 || event.ctrlKey || event.metaKey;
    if (!foreign && !inTab && event.button === 0 && !/^_(top|parent)$/.test(target)) return;
    event.preventDefault();
    send({ op: "open", url: link.href, tab: foreign || inTab });
  }
  addEventListener("click", follow);
  addEventListener("auxclick", (event) => event.button === 1 && follow(event));

  /* Submit handlers have run when the event arrives here; the rest of the submission would only earn an error page. */
  addEventListener("submit", (event) => {
    if ((event.submitter || {}).formMethod !== "dialog" && event.target.method !== "dialog") event.preventDefault();
  });
  replace(HTMLFormElement.prototype, "submit", () => {});

  /* Keys that the presenter's own listeners did not take are offered to it as shortcuts, then to the page: by what they type,
     then by where they are, for layouts that have no such letter, or have it elsewhere. */
  function used(key, code) {
    return [key, placed(code)].some((each) => each && !document.dispatchEvent(new CustomEvent("crowdd:key", { detail: { key: each }, cancelable: true })));
  }
  function placed(code) {
    return /^(Key[A-Z]|Digit\d)$/.test(code) ? code.at(-1).toLowerCase() : "";
  }

  /* A task that has just followed another one is not answered by a key, nor by the second press of two: they were meant for the one
     before.  A key that is held since then stays so.  Presenters show another task when they have sent an answer, when they have
     got a task, or when they say its address. */
  const TOO_SOON = 250, TWO_PRESSES = 400; // milliseconds
  const down = new Map(), unheard = new Set(); // moments at which keys went down; keys that nobody hears of
  let followed = -Infinity, task = (here.match(/\/task\/(\d+)/) || [])[1];
  function hasFollowed() {
    followed = performance.now();
  }
  const isTooSoon = (at) => at - followed < TOO_SOON;
  function silence(event) {
    event.stopImmediatePropagation();
    event.preventDefault();
  }
  addEventListener("keydown", (event) => {
    if (!event.isTrusted) return;
    if (!event.repeat) down.set(event.code, event.timeStamp);
    unheard.delete(event.code);
    if (event.isComposing || (event.key !== "Enter" && (event.key.length > 1 || isTyping(event))) || !isTooSoon(down.get(event.code) ?? event.timeStamp)) return;
    unheard.add(event.code);
    silence(event);
  }, true);
  addEventListener("keyup", (event) => {
    if (event.isTrusted && unheard.delete(event.code)) silence(event);
  }, true);
  for (const name of ["mousedown", "mouseup", "click", "dblclick"]) addEventListener(name, (event) => {
    if (event.isTrusted && event.detail > 1 && event.timeStamp - followed < TWO_PRESSES) silence(event);
  }, true);

  /* The page moves nothing while something is pressed here. */
  for (const [name, on] of [["pointerdown", true], ["pointerup", false], ["pointercancel", false]]) {
    addEventListener(name, (event) => event.isTrusted && event.isPrimary && send({ op: "pressed", on }), true);
  }

  /* A letter that follows text is the end of a word, wherever the focus has gone. A key that bounces is one press. */
  const AFTER_TEXT = 1500, BOUNCE = 60; // milliseconds
  let typed = -AFTER_TEXT, pressed = { code: "", at: -BOUNCE };
  function isLate(event) {
    const bounced = event.code === pressed.code && event.timeStamp - pressed.at < BOUNCE;
    pressed = { code: event.code, at: event.timeStamp };
    return bounced || (event.key.length === 1 && event.timeStamp - typed < AFTER_TEXT);
  }
  addEventListener("input", (event) => {
    if (!event.isTrusted) return;
    if (/^(insert|delete)/.test(event.inputType)) typed = event.timeStamp;
    work(true);
  });
  let worked = false;
  function work(unsent) {
    if (worked !== unsent) send({ op: "work", unsent: worked = unsent });
  }
  /* Text is typed here: letters mean nothing to what is only pressed or moved, and stay shortcuts while it has the focus. */
  function isTyping({ target, key }) {
    const pressed = target.matches?.("input:is([type=radio], [type=checkbox], [type=range], [type=button], [type=submit])");
    if (pressed) return key.length > 1 || key === " ";
    return target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName);
  }
  function isShortcut(event) {
    const pressesButton = /^(Enter| )$/.test(event.key) && /^(BUTTON|A|SUMMARY)$/.test(event.target.tagName);
    return shortcuts && !pressesButton && !event.repeat && !event.ctrlKey && !event.altKey && !event.metaKey;
  }
  addEventListener("keydown", (event) => {
    if (event.isComposing || !event.isTrusted || isLate(event) || (isTyping(event) && event.key !== "Escape")) return;
    const shortcut = isShortcut(event);
    const key = { op: "key", key: event.key, code: event.code, ctrl: event.ctrlKey, alt: event.altKey, shift: event.shiftKey, meta: event.metaKey };
    setTimeout(() => event.defaultPrevented || (shortcut && used(event.key, event.code)) || send(key));
  });

  /* Our own uploads are foreign to an opaque origin: asked for with CORS they do not taint a canvas.  Other sites need not
     allow that, so an image that shows one of theirs next is asked for as before. */
  const marked = new WeakSet();
  const source = Object.getOwnPropertyDescriptor(HTMLImageElement.prototype, "src");
  const setAttribute = Element.prototype.setAttribute;
  function readable(image, address, replaced) {
    try {
      const own = new URL(address, document.baseURI).host === location.host;
      if (!own && marked.delete(image)) image.removeAttribute("crossorigin");
      if (!own || image.hasAttribute("crossorigin")) return;
      if (replaced) image.removeAttribute("src"); // or the browser asks for the old picture once more, in another way
      image.crossOrigin = "anonymous";
      marked.add(image);
    } catch { /* no URL */ }
  }
  getter(HTMLImageElement.prototype, "src", source.get, function (value) {
    readable(this, value, true);
    source.set.call(this, value);
  });
  replace(HTMLImageElement.prototype, "setAttribute", function (name, value) {
    if (/^src$/i.test(name)) readable(this, value, true);
    setAttribute.call(this, name, value);
  });
  new MutationObserver((records) => { // and those that came as HTML: the attribute makes the browser ask again
    const added = records.flatMap((record) => [...record.addedNodes]).filter((node) => node.querySelectorAll);
    const images = added.flatMap((node) => [node, ...node.querySelectorAll("img")]);
    for (const image of images) {
      if (image.localName !== "img") continue;
      if (image.src) readable(image, image.src);
      if ("zoom" in image.dataset) zoomable(image);
    }
  }).observe(document, { childList: true, subtree: true });

  /* Nothing of it is loaded before the picture is there. */
  function zoomable(image) {
    const begin = async () => {
      const module = await import(zoom.module).catch(() => null);
      if (module) module.zoomable(image, { ...zoom, offer: (keys) => offer("zoom", keys) });
      else image.addEventListener("load", begin, { once: true }); // no network: with the next picture
    };
    if (image.complete && image.naturalWidth) begin();
    else image.addEventListener("load", begin, { once: true });
  }

  /* The look of crowdd (frame.css) begins with the first of its classes.  `:root:has(.see)` in the style sheet would make the
     browser work out the style of everything again whenever an element is added. */
  const CLASSES = ".see, .say, .answers";
  const looked = new MutationObserver((records) => {
    const has = (node) => node.matches?.(CLASSES) || node.querySelector?.(CLASSES);
    if (!records.some(({ target, addedNodes }) => target.matches?.(CLASSES) || [...addedNodes].some(has))) return;
    root.dataset.look = "";
    looked.disconnect();
  });
  looked.observe(document, { childList: true, subtree: true, attributeFilter: ["class"] });

  /* Height: the page makes the frame as high as its content, so that there is one scroll bar. */
  let told = 0;
  // After a click the next task is under a pointer that rests: frame.css shows no hover until it moves.
  addEventListener("click", () => { root.dataset.still = ""; }, true);
  addEventListener("pointermove", ({ movementX, movementY }) => { if (movementX || movementY) delete root.dataset.still; });

  let due = 0;
  function measure() {
    due = 0;
    const html = document.documentElement || { offsetHeight: 0 };
    const body = document.body || { offsetHeight: 0, scrollHeight: 0 };
    const height = Math.max(html.offsetHeight, body.offsetHeight, body.scrollHeight);
    if (height !== told) send({ op: "size", height: told = height });
  }
  function soon() {
    due = due || setTimeout(measure, 100);
  }
  const watch = new ResizeObserver(soon);
  watch.observe(root);
  const begin = () => {
    watch.observe(document.body);
    measure();
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin(); // hello.js
  document.addEventListener("load", soon, true);
  setInterval(soon, 1000); // what overflows without resizing anything
})();
