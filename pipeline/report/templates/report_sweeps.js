"use strict";
// A study's results against the values that were varied, each run a dot that names its key.

const UNIFORM = "none";

function choose(select, names, chosen) {
  for (const name of names) {
    const option = document.createElement("option");
    option.value = option.textContent = name;
    option.selected = name === chosen;
    select.append(option);
  }
}

const isNumeric = (values) => values.every((v) => v === null || typeof v === "number");

class Sweep extends Shown {
  constructor(section) {
    super(section);
    this.data = JSON.parse(section.querySelector("script").textContent);
    this.plot = section.querySelector(".plot");
    const names = Object.keys(this.data.columns), factors = this.data.factors;
    const pick = (role) => section.querySelector("select." + role);
    choose(pick("y"), names, this.data.responses[0] || names[names.length - 1]);
    choose(pick("x"), names, factors[factors.length - 1] || names[0]);
    choose(pick("c"), [UNIFORM, ...names], factors.length > 1 ? factors[0] : UNIFORM);
    for (const role of ["x", "y", "c"])
      pick(role).addEventListener("change", () => { if (this.drawn) this.update(); });
  }

  chosen(role) { return this.section.querySelector("select." + role).value; }

  marker(name) {
    const size = this.data.keys.length > 1000 ? 4 : 8;
    if (name === UNIFORM) return { size, color: colour("--simulated"), opacity: 0.8 };
    const values = this.data.columns[name], marker = { size, colorscale: "Viridis", opacity: 0.85 };
    if (isNumeric(values))
      return { ...marker, color: values, colorbar: { title: { text: plain(name), side: "right" }, thickness: 10, outlinewidth: 0 } };
    const kinds = [...new Set(values)].sort();
    return { ...marker, color: values.map((v) => kinds.indexOf(v)) };
  }

  figure() {
    const d = this.data, x = this.chosen("x"), y = this.chosen("y"), c = this.chosen("c");
    const said = d.keys.map((key, k) => d.factors.map((f) => plain(f + " " + d.columns[f][k]))
      .concat("run " + key).join("<br>"));
    const axis = (name) => ({ title: { text: plain(name) }, automargin: true,
      gridcolor: colour("--line"), zeroline: false, exponentformat: "power",
      type: isNumeric(d.columns[name]) ? "linear" : "category" });
    const trace = { type: d.keys.length > 1000 ? "scattergl" : "scatter", mode: "markers",
      x: d.columns[x], y: d.columns[y], marker: this.marker(c), hovertext: said,
      hovertemplate: "%{hovertext}<br>%{x}<br>%{y}<extra></extra>" };
    const layout = { margin: { l: 70, r: 30, t: 10, b: 50 }, xaxis: axis(x), yaxis: axis(y),
      paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", showlegend: false,
      font: { color: colour("--ink"), size: 12 } };
    return [[trace], layout, { displayModeBar: false, responsive: true }];
  }

  async show() { await Plotly.newPlot(this.plot, ...this.figure()); }

  update() { Plotly.react(this.plot, ...this.figure()); }

  hide() { Plotly.purge(this.plot); }
}

const sweeps = [...document.querySelectorAll(".sweep")].map((s) => new Sweep(s));
sweeps.forEach(watch);
