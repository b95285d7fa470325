// Lays marks over the picture beside them. Their numbers are pixels of the picture, or shares of its sides where none is
// larger than 1. Without a picture they are drawn as far as they reach.

for (const drawing of document.querySelectorAll("svg[data-marks]")) {
  const image = drawing.parentElement.querySelector("img"), marks = drawing.querySelector("g");
  const lay = () => {
    const { naturalWidth: width, naturalHeight: height } = image;
    if (!width) return;
    drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    drawing.removeAttribute("hidden");
    const { x, y, width: wide, height: high } = marks.getBBox();
    if (x + wide <= 1 && y + high <= 1) marks.setAttribute("transform", `scale(${width} ${height})`);
  };
  const alone = () => {
    drawing.removeAttribute("hidden");
    const { x, y, width, height } = marks.getBBox(), margin = Math.max(width, height, 1e-3) / 20;
    drawing.setAttribute("viewBox", `0 0 ${x + width + margin} ${y + height + margin}`);
  };
  if (!image) alone();
  else if (image.complete) lay();
  else image.addEventListener("load", lay);
}

for (const box of document.querySelectorAll("input[data-shows]")) {
  const show = () => document.querySelectorAll(`g[data-of="${box.dataset.shows}"]`).forEach((group) => group.toggleAttribute("hidden", !box.checked));
  box.addEventListener("change", show);
  show(); // a browser may bring back what was chosen before
}
