// What each of eight layers puts out, and the gradient that comes back, for the size of the weights that is chosen.
// data: grid (activation -> scale -> layer: counts, rms, back, stuck), scales, he, axes, units, at, activation.
ui => {
  const {grid, scales, he, axes, units} = ui.data, look = ui.look, names = Object.keys(grid), layers = grid[names[0]][0].length;
  let at = ui.data.at, kind = names.indexOf(ui.data.activation);
  const short = v => v === 0 ? "0" : v >= 1000 || v < .001 ? power(v) : `${+v.toPrecision(2)}`;
  const power = v => {
    const e = Math.floor(Math.log10(v)), raised = [...String(Math.abs(e))].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
    return `${+(v / 10 ** e).toPrecision(1)}·10${e < 0 ? "⁻" : ""}${raised}`;
  };
  ui.choice("activation", names, i => { kind = i; }, kind);
  const slider = ui.slider("size of the weights", {min: 0, max: scales.length - 1, value: at, say: i => `${scales[i]}`}, v => { at = v; });
  ui.button("√(2/n)", () => { at = scales.indexOf(he); slider.set(at); });
  const LOW = -10, HIGH = 6;  // powers of ten that the right half shows
  ui.draw = () => {
    const rows = grid[names[kind]][at], [low, high] = axes[names[kind]], W = Math.min(ui.width, 720) - 4, row = 34, top = 46;
    ui.stage.replaceChildren();
    const H = top + row * layers + 46, left = 22, half = Math.floor((W - left) * .42), start = left + half + 34, wide = W - start - 12;
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, svg, t);
    const line = (a, b, c, d, more) => ui.svg("line", {x1: a, y1: b, x2: c, y2: d, ...more}, svg);
    const mid = {"text-anchor": "middle"}, mute = {style: `fill:${look.muted}`}, bold = {"font-weight": "bold"};
    const relu = names[kind] === "ReLU";
    text(left, 14, relu ? "outputs above 0" : "outputs", bold);
    text(start, 14, "output spread", bold);
    text(start, 30, "gradient spread", bold);
    ui.svg("circle", {cx: start - 10, cy: 10, r: 4.5, fill: look.data, stroke: look.ink}, svg);
    ui.svg("path", {d: `M${start - 10} 20.5l5.5 5.5l-5.5 5.5l-5.5 -5.5Z`, fill: look.gradient, stroke: look.ink}, svg);
    const X = v => start + (Math.max(LOW, Math.min(HIGH, Math.log10(Math.max(v, 1e-99)))) - LOW) / (HIGH - LOW) * wide;
    const bottom = top + row * layers;
    for (const e of [-10, -5, 0, 5]) {
      const x = start + (e - LOW) / (HIGH - LOW) * wide;
      line(x, top - 6, x, bottom, {stroke: e ? look.grid : look.idle});
      text(x, bottom + 16, e ? `10${e < 0 ? "⁻" : ""}${e === -10 ? "¹⁰" : "⁵"}` : "1", {...mid, ...mute});
    }
    rows.forEach((r, k) => {
      const y = top + k * row, base = y + row - 6, width = half / r.counts.length, most = Math.max(...r.counts);
      text(0, base - 6, k + 1);
      line(left, base, left + half, base, {stroke: look.idle});
      r.counts.forEach((c, i) => {
        const h = c / most * (row - 10);
        if (c) ui.svg("rect", {x: left + i * width + .5, y: base - h, width: width - 1, height: h, fill: look.data}, svg);
      });
    });
    const well = grid[names[kind]][scales.indexOf(he)];  // where the marks would stand with √(2/n)
    for (const key of ["rms", "back"])
      ui.svg("polyline", {points: well.map((r, k) => `${X(r[key])},${top + k * row + row / 2}`).join(" "), fill: "none",
        stroke: look.muted, "stroke-width": 1.4, "stroke-dasharray": "1.5 3"}, svg);
    for (const [key, stroke, dash] of [["rms", look.data, null], ["back", look.gradient, "6 3"]])
      ui.svg("polyline", {points: rows.map((r, k) => `${X(r[key])},${top + k * row + row / 2}`).join(" "), fill: "none", stroke,
        "stroke-width": 2, "stroke-dasharray": dash}, svg);
    rows.forEach((r, k) => {
      const y = top + k * row + row / 2, d = X(r.back);
      ui.svg("circle", {cx: X(r.rms), cy: y, r: 4.5, fill: look.data, stroke: look.ink}, svg);
      ui.svg("path", {d: `M${d} ${y - 5.5}l5.5 5.5l-5.5 5.5l-5.5 -5.5Z`, fill: look.gradient, stroke: look.ink}, svg);
    });
    text(left, bottom + 16, `${low}`.replace("-", "−"), mute);
    text(left + half, bottom + 16, `${high}${relu ? " and more" : ""}`, {"text-anchor": "end", ...mute});
    text(left, bottom + 36, "layer 1 is at the input", mute);
    text(start, bottom + 36, "dotted: at √(2/n)", mute);
    const first = rows[0], last = rows[layers - 1], out = last.rms / first.rms, stuck = last.stuck;
    const ratio = scales[at] / he;
    const ill = !relu && stuck > .3 ? "saturated" : out < .05 ? "fades" : out > 20 ? "explodes" : "arrives";
    const says = {
      fades: "The signal fades: the last layer can hardly tell one digit from another.",
      explodes: "The signal explodes: the first loss is huge, and so is the first step.",
      arrives: "The signal arrives at about the size that it had.",
      saturated: `Saturated: ${Math.round(100 * stuck)} % of the last layer's outputs lie beyond ±0.95, where tanh is nearly flat.`,
    };
    Object.assign(ui.root.dataset, {activation: names[kind], sd: scales[at], first: first.rms, last: last.rms,
      back: first.back, stuck, ill});
    ui.caption(`${names[kind]}, weights of deviation ${scales[at]}, ${+ratio.toPrecision(2)} times √(2/${units}): the spread of the ` +
      `outputs goes from ${short(first.rms)} in layer 1 to ${short(last.rms)} in layer ${layers}; the gradient has ${short(last.back)} ` +
      `in layer ${layers} and ${short(first.back)} in layer 1. ${says[ill]}`);
  };
}
