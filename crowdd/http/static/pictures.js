// Beside the editor of a text: uploads a picture without leaving the page, and puts pictures into the text.
const panel = document.querySelector("[data-pictures]");
const target = document.getElementById(panel.dataset.pictures);
const form = panel.querySelector("form"), said = panel.querySelector("[data-said]"), list = panel.querySelector("[data-list]");

// The words for those who do not see the picture are chosen, to be typed over.
function insert(path) {
  const alt = panel.dataset.alt, { selectionStart: start, selectionEnd: end, value } = target;
  const before = start && value[start - 1] !== "\n" ? "\n\n" : "", after = value[end] && value[end] !== "\n" ? "\n\n" : "";
  target.setRangeText(`${before}![${alt}](${path})${after}`, start, end);
  target.focus();
  const at = start + before.length + 2;
  target.setSelectionRange(at, at + alt.length);
  target.dispatchEvent(new Event("input", { bubbles: true }));
}
list.addEventListener("click", ({ target: pressed }) => {
  const button = pressed.closest("[data-insert]");
  if (button) insert(button.dataset.insert);
});
for (const button of list.querySelectorAll("[data-insert]")) button.hidden = false;

function add({ id, path }) {
  const made = panel.querySelector("template").content.cloneNode(true);
  const image = Object.assign(document.createElement("img"), { className: "print", src: path, alt: "", width: 120, height: 80 });
  made.querySelector("li").prepend(image);
  made.querySelector("code").textContent = path;
  made.querySelector("button").dataset.insert = path;
  made.querySelector(".sr").textContent = ` ${id}`;
  list.prepend(made);
}
async function upload() {
  const answer = await fetch(form.action, { method: "POST", body: new FormData(form), headers: { Accept: "application/json" } });
  const told = await answer.json();
  if (told.picture) return told;
  throw new Error(told.form ? "" : told.description || told.exception_msg || ""); // of the file the page's own words speak
}
if (form) {
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    try {
      const { picture } = await upload();
      add(picture);
      said.textContent = panel.dataset.done;
      form.reset();
    } catch (error) {
      said.textContent = `${panel.dataset.failed} ${error.message}`;
    }
    button.disabled = false;
  });
}
