"use strict";
/* The presenter's frame begins to load as soon as its place is there, without waiting for style or other scripts.  frame.js
   takes it over, with the first words that it has said. */
{
  const early = window.presenterEarly = { frame: null, loads: 0, heard: [], hear(event) {
    if (early.frame && event.source === early.frame.contentWindow && early.heard.length < 9) early.heard.push(event);
  } };

  const beginning = (project, volunteer) => {
    const keep = `presenter-${project.id}-${volunteer}`, said = { project, theme: document.documentElement.dataset.theme || "" };
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
  const place = () => {
    const box = document.getElementById("presenter"), url = new URL(location.href);
    if (!box) return;
    watch.disconnect();
    if (box.firstElementChild || "paused" in box.dataset || tutorialComes(box)) return; // bridge.js decides, or was faster
    url.searchParams.set("_presenter", "1");
    const frame = early.frame = document.createElement("iframe");
    frame.title = box.dataset.label;
    frame.setAttribute("sandbox", "allow-scripts allow-forms");
    frame.name = JSON.stringify(beginning(JSON.parse(box.dataset.project), box.dataset.volunteer));
    frame.src = url.pathname + url.search + url.hash;
    frame.addEventListener("load", () => { early.loads++; });
    box.replaceChildren(frame);
  };
  const watch = new MutationObserver(place);
  addEventListener("message", early.hear);
  watch.observe(document, { childList: true, subtree: true });
  place();
}
