// Efficiency against devices. data: devices, batches by mode, modes, links, networks (name, row, parameters, says, grid
// by mode, link and batch: efficiency in thousandths, seconds, seconds that wait), start (places of devices and batch).
ui => {
  const {devices, batches, modes, links, networks, start} = ui.data, look = ui.look;
  let network = 0, link = 0, mode = 0, [at, row] = start;
  const count = v => v.toLocaleString("en");
  const time = s => {
    for (const [unit, size] of [["s", 1], ["ms", 1e-3], ["µs", 1e-6]]) if (s >= size) {
      const v = s / size;
      return `${v >= 9.95 ? count(Math.round(v)) : v.toFixed(1)} ${unit}`;
    }
    return s ? `${(s / 1e-6).toFixed(1)} µs` : "0 µs";
  };
  if (networks.length > 1) ui.choice("", networks.map(n => n.name), i => { network = i; });
  if (links.length > 1) ui.choice("between hosts", links, i => { link = i; });
  ui.choice("", modes, i => { mode = i; batch.set(row); });
  const many = ui.slider("devices", {min: 0, max: devices.length - 1, value: at, say: i => count(devices[i])}, i => { at = i; });
  const batch = ui.slider("batch", {min: 0, max: batches[0].length - 1, value: row, say: i => count(batches[mode][i])}, i => { row = i; });
  const kneeOf = efficiency => {
    const first = efficiency.findIndex(e => e < 500);
    return first < 0 ? devices.length - 1 : first - 1;
  };
  ui.button("to the knee", () => {
    const knee = kneeOf(networks[network].grid[mode][link][row][0]);
    at = Math.max(0, knee);
    many.set(at);
  });
  ui.draw = () => {
    const net = networks[network], [efficiency, seconds, waits] = net.grid[mode][link][row], knee = kneeOf(efficiency);
    const W = Math.min(ui.width, 640), left = 44, right = W - 14, top = 16, base = 196, H = 300;
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mute = {style: `fill:${look.muted}`};
    const X = n => left + Math.log10(n) / 5 * (right - left), Y = e => base - e / 1000 * (base - top);
    [0, 250, 500, 750, 1000].forEach(e => {
      ui.svg("line", {x1: left, x2: right, y1: Y(e), y2: Y(e), stroke: e ? look.grid : look.muted}, svg);
      if (e % 500 === 0) text(left - 5, Y(e) + 4, `${e / 10} %`, {"text-anchor": "end"});
    });
    for (let k = 0; k <= 5; k++) {
      ui.svg("line", {x1: X(10 ** k), x2: X(10 ** k), y1: top, y2: base, stroke: look.grid}, svg);
      if (k !== 4 || W > 480) text(X(10 ** k), base + 16, count(10 ** k), {"text-anchor": k === 0 ? "start" : k === 5 ? "end" : "middle"});
    }
    text(left, base + 32, "devices, and what each keeps of its speed", mute);
    if (knee >= 0) {
      const x = X(devices[knee]), end = x > W / 2;
      ui.svg("line", {x1: x, x2: x, y1: top, y2: base, stroke: look.hazard, "stroke-width": 2, "stroke-dasharray": "5 4"}, svg);
      text(x + (end ? -5 : 5), top + 12, `knee: ${count(devices[knee])}`, {"text-anchor": end ? "end" : "start"});
    }
    ui.svg("path", {d: "M" + devices.map((n, i) => `${X(n)} ${Y(efficiency[i])}`).join("L"), stroke: look.data, "stroke-width": 2.5,
      fill: "none"}, svg);
    ui.svg("circle", {cx: X(devices[at]), cy: Y(efficiency[at]), r: 6, fill: look.output, stroke: look.ink}, svg);
    // Below: the step, and what of it is waited for.
    const share = waits[at] / seconds[at], wide = right - 8, y = base + 46;
    text(8, y + 12, `a step: ${time(seconds[at])}`, {"font-weight": "bold"});
    ui.box(8, y + 18, wide * (1 - share), 20, {fill: look.data, "fill-opacity": .75, stroke: look.ink}, svg);
    if (share > .003) ui.box(8 + wide * (1 - share), y + 18, wide * share, 20, {fill: look.idle, "fill-opacity": .12, stroke: look.idle}, svg, true);
    text(8, y + 54, `hatched: ${time(waits[at])} waiting for sums`, mute);
    const together = devices[at] * efficiency[at] / 1000, percent = efficiency[at] / 10;
    const idle = mode === 0 && devices[at] > batches[0][row] ? ` Only ${count(batches[0][row])} of them have a row.` : "";
    const beyond = knee < 0 ? "Not even one keeps half." : knee === devices.length - 1 ? "There is no knee up to here." :
      `The knee is at ${count(devices[knee])}: beyond it, each does less than half.`;
    Object.assign(ui.root.dataset, {network: net.name, link: links[link], mode: modes[mode], devices: devices[at],
      batch: batches[mode][row], efficiency: efficiency[at], seconds: seconds[at], waits: waits[at],
      knee: knee < 0 ? "" : devices[knee]});
    ui.caption(`${count(devices[at])} ${devices[at] === 1 ? "device" : "devices"}: each does ${percent < 1 ? "less than 1" :
      Math.round(percent)} % of what one alone does, all together as much as ${together < 9.95 ? together.toFixed(1) :
      count(Math.round(together))} alone.${idle} ${beyond} ${net.name}: ${net.says}.`);
  };
}
