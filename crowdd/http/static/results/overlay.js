// Lays the marks of a consensus over the picture beside them. Their numbers are pixels of the picture, or shares of its sides
// where none is larger than 1.

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
  if (image.complete) lay();
  else image.addEventListener("load", lay);
}
