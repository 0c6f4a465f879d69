"use strict";
// Draws every scene of the page when it comes into view, and lets it go when it leaves:
// browsers keep only a few WebGL contexts. All text goes through textContent.

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The library reads tags in its labels; names come from files.
const plain = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;");

function unpack(box) {
  const bytes = Uint8Array.from(atob(box.data), (c) => c.charCodeAt(0));
  const levels = new Uint16Array(bytes.buffer);
  const axes = [0, 1, 2].map((axis) => {
    const out = new Float32Array(box.count);
    const step = box.side / 65535;
    for (let i = 0; i < box.count; i++) out[i] = box.low[axis] + step * levels[3 * i + axis];
    return out;
  });
  return axes;
}

function unpackIntegers(text) {
  return new Uint32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
}

function unpackNumbers(box) {
  const levels = new Uint16Array(Uint8Array.from(atob(box.data), (c) => c.charCodeAt(0)).buffer);
  return Float32Array.from(levels, (level) => box.low + (box.side / 65535) * level);
}

const MOST_NAMED = 40; // nodes, as in the picture
const MISSING = ["#009E73", "#D55E00", "#CC79A7", "#777777"];

// Coordinates of lines between nodes: a, b, gap, a, b, gap ...
function lineBuffers(links) {
  return [0, 1, 2].map(() => new Float32Array(1.5 * links.length).fill(NaN));
}

function fillLines(out, links, axes, offset) {
  for (let axis = 0; axis < 3; axis++) {
    const from = axes[axis], to = out[axis];
    for (let q = 0, p = 0; q < links.length; q += 2, p += 3) {
      to[p] = from[offset + links[q]];
      to[p + 1] = from[offset + links[q + 1]];
    }
  }
  return out;
}

function separateLines(axes) {
  return axes.map((values) => {
    const out = new Float32Array(1.5 * values.length).fill(NaN);
    for (let q = 0; 2 * q < values.length; q++) {
      out[3 * q] = values[2 * q];
      out[3 * q + 1] = values[2 * q + 1];
    }
    return out;
  });
}

// Whole numbers, or six digits; small and large numbers with an exponent.
function shortNumber(value) {
  const size = Math.abs(value);
  if (Number.isInteger(value) && size < 1e6) return String(value);
  return size >= 1e-3 && size < 1e6 ? value.toPrecision(6) : value.toExponential(5);
}

// The library is most of the page, so the page holds it compressed.
async function loadLibrary() {
  const packed = document.getElementById("library").textContent;
  const bytes = Uint8Array.from(atob(packed), (c) => c.charCodeAt(0));
  const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  const script = document.createElement("script");
  script.textContent = await new Response(unpacked).text();
  document.head.append(script);
}

let library;

// Something that is drawn while it is near the window. Drawing takes a while, and what is
// half drawn must not be taken away: one change after the other.
class Shown {
  constructor(section) {
    this.section = section;
    this.wanted = this.drawn = this.busy = false;
  }

  async near(wanted) {
    this.wanted = wanted;
    if (this.busy) return;
    this.busy = true;
    await (library ??= loadLibrary());
    while (this.wanted !== this.drawn) {
      if (this.wanted) await this.show();
      else this.hide();
      this.drawn = !this.drawn;
    }
    this.busy = false;
  }
}

const HAS_3D = Boolean(document.createElement("canvas").getContext("webgl"));

class Scene extends Shown {
  constructor(section) {
    super(section);
    this.data = JSON.parse(section.querySelector("script").textContent);
    this.view = section.querySelector(".view");
    this.chart = section.querySelector(".chart");
    this.slider = section.querySelector("input");
    this.readout = section.querySelector(".readout");
    this.pending = false;
    this.times = [];
    this.last = this.data.frames.length - 1;
    this.slider.max = this.last;
    this.slider.value = this.last;
    this.slider.addEventListener("input", () => this.schedule());
    this.tell();
  }

  schedule() {
    this.tell();
    if (this.pending || !this.drawn) return;
    this.pending = true;
    requestAnimationFrame(() => {
      this.pending = false;
      if (this.drawn) this.move();
    });
  }

  get frame() { return Number(this.slider.value); }

  shape(frame) {
    const n = this.data.nodes, offset = frame * n;
    const nodes = this.axes.map((a) => a.subarray(offset, offset + n));
    const lines = fillLines(this.buffers, this.links, this.axes, offset);
    return { nodes, lines };
  }

  // Creases that are not where they were asked to fold to.
  missingAt(m, frame) {
    return fillLines(m.buffers, m.links, this.axes, frame * this.data.nodes);
  }

  traces() {
    const d = this.data, { nodes, lines } = this.shape(this.frame);
    const xyz = (a) => ({ x: a[0], y: a[1], z: a[2] });
    const corners = this.faces, many = corners.length / 3;
    const face = [0, 1, 2].map((k) => Uint32Array.from({ length: many }, (_, q) => corners[3 * q + k]));
    const blue = colour("--simulated"), quiet = colour("--quiet");
    const big = d.nodes > 3000, small = big || d.flat;
    const traces = [
      { type: "mesh3d", name: "bodies", ...xyz(nodes), i: face[0], j: face[1], k: face[2],
        color: blue, opacity: 0.35, hoverinfo: "skip", showlegend: false },
      { type: "scatter3d", mode: "lines", name: "links", ...xyz(lines),
        line: { color: blue, width: 3 }, hoverinfo: "skip", showlegend: false },
      { type: "scatter3d", mode: d.names.length <= MOST_NAMED ? "markers+text" : "markers", ...xyz(nodes),
        name: "simulated nodes", visible: d.dots, text: d.names.map(plain),
        textposition: "top right", textfont: { size: 10 },
        marker: { size: small ? 1.5 : 3, color: blue }, hoverinfo: big ? "skip" : "text",
        hovertext: big ? undefined : Array.from(nodes[0], (_, j) => "node " + plain(d.names[j] ?? String(j))) },
    ];
    if (d.goals) {
      traces.push({ type: "scatter3d", mode: "markers", name: "goals",
        ...xyz(this.goalsAt(this.frame)), hoverinfo: "skip",
        marker: { size: 6, symbol: "cross", color: quiet } }); // few fonts have "x"
    }
    this.missing.forEach((m, k) => traces.push({ type: "scatter3d", mode: "lines",
      name: "fold error, " + m.name, ...xyz(this.missingAt(m, this.frame)), hoverinfo: "skip",
      line: { color: MISSING[k % MISSING.length], width: 7 } }));
    if (d.fixed) {
      traces.push({ type: "scatter3d", mode: "lines", name: "target or ground",
        ...xyz(separateLines(unpack(d.fixed))), line: { color: quiet, width: 1.5 },
        hoverinfo: "skip" });
    }
    if (d.scan) traces.push(...this.scanTraces(d.scan, xyz));
    return traces;
  }

  scanTraces(scan, xyz) {
    const spheres = unpack(scan.spheres), traces = [];
    if (scan.points) {
      traces.push({ type: "scatter3d", mode: "markers", name: "scan points",
        ...xyz(unpack(scan.points)), hoverinfo: "skip", opacity: 0.45,
        marker: { size: 1, color: colour("--quiet") } });
    }
    const said = scan.node.map((j, q) => scan.distance_mm[q] === null ? "node " + j :
      "node " + j + ": " + scan.distance_mm[q].toFixed(3) + " ± " +
      scan.u_mm[q].toFixed(3) + " mm from the simulation");
    traces.push({ type: "scatter3d", mode: "markers", name: "scanned spheres",
      ...xyz(spheres), hoverinfo: "text", hovertext: said,
      marker: { size: 6, color: scan.distance_mm, colorscale: "Cividis", cmin: 0,
        line: { width: 1, color: colour("--ink") },
        colorbar: { title: { text: "node from simulation, mm", side: "right" },
          thickness: 10, len: 0.48, y: 0.98, yanchor: "top", outlinewidth: 0 } } });
    if (scan.deviation) traces.push(this.deviationTrace(scan.deviation, xyz));
    return traces;
  }

  // Blue inside the target's surface, red outside, grey on it: both themes show all three.
  deviationTrace(deviation, xyz) {
    const most = deviation.most_mm || 1;
    return { type: "scatter3d", mode: "markers", name: "scan near the target",
      ...xyz(unpack(deviation.points)), hoverinfo: "skip",
      marker: { size: 1.6, color: unpackNumbers(deviation.mm), cmin: -most, cmax: most,
        colorscale: [[0, "#2b7bba"], [0.5, "#a8a8a8"], [1, "#d1495b"]],
        colorbar: { title: { text: "scan from target, mm", side: "right" },
          thickness: 10, len: 0.48, y: 0.46, yanchor: "top", outlinewidth: 0 } } };
  }

  goalsAt(frame) {
    const n = this.goals[0].length / this.data.frames.length;
    return this.goals.map((a) => a.subarray(frame * n, (frame + 1) * n));
  }

  // One box for all steps, so that nothing jumps; flat shapes get some depth, and of the
  // long ground below them only what is near.
  box() {
    const fixed = this.data.fixed && !this.data.flat ? [unpack(this.data.fixed)] : [];
    const all = [this.axes, ...fixed, ...(this.goals ? [this.goals] : [])];
    const low = [0, 1, 2].map((k) => Math.min(...all.map((a) => a[k].reduce((x, y) => Math.min(x, y), Infinity))));
    const high = [0, 1, 2].map((k) => Math.max(...all.map((a) => a[k].reduce((x, y) => Math.max(x, y), -Infinity))));
    const extent = low.map((v, k) => high[k] - v), most = Math.max(...extent) || 1;
    const span = extent.map((v) => Math.max(1.04 * v, 0.3 * most));
    const range = low.map((v, k) => [(v + high[k] - span[k]) / 2, (v + high[k] + span[k]) / 2]);
    // The view is two units high, from where it begins; names and markers need room.
    const { across, above } = this.begin(), { clientWidth, clientHeight } = this.view;
    const seen = (way) => way.reduce((sum, part, k) => sum + Math.abs(part) * extent[k], 0) / most;
    const unit = clientHeight / 2, wide = (clientWidth - (this.data.scan ? 90 : 0)) / unit;
    const named = this.data.names.length <= MOST_NAMED ? Math.max(0, ...this.data.names.map((n) => n.length)) : 0;
    const aside = Math.min((24 + 12 * named) / unit, 0.4 * wide);
    const size = Math.min(2.1, (wide - aside) / seen(across), (2 - 50 / unit) / seen(above));
    return { range, ratio: span.map((v) => size * v / most) };
  }

  // From where the picture looks, and what is across and above there; y is up from above, else z.
  begin() {
    const [up, turn] = this.data.view.map((degrees) => degrees * Math.PI / 180);
    const along = [Math.cos(turn), Math.sin(turn)], far = 2.1 * Math.cos(up);
    return { across: [-along[1], along[0], 0],
      above: [...along.map((part) => -Math.sin(up) * part), Math.cos(up)],
      camera: { up: up > 1 ? { x: 0, y: 1, z: 0 } : { x: 0, y: 0, z: 1 },
        eye: { x: far * along[0], y: far * along[1], z: 2.1 * Math.sin(up) } } };
  }

  layout() {
    const { range, ratio } = this.box();
    const bare = (k) => ({ visible: false, range: range[k], autorange: false });
    return { margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--ink") }, uirevision: "kept",
      legend: { x: 0, y: 0, orientation: "h", itemsizing: "constant", bgcolor: "rgba(0,0,0,0)" },
      scene: { xaxis: bare(0), yaxis: bare(1), zaxis: bare(2), aspectmode: "manual",
        aspectratio: { x: ratio[0], y: ratio[1], z: ratio[2] },
        uirevision: "kept", camera: { projection: { type: "orthographic" },
          ...this.begin().camera } } };
  }

  async show() {
    this.axes = unpack(this.data.steps);
    this.links = unpackIntegers(this.data.links);
    this.faces = unpackIntegers(this.data.faces);
    this.goals = this.data.goals && unpack(this.data.goals);
    this.buffers = lineBuffers(this.links);
    this.missing = (this.data.missing || []).map(({ name, links }) => {
      const pairs = unpackIntegers(links);
      return { name, links: pairs, buffers: lineBuffers(pairs) };
    });
    const options = { displayModeBar: false, responsive: true };
    if (HAS_3D) {
      await Plotly.newPlot(this.view, this.traces(), this.layout(), options);
      this.findSafely();
      this.view.on("plotly_afterplot", () => this.findSafely());
    } else {
      this.showStill();
    }
    await this.drawChart();
  }

  // A browser without WebGL has no view to turn.
  showStill() {
    const { still } = this.view.dataset;
    const shown = document.createElement(still ? "img" : "p");
    const text = "No view in three dimensions: this browser has no WebGL.";
    Object.assign(shown, still ? { src: still, alt: text } : { textContent: text });
    this.view.replaceChildren(shown);
  }

  // What has moved under the mouse since the library noted what is where, and the gaps of
  // lines, make it throw: such a find is none.
  findSafely() {
    for (const thing of this.view._fullLayout?.scene?._scene?.glplot?.objects ?? []) {
      if (!thing.pick || thing.findsSafely) continue;
      const pick = thing.pick;
      thing.findsSafely = true;
      thing.pick = function (place) {
        try {
          const found = pick.call(this, place);
          return found && found.dataCoordinate && found.position ? found : null;
        } catch (error) {
          return null;
        }
      };
    }
  }

  async drawChart() {
    const d = this.data, traces = [], names = d.shown.filter((n) => n !== "start"), s = this.along();
    const pens = [colour("--ink"), colour("--simulated"), colour("--bad")];
    const layout = { margin: { l: 62, r: 62, t: 12, b: 40 }, hovermode: "x",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--ink"), size: 11 }, showlegend: false,
      xaxis: { title: { text: plain(s === d.frames ? "step" : d.along) }, gridcolor: colour("--line"), zeroline: false } };
    const start = d.columns.start; // of several: a curve each
    const apart = (y) => start ? y.flatMap((v, i) => i && start[i] !== start[i - 1] ? [null, v] : [v]) : y;
    names.forEach((name, k) => {
      const axis = k === 0 ? "" : String(k + 1), values = d.columns[name];
      const logarithmic = name === "E", known = values.filter((v) => v > 0);
      const decades = logarithmic && Math.max(...known) > 10 * Math.min(...known);
      traces.push({ x: apart(s), y: apart(values), name: plain(name), mode: "lines", yaxis: "y" + axis,
        line: { color: pens[k], dash: k ? "dash" : "solid" } });
      layout["yaxis" + axis] = { title: { text: plain(name), font: { color: pens[k] }, standoff: 4 }, automargin: true,
        type: logarithmic ? "log" : "linear", nticks: 7,
        ...(decades ? { dtick: 1 } : {}), gridcolor: colour("--line"),
        exponentformat: "power", zeroline: false,
        ...(k ? { overlaying: "y", side: "right", showgrid: false, tickmode: "auto" } : {}) };
    });
    if (d.scan && names[1] === "S") {
      traces.push({ x: [s[this.last]], y: [d.scan.S], yaxis: "y2", mode: "markers",
        name: "S scanned \u00b1 2u", cliponaxis: false,
        marker: { symbol: "diamond-open", size: 13, color: colour("--scanned"), line: { width: 1.5 } },
        error_y: { array: [2 * d.scan.S_u], color: colour("--scanned"), thickness: 2, width: 5 } });
    }
    if (!names.length) return;
    await Plotly.newPlot(this.chart, traces, layout, { displayModeBar: false, responsive: true });
    this.line = document.createElement("div");
    this.line.className = "cursor";
    this.chart.append(this.line);
    this.chart.on("plotly_afterplot", () => this.moveCursor());
    this.moveCursor();
  }

  along() {
    const d = this.data, values = d.columns[d.along] || [];
    return values.length === d.frames.length && values.every((v) => v !== null) ? values : d.frames;
  }

  moveCursor() {
    const layout = this.chart._fullLayout;
    if (!this.line || !layout) return;
    const x = layout.xaxis.l2p(this.along()[this.frame]) + layout._size.l;
    this.line.style.transform = "translateX(" + x + "px)";
  }

  move() {
    const began = performance.now();
    const { nodes, lines } = this.shape(this.frame);
    const sets = [nodes, lines, nodes], traces = [0, 1, 2];
    if (!this.faces.length) { sets.shift(); traces.shift(); }
    if (this.goals) { sets.push(this.goalsAt(this.frame)); traces.push(3); }
    this.missing.forEach((m, k) => {
      sets.push(this.missingAt(m, this.frame)); traces.push((this.goals ? 4 : 3) + k);
    });
    if (HAS_3D && !this.moveDirectly(sets, traces)) {
      const update = { x: sets.map((a) => a[0]), y: sets.map((a) => a[1]), z: sets.map((a) => a[2]) };
      Plotly.restyle(this.view, update, traces);
    }
    this.moveCursor();
    this.times.push(performance.now() - began);
  }

  // Plotly.restyle works through all defaults and costs 20 times what the new positions
  // need. Its own trace objects take them directly; where a version of the library has
  // none of these, restyle does it.
  moveDirectly(sets, traces) {
    const scene = this.view._fullLayout.scene?._scene, full = this.view._fullData;
    if (!scene?.traces || !scene.glplot?.objects || !full) return false;
    for (let k = 0; k < traces.length; k++) {
      const trace = full[traces[k]], drawn = scene.traces[trace.uid];
      [trace.x, trace.y, trace.z] = sets[k];
      if (trace.visible !== true) continue;
      if (!drawn?.update) return false;
      drawn.update(trace);
    }
    // Its own loop draws what is marked, once a frame; redraw() would draw here and wait.
    for (const thing of scene.glplot.objects) thing.dirty = true;
    return true;
  }

  tell() {
    const d = this.data, parts = ["step " + d.frames[this.frame]];
    for (const name of d.along === "step" ? d.shown : [d.along, ...d.shown]) {
      const values = d.columns[name];
      if (values && values[this.frame] !== null)
        parts.push(name + " = " + shortNumber(values[this.frame]));
    }
    if (d.scan && d.shown[1] === "S")
      parts.push("S scanned = " + shortNumber(d.scan.S) + " \u00b1 " + (2 * d.scan.S_u).toPrecision(2) + " (2u)");
    this.readout.textContent = parts.join("   ");
  }

  hide() {
    if (HAS_3D) Plotly.purge(this.view);
    Plotly.purge(this.chart);
  }
}

const drawnThings = new Map();
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    drawnThings.get(entry.target).near(entry.isIntersecting);
  }
}, { rootMargin: "200px" });

function watch(thing) {
  drawnThings.set(thing.section, thing);
  watcher.observe(thing.section);
}

const scenes = [...document.querySelectorAll(".scene")].map((s) => new Scene(s));
scenes.forEach(watch);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const thing of drawnThings.values())
    if (thing.wanted) thing.near(false).then(() => thing.near(true));
});
