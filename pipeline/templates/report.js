"use strict";
// Draws every scene of the page when it comes into view, and lets it go when it leaves:
// browsers keep only a few WebGL contexts. All text goes through textContent.

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

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

// Coordinates of lines between nodes: a, b, gap, a, b, gap ...
function lineBuffers(links) {
  return [0, 1, 2].map(() => new Float32Array(3 * links.length).fill(NaN));
}

function fillLines(out, links, axes, offset) {
  for (let axis = 0; axis < 3; axis++) {
    const from = axes[axis], to = out[axis];
    for (let q = 0; q < links.length; q++) {
      to[3 * q] = from[offset + links[q][0]];
      to[3 * q + 1] = from[offset + links[q][1]];
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

// Six digits, small and large numbers with an exponent.
function shortNumber(value) {
  const size = Math.abs(value);
  return value === 0 || (size >= 1e-3 && size < 1e6) ? value.toPrecision(6) : value.toExponential(5);
}

class Scene {
  constructor(section) {
    this.section = section;
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
    const lines = fillLines(this.buffers, this.data.links, this.axes, offset);
    return { nodes, lines };
  }

  traces() {
    const d = this.data, { nodes, lines } = this.shape(this.frame);
    const xyz = (a) => ({ x: a[0], y: a[1], z: a[2] });
    const face = [0, 1, 2].map((k) => d.faces.map((f) => f[k]));
    const blue = colour("--simulated"), quiet = colour("--quiet");
    const big = d.nodes > 3000;
    const traces = [
      { type: "mesh3d", name: "bodies", ...xyz(nodes), i: face[0], j: face[1], k: face[2],
        color: blue, opacity: 0.35, hoverinfo: "skip", showlegend: false },
      { type: "scatter3d", mode: "lines", name: "links", ...xyz(lines),
        line: { color: blue, width: 3 }, hoverinfo: "skip", showlegend: false },
      { type: "scatter3d", mode: "markers", name: "simulated nodes", ...xyz(nodes),
        marker: { size: big ? 1.5 : 3, color: blue }, hoverinfo: big ? "skip" : "text",
        hovertext: big ? undefined : Array.from(nodes[0], (_, j) => "node " + j) },
    ];
    if (d.goals) {
      this.goals = unpack(d.goals);
      traces.push({ type: "scatter3d", mode: "markers", name: "goals",
        ...xyz(this.goalsAt(this.frame)), visible: "legendonly", hoverinfo: "skip",
        marker: { size: 2.5, symbol: "x", color: quiet } });
    }
    if (d.fixed) {
      traces.push({ type: "scatter3d", mode: "lines", name: d.fixed_name,
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
        ...xyz(unpack(scan.points)), visible: "legendonly", hoverinfo: "skip",
        marker: { size: 1, color: colour("--quiet") } });
    }
    const said = scan.node.map((j, q) => scan.distance_mm[q] === null ? "node " + j :
      "node " + j + ": " + scan.distance_mm[q].toFixed(3) + " ± " +
      scan.u_mm[q].toFixed(3) + " mm from the simulation");
    traces.push({ type: "scatter3d", mode: "markers", name: "scanned spheres",
      ...xyz(spheres), hoverinfo: "text", hovertext: said,
      marker: { size: 6, color: scan.distance_mm, colorscale: "Cividis", cmin: 0,
        line: { width: 1, color: colour("--ink") },
        colorbar: { title: { text: "distance, mm", side: "right" }, thickness: 10,
          len: 0.6, outlinewidth: 0 } } });
    return traces;
  }

  goalsAt(frame) {
    const n = this.data.nodes;
    return this.goals.map((a) => a.subarray(frame * n, (frame + 1) * n));
  }

  // One box for all steps, so that nothing jumps; flat shapes get some depth.
  box() {
    const all = [this.axes, ...(this.data.fixed ? [unpack(this.data.fixed)] : [])];
    const low = [0, 1, 2].map((k) => Math.min(...all.map((a) => a[k].reduce((x, y) => Math.min(x, y), Infinity))));
    const high = [0, 1, 2].map((k) => Math.max(...all.map((a) => a[k].reduce((x, y) => Math.max(x, y), -Infinity))));
    const most = Math.max(...low.map((v, k) => high[k] - v)) || 1;
    const span = low.map((v, k) => Math.max(1.04 * (high[k] - v), 0.3 * most));
    const range = low.map((v, k) => [(v + high[k] - span[k]) / 2, (v + high[k] + span[k]) / 2]);
    return { range, ratio: span.map((v) => 2.1 * v / most) };
  }

  layout() {
    const { range, ratio } = this.box();
    const bare = (k) => ({ visible: false, range: range[k], autorange: false });
    return { margin: { l: 0, r: 0, t: 0, b: 0 }, paper_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--ink") }, uirevision: "kept",
      legend: { x: 0, y: 0, orientation: "h", bgcolor: "rgba(0,0,0,0)" },
      scene: { xaxis: bare(0), yaxis: bare(1), zaxis: bare(2), aspectmode: "manual",
        aspectratio: { x: ratio[0], y: ratio[1], z: ratio[2] },
        uirevision: "kept", camera: { projection: { type: "orthographic" },
          eye: { x: 0.9, y: -1.5, z: 1.1 } } } };
  }

  draw() {
    if (this.drawn) return;
    this.axes = unpack(this.data.steps);
    this.buffers = lineBuffers(this.data.links);
    this.drawn = true;
    const options = { displayModeBar: false, responsive: true };
    Plotly.newPlot(this.view, this.traces(), this.layout(), options);
    this.drawChart();
  }

  drawChart() {
    const d = this.data, traces = [], s = d.frames;
    const names = d.shown.filter((name) => d.columns[name]);
    const pens = [colour("--ink"), colour("--simulated"), colour("--bad")];
    const layout = { margin: { l: 55, r: 55, t: 8, b: 36 }, hovermode: "x",
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)",
      font: { color: colour("--ink"), size: 11 }, showlegend: false,
      xaxis: { title: { text: "step" }, gridcolor: colour("--line"), zeroline: false } };
    names.forEach((name, k) => {
      const axis = k === 0 ? "" : String(k + 1), values = d.columns[name];
      const logarithmic = name === "E";
      traces.push({ x: s, y: values, name, mode: "lines", yaxis: "y" + axis,
        line: { color: pens[k], dash: k ? "dash" : "solid" } });
      layout["yaxis" + axis] = { title: { text: name, font: { color: pens[k] } },
        type: logarithmic ? "log" : "linear", nticks: 7,
        ...(logarithmic ? { dtick: 1 } : {}), gridcolor: colour("--line"),
        exponentformat: "power", zeroline: false,
        ...(k ? { overlaying: "y", side: "right", showgrid: false, tickmode: "auto" } : {}) };
    });
    if (d.scan && names[1] === "S") {
      traces.push({ x: [s[this.last]], y: [d.scan.S], yaxis: "y2", mode: "markers",
        name: "S scanned", marker: { symbol: "diamond", size: 9, color: "#E69F00" },
        error_y: { array: [2 * d.scan.S_u], color: "#E69F00" } });
    }
    if (!names.length) return;
    Plotly.newPlot(this.chart, traces, layout, { displayModeBar: false, responsive: true });
    this.line = document.createElement("div");
    this.line.className = "cursor";
    this.chart.append(this.line);
    this.chart.on("plotly_afterplot", () => this.moveCursor());
    this.moveCursor();
  }

  moveCursor() {
    const layout = this.chart._fullLayout;
    if (!this.line || !layout) return;
    const x = layout.xaxis.l2p(this.data.frames[this.frame]) + layout._size.l;
    this.line.style.transform = "translateX(" + x + "px)";
  }

  move() {
    const began = performance.now();
    const { nodes, lines } = this.shape(this.frame);
    const sets = [nodes, lines, nodes], traces = [0, 1, 2];
    if (!this.data.faces.length) { sets.shift(); traces.shift(); }
    if (this.goals) { sets.push(this.goalsAt(this.frame)); traces.push(3); }
    if (!this.moveDirectly(sets, traces)) {
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
    if (!scene?.traces || !full) return false;
    for (let k = 0; k < traces.length; k++) {
      const trace = full[traces[k]], drawn = scene.traces[trace.uid];
      [trace.x, trace.y, trace.z] = sets[k];
      if (trace.visible !== true) continue;
      if (!drawn?.update) return false;
      drawn.update(trace);
    }
    scene.glplot.setDirty ? scene.glplot.setDirty() : scene.glplot.redraw();
    return true;
  }

  tell() {
    const d = this.data, parts = ["step " + d.frames[this.frame]];
    for (const name of d.shown) {
      const values = d.columns[name];
      if (values && values[this.frame] !== null)
        parts.push(name + " = " + shortNumber(values[this.frame]));
    }
    this.readout.textContent = parts.join("   ");
  }

  release() {
    if (!this.drawn) return;
    this.drawn = false;
    Plotly.purge(this.view);
    Plotly.purge(this.chart);
  }
}

const scenes = [...document.querySelectorAll(".scene")].map((s) => new Scene(s));
const watcher = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    const scene = scenes.find((s) => s.section === entry.target);
    if (entry.isIntersecting) scene.draw(); else scene.release();
  }
}, { rootMargin: "200px" });
scenes.forEach((scene) => watcher.observe(scene.section));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  for (const scene of scenes) if (scene.drawn) { scene.release(); scene.draw(); }
});

// Tables sort by the column whose head is clicked; numbers as numbers.
for (const head of document.querySelectorAll("table.sortable th")) {
  head.tabIndex = 0;
  const sort = () => {
    const table = head.closest("table"), body = table.tBodies[0];
    const column = [...head.parentNode.children].indexOf(head);
    const down = head.getAttribute("aria-sort") === "ascending";
    const value = (row) => {
      const text = row.cells[column].textContent.trim(), number = parseFloat(text.replace("−", "-"));
      return Number.isNaN(number) ? text : number;
    };
    const rows = [...body.rows].sort((a, b) => {
      const x = value(a), y = value(b);
      const order = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return down ? -order : order;
    });
    for (const other of head.parentNode.children) other.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", down ? "descending" : "ascending");
    body.append(...rows);
  };
  head.addEventListener("click", sort);
  head.addEventListener("keydown", (e) => { if (e.key === "Enter") sort(); });
}
