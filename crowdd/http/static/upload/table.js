// The page for a table: choosing a file opens its preview, in which nothing is added yet.
const form = document.querySelector("[data-file-form]");
form.querySelector("[data-scripted]").hidden = false;
form.elements.file.addEventListener("change", () => form.elements.file.files.length && form.requestSubmit());
