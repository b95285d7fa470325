// The card of a volunteer as a PNG, which other sites show: where it cannot be drawn, the link saves the SVG.
const card = document.querySelector("img[data-card]");
const link = card?.parentElement.querySelector("a[download]");

link?.addEventListener("click", async (event) => {
  event.preventDefault();
  const saved = link.cloneNode();
  try {
    await card.decode();
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [1200, 630];
    canvas.getContext("2d").drawImage(card, 0, 0, 1200, 630);
    const picture = await new Promise((done) => { canvas.toBlob(done, "image/png"); });
    [saved.href, saved.download] = [URL.createObjectURL(picture), "card.png"];
  } catch { /* the SVG is saved */ }
  saved.click();
});
