// Choosing a square of a picture before it is sent. Without script the server takes the middle.
const form = document.querySelector("form[data-crop]");
const box = form.querySelector(".crop"), canvas = form.querySelector("canvas"), pen = canvas.getContext("2d");
const corners = ["x1", "y1", "x2", "y2"].map(name => form.elements[name]);
let picture = null, square = null;

const clamp = (value, minimum, maximum) => Math.min(Math.max(value, minimum), maximum);
const put = (x, y, edge) => {
  const maximum = Math.min(picture.width, picture.height);
  edge = clamp(edge, Math.min(32, maximum), maximum);
  square = { x: clamp(x, 0, picture.width - edge), y: clamp(y, 0, picture.height - edge), edge };
  draw();
  [square.x, square.y, square.x + edge, square.y + edge].forEach((value, n) => { corners[n].value = Math.round(value); });
};
const draw = () => {
  const scale = canvas.width / picture.width, { x, y, edge } = square;
  pen.drawImage(picture, 0, 0, canvas.width, canvas.height);
  pen.fillStyle = "#06121bb3";
  pen.fillRect(0, 0, canvas.width, canvas.height);
  pen.drawImage(picture, x, y, edge, edge, x * scale, y * scale, edge * scale, edge * scale);
  pen.strokeStyle = "#f0a51c";
  pen.lineWidth = 3;
  pen.strokeRect(x * scale, y * scale, edge * scale, edge * scale);
};

form.elements.avatar.addEventListener("change", async event => {
  const [file] = event.target.files;
  picture = file ? await createImageBitmap(file).catch(() => null) : null;
  box.hidden = !picture;
  corners.forEach(field => { field.value = ""; });
  if (!picture) return;
  canvas.width = Math.min(640, picture.width);
  canvas.height = canvas.width * picture.height / picture.width;
  const edge = Math.min(picture.width, picture.height);
  put((picture.width - edge) / 2, (picture.height - edge) / 2, edge * 0.8);
});

const place = event => {
  const frame = canvas.getBoundingClientRect();
  const scale = picture.width / frame.width;
  return [(event.clientX - frame.left) * scale, (event.clientY - frame.top) * scale];
};
canvas.addEventListener("pointerdown", event => {
  canvas.setPointerCapture(event.pointerId);
  const [x, y] = place(event);
  const inside = x >= square.x && x <= square.x + square.edge && y >= square.y && y <= square.y + square.edge;
  const [dx, dy] = inside ? [x - square.x, y - square.y] : [square.edge / 2, square.edge / 2];
  const move = next => { const [at, down] = place(next); put(at - dx, down - dy, square.edge); };
  move(event);
  canvas.addEventListener("pointermove", move);
  canvas.addEventListener("pointerup", () => canvas.removeEventListener("pointermove", move), { once: true });
});
canvas.addEventListener("keydown", event => {
  const step = square.edge / 20, { x, y, edge } = square;
  const moves = {
    ArrowLeft: [x - step, y, edge], ArrowRight: [x + step, y, edge], ArrowUp: [x, y - step, edge], ArrowDown: [x, y + step, edge],
    "+": [x - step / 2, y - step / 2, edge + step], "-": [x + step / 2, y + step / 2, edge - step],
  };
  if (!moves[event.key]) return;
  event.preventDefault();
  put(...moves[event.key]);
});
