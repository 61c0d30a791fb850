// A training step shared by n devices: computing, then the sum of gradients. data: points ([rows, us]), bytes, devices,
// start, batches, links (name, latency in us, rate in bytes a us), ways ("ring", "tree"), about.
ui => {
  const {points, bytes, devices, start, batches, links, ways, about} = ui.data, look = ui.look;
  let at = start, batch = 0, link = 0, way = 0;
  const slider = ui.slider("devices", {min: 0, max: devices.length - 1, value: start, say: k => `${devices[k]}`}, k => { at = k; });
  ui.choice("batch", batches.map(b => b.toLocaleString("en")), i => { batch = i; }, 0);
  ui.choice("link", links.map(l => l.name), i => { link = i; }, 0);
  ui.choice("sum by", ways, i => { way = i; }, 0);
  const between = rows => {
    let k = points.findIndex(p => rows <= p[0]);
    if (k <= 0) return points[0][1];
    const [a, s] = points[k - 1], [b, t] = points[k];
    return s + (t - s) * (rows - a) / (b - a);
  };
  const compute = n => between(batches[batch] / n);
  const message = b => links[link].latency + b / links[link].rate;
  const exchange = n => ways[way] === "ring" ? 2 * (n - 1) * message(bytes / n) : 2 * Math.log2(n) * message(bytes);
  const us = v => v < 9950 ? `${Math.round(v).toLocaleString("en")} µs` : `${(v / 1000).toFixed(1)} ms`;
  const times = v => `${v < 9.95 ? v.toFixed(1) : Math.round(v)} times`;
  ui.draw = () => {
    const n = devices[at], W = Math.min(ui.width, 640), left = 8, right = W - 8, H = 330;
    const all = devices.map(d => compute(d) + exchange(d)), alone = all[0], took = all[at];
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mute = {style: `fill:${look.muted}`};
    // Above: this step beside the one of a single device.
    const most = Math.max(alone, took), X = v => v / most * (right - left);
    [["one device", alone, alone], [`${n} device${n > 1 ? "s" : ""}`, compute(n), took]].forEach(([name, c, t], k) => {
      const y = 8 + k * 48;
      text(left, y + 12, `${name}: ${us(t)}`, {"font-weight": "bold"});
      ui.box(left, y + 18, Math.max(X(c), 1), 18, {fill: look.data, "fill-opacity": .75, stroke: look.ink}, svg);
      if (t > c) ui.box(left + X(c), y + 18, Math.max(X(t - c), 1), 18, {fill: look.gradient, "fill-opacity": .6, stroke: look.ink}, svg);
    });
    ui.box(left, 108, 12, 12, {fill: look.data, "fill-opacity": .75, stroke: look.ink}, svg);
    text(left + 17, 118, "computing");
    ui.box(left + 92, 108, 12, 12, {fill: look.gradient, "fill-opacity": .6, stroke: look.ink}, svg);
    text(left + 109, 118, "sum of gradients");
    // Below: how many times as fast, by the number of devices; both axes double.
    const top = 152, base = 290, low = 40, last = Math.log2(devices[devices.length - 1]);
    const least = Math.min(...all.map(t => alone / t)), floor = Math.min(-2, Math.floor(Math.log2(least)));
    const PX = d => low + Math.log2(d) / last * (right - low - 8);
    const PY = v => base - (Math.log2(v) - floor) / (last - floor) * (base - top);
    text(left, top - 8, "times as fast as one device", mute);
    devices.forEach(d => {
      ui.svg("line", {x1: PX(d), x2: PX(d), y1: top, y2: base, stroke: look.grid}, svg);
      text(PX(d), base + 16, d, {"text-anchor": "middle"});
    });
    [1 / 64, 1 / 16, 1 / 4, 1, 4, 16, 64].filter(v => Math.log2(v) >= floor).forEach(v => {
      ui.svg("line", {x1: low, x2: right - 8, y1: PY(v), y2: PY(v), stroke: v === 1 ? look.muted : look.grid}, svg);
      text(low - 4, PY(v) + 4, v < 1 ? `1/${1 / v}` : v, {"text-anchor": "end"});
    });
    text(right, base + 32, "devices", {"text-anchor": "end", ...mute});
    ui.svg("path", {d: "M" + devices.map(d => `${PX(d)} ${PY(d)}`).join("L"), stroke: look.muted, "stroke-dasharray": "3 4", fill: "none"}, svg);
    ui.svg("path", {d: "M" + devices.map((d, k) => `${PX(d)} ${PY(alone / all[k])}`).join("L"), stroke: look.data, "stroke-width": 2.5, fill: "none"}, svg);
    devices.forEach((d, k) => ui.svg("circle", {cx: PX(d), cy: PY(alone / all[k]), r: k === at ? 6 : 3, fill: k === at ? look.output : look.data, stroke: look.ink}, svg));
    text(left, H - 6, "dotted: as many times as devices", mute);
    const gain = alone / took;
    Object.assign(ui.root.dataset, {devices: n, batch: batches[batch], link: links[link].name, way: ways[way], compute: compute(n), exchange: exchange(n), gain});
    const said = n === 1 ? "One device has nobody to sum with." :
      gain > 1.05 ? `${times(gain)} as fast as one; ${Math.round(100 * exchange(n) / took)} % of the step is the sum.` :
      gain > .95 ? "As fast as one device alone." : `Slower than one device: it takes ${times(1 / gain)} as long.`;
    ui.caption(`${n} device${n > 1 ? "s" : ""}, ${us(took)} a step. ${said} ${about}`);
  };
}
