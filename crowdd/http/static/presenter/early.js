"use strict";
/* It stands in the page itself, below the presenter's place.  The frame begins to load without waiting for style or other
   scripts, and so do its own files and the volunteer's first task.  Once the frame has said hello it is brought both: its files, which
   it would load a second time in browsers that keep a cache for each frame, and where the media of the task are.  frame.js takes over
   the frame, with the first words that it has said, and api_client.js the task. */
{
  const early = window.presenterEarly = { frame: null, task: null, loads: 0, heard: [], hear(event) {
    if (early.frame && event.source === early.frame.contentWindow && early.heard.length < 9) early.heard.push(event);
  } };

  /* What was begun in this tab before its volunteer signed in goes along (drafts of questions/drafts.js, and what presenters keep). */
  const takeAlong = (before, keep) => {
    const { [before]: begun, [keep]: own } = sessionStorage;
    if (!begun || before === keep) return;
    sessionStorage[keep] = JSON.stringify({ ...JSON.parse(own || "{}"), ...JSON.parse(begun) });
    delete sessionStorage[before];
  };
  const beginning = (project, volunteer) => {
    const keep = `presenter-${project.id}-${volunteer}`, said = { project, theme: document.documentElement.dataset.theme || "", low: matchMedia("(max-height: 30em)").matches };
    try {
      return { ...said, local: localStorage.getItem(keep), session: sessionStorage.getItem(keep) };
    } catch {
      return said; // switched off
    }
  };
  /* tutorial.js opens it in a modal dialog, and no presenter runs beside one. */
  const tutorialComes = ({ dataset: { tutorial } }) => {
    try {
      return tutorial && !localStorage.getItem(tutorial);
    } catch {
      return tutorial;
    }
  };
  const askForTask = ({ dataset: { csrf, volunteer } }, { id }) => fetch(`/api/project/${id}/newtask?offset=0`, {
    headers: { Accept: "application/json", "X-CSRFToken": csrf, "X-Presenter": id, ...(volunteer && { "X-Volunteer": volunteer }) },
    credentials: "same-origin", redirect: "error", cache: "no-store", signal: AbortSignal.timeout(60000),
  });
  const filled = (address) => fetch(address).then((answer) => (answer.ok ? answer.text() : "")).catch(() => "").then((text) => [address, text]);
  /* The media of the first task by their kinds: those of its columns, or, for HTML of an owner, what looks like pictures. */
  const ADDRESS = /^(https?:\/\/|\/)\S/, PICTURE = /^(https?:\/\/|\/)\S+\.(jpe?g|png|gif|webp|avif|svg)([?#]|$)/i, SOME = 4;
  const mediaOf = ({ info }, columns) => {
    const of = (names) => names.map((name) => Object(info)[name]).filter((value) => ADDRESS.test(value));
    if (!columns) return { picture: Object.values(Object(info)).filter((value) => PICTURE.test(value)).slice(0, SOME) };
    return Object.fromEntries(Object.entries(JSON.parse(columns)).map(([kind, names]) => [kind, of(names)]));
  };
  const bring = (frame, files, media) => addEventListener("message", function greeted({ source, origin, data, ports: [port] }) {
    if (source !== frame.contentWindow || origin !== "null" || data !== "presenter:hello" || !port) return;
    removeEventListener("message", greeted);
    const send = (message) => port.postMessage(JSON.stringify(message));
    files.then((texts) => texts.length && send({ op: "files", texts: Object.fromEntries(texts) }));
    media?.then((found) => send({ op: "ahead", media: found }));
  });
  const place = () => {
    const box = document.getElementById("presenter"), url = new URL(location.href), project = JSON.parse(box.dataset.project);
    try { takeAlong(`presenter-${project.id}-`, `presenter-${project.id}-${box.dataset.volunteer}`); } catch { /* switched off */ }
    if ("along" in box.dataset) { // the page that the worker shows without a line: bridge.js begins, with the next task
      history.replaceState(null, "", url.pathname.replace(/task\/\d+\/?$/, "newtask"));
      return;
    }
    if ("paused" in box.dataset || tutorialComes(box)) { // bridge.js decides
      document.getElementById("first")?.remove();
      return;
    }
    if (/\/newtask\/?$/.test(url.pathname)) early.task = askForTask(box, project);
    const media = early.task?.then((answer) => answer.clone().json()).then((task) => mediaOf(task, box.dataset.media)).catch(() => ({})); // api_client.js asks again
    const files = (box.dataset.files ?? "").split(" ").filter(Boolean);
    url.searchParams.set("_presenter", "1");
    const frame = early.frame = document.createElement("iframe");
    frame.title = box.dataset.label;
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    if (box.dataset.media) frame.allow = "autoplay"; // our own questions play a sound by a key that was pressed on the page
    frame.name = JSON.stringify({ ...beginning(project, box.dataset.volunteer), brought: files.length > 0 });
    frame.src = url.pathname + url.search + url.hash;
    frame.addEventListener("load", () => { early.loads++; });
    box.replaceChildren(frame);
    bring(frame, Promise.all(files.map(filled)), media); // after it: a browser asks a server for few things at once
  };
  addEventListener("message", early.hear);
  place();
}
