// Draws the points, spheres and rejected candidates of `data`, turned by the mouse.
const canvas = document.getElementById("scene");
const pen = canvas.getContext("2d");
const said = document.getElementById("said");
const raw = Uint8Array.from(atob(data.points), (c) => c.charCodeAt(0));
const cloud = new Uint16Array(raw.buffer); // x y z x y z ..., of the box low .. low + side
const unit = data.side / 65535;
let turn = [1, 0, 0, 0, 0.5, 0.866, 0, -0.866, 0.5]; // rows: right, up, towards
let zoom = 1, shift = [0, 0], grip = null;

const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name);
const shows = (name) => document.getElementById("show-" + name)?.checked;

function placed(p) { // mm -> screen x, y and depth
  const x = p[0] - data.middle[0], y = p[1] - data.middle[1], z = p[2] - data.middle[2];
  const s = scale(), t = turn;
  return [canvas.width / 2 + shift[0] + s * (t[0] * x + t[1] * y + t[2] * z),
    canvas.height / 2 + shift[1] - s * (t[3] * x + t[4] * y + t[5] * z),
    t[6] * x + t[7] * y + t[8] * z];
}
const scale = () => zoom * 0.8 * Math.min(canvas.width, canvas.height) / data.side;

function drawCloud() {
  const image = pen.getImageData(0, 0, canvas.width, canvas.height);
  const pixels = new Uint32Array(image.data.buffer);
  pen.fillStyle = colour("--cloud");
  const hex = pen.fillStyle;
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const ink = (255 << 24) | (b << 16) | (g << 8) | r;
  const [lx, ly, lz] = data.low;
  for (let i = 0; i < cloud.length; i += 3) {
    const [x, y] = placed([lx + unit * cloud[i], ly + unit * cloud[i + 1],
      lz + unit * cloud[i + 2]]);
    const u = Math.round(x), v = Math.round(y);
    if (u >= 0 && v >= 0 && u < canvas.width && v < canvas.height) {
      pixels[v * canvas.width + u] = ink;
    }
  }
  pen.putImageData(image, 0, 0);
}

function drawSpheres(spheres, ink, opacity) {
  pen.strokeStyle = pen.fillStyle = colour(ink);
  for (const s of spheres) {
    const [x, y] = placed(s.centre);
    pen.beginPath();
    pen.arc(x, y, Math.max(scale() * s.radius, 1), 0, 7);
    pen.globalAlpha = opacity;
    pen.fill();
    pen.globalAlpha = 1;
    pen.stroke();
  }
  pen.font = "600 16px system-ui";
  pen.strokeStyle = colour("--page");
  pen.fillStyle = colour(opacity ? "--ink" : ink);
  pen.lineWidth = 3; // a rim, so that a name is read on all that is below it
  pen.textAlign = opacity ? "left" : "right"; // a ring is often at a sphere
  for (const s of spheres) {
    const [x, y] = placed(s.centre), aside = scale() * s.radius * 0.75 + 2;
    pen.strokeText(s.name, x + (opacity ? aside : -aside), y);
    pen.fillText(s.name, x + (opacity ? aside : -aside), y);
  }
}

function drawRejected() {
  pen.strokeStyle = colour("--refused");
  pen.beginPath();
  for (const r of data.rejected) {
    const [x, y] = placed(r.centre);
    pen.moveTo(x - 3, y - 3); pen.lineTo(x + 3, y + 3);
    pen.moveTo(x - 3, y + 3); pen.lineTo(x + 3, y - 3);
  }
  pen.stroke();
}

let waiting = false;
function draw() {
  if (waiting) return;
  waiting = true;
  requestAnimationFrame(() => {
    waiting = false;
    canvas.width = canvas.clientWidth; // also clears it
    canvas.height = canvas.clientHeight;
    if (shows("points")) drawCloud();
    if (shows("rejected")) drawRejected();
    if (shows("spheres")) drawSpheres(data.spheres, "--sphere", 0.25);
    pen.lineWidth = 2;
    if (shows("lost")) drawSpheres(data.lost, "--lost", 0);
  });
}

function under(x, y) { // what the pointer is at: the frontmost within its outline
  let best = null, front = -Infinity;
  const look = (items, reach) => {
    for (const item of items) {
      const [u, v, depth] = placed(item.centre);
      if (Math.hypot(u - x, v - y) < reach(item) && depth > front) {
        best = item; front = depth;
      }
    }
  };
  if (shows("spheres")) look(data.spheres, (s) => Math.max(scale() * s.radius, 5));
  if (shows("lost")) look(data.lost, (s) => Math.max(scale() * s.radius, 5));
  if (shows("rejected")) look(data.rejected, () => 5);
  return best;
}

function rotate(a, b) { // about the screen's vertical by a, its horizontal by b
  const t = turn, [ca, sa, cb, sb] = [Math.cos(a), Math.sin(a), Math.cos(b), Math.sin(b)];
  const right = [0, 1, 2].map((i) => ca * t[i] + sa * t[6 + i]);
  const away = [0, 1, 2].map((i) => -sa * t[i] + ca * t[6 + i]);
  const up = [0, 1, 2].map((i) => cb * t[3 + i] + sb * away[i]);
  const towards = [0, 1, 2].map((i) => -sb * t[3 + i] + cb * away[i]);
  turn = [...right, ...up, ...towards];
}

canvas.addEventListener("pointerdown", (e) => {
  grip = [e.clientX, e.clientY];
  canvas.setPointerCapture(e.pointerId);
});
canvas.addEventListener("pointerup", () => { grip = null; });
canvas.addEventListener("pointermove", (e) => {
  if (grip) {
    const dx = e.clientX - grip[0], dy = e.clientY - grip[1];
    if (e.shiftKey) shift = [shift[0] + dx, shift[1] + dy];
    else rotate(dx / 200, -dy / 200);
    grip = [e.clientX, e.clientY];
    draw();
    return;
  }
  const found = under(e.clientX, e.clientY);
  if (found) said.textContent = found.text;
});
canvas.addEventListener("wheel", (e) => {
  e.preventDefault();
  zoom *= Math.exp(-e.deltaY / 500);
  draw();
}, { passive: false });
for (const box of document.querySelectorAll("input")) box.addEventListener("change", draw);
addEventListener("resize", draw);
draw();
