// The backward pass, and sums of gradients beside it. data: layers ([name, us, bytes], last layer first), buckets
// ([name, bytes]), latency in us, rates in bytes a us, about.
ui => {
  const {layers, buckets, latency, rates, about} = ui.data, look = ui.look;
  let way = 0, speed = Math.floor(rates.length / 2);
  const gb = v => `${v / 1000 >= 1 ? v / 1000 : (v / 1000).toPrecision(2)} GB/s`;
  ui.choice("send", buckets.map(b => b[0]), i => { way = i; }, 0);
  ui.slider("link", {min: 0, max: rates.length - 1, value: speed, say: k => gb(rates[k])}, k => { speed = k; });
  const sums = (size, rate) => {
    let done = 0, names = [], held = 0, free = 0;
    const found = [];
    layers.forEach(([name, us, bytes], k) => {
      done += us;
      if (bytes) { names.push(name); held += bytes; }
      if (held && (held >= size || k === layers.length - 1)) {
        const start = Math.max(done, free);
        free = start + latency + held / rate;
        found.push([names.join(" + "), start, free]);
        names = []; held = 0;
      }
    });
    return found;
  };
  ui.draw = () => {
    const W = Math.min(ui.width, 640), left = 8, right = W - 8, H = 190, rate = rates[speed];
    const back = layers.reduce((a, l) => a + l[1], 0), found = sums(buckets[way][1], rate), end = Math.max(back, found[found.length - 1][2]);
    const most = Math.max(...buckets.map(b => { const f = sums(b[1], rate); return Math.max(back, f[f.length - 1][2]); }));
    const X = v => left + v / most * (right - left);
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mid = {"text-anchor": "middle"}, mute = {style: `fill:${look.muted}`};
    text(left, 16, "the backward pass, last layer first", {"font-weight": "bold"});
    let x = 0;
    layers.forEach(([name, us, bytes], k) => {
      ui.box(X(x), 24, Math.max(X(us) - left, .5), 28, {fill: look.data, "fill-opacity": k % 2 ? .6 : .35, stroke: look.ink}, svg);
      if (X(us) - left > 7 * name.length + 4) text(X(x + us / 2), 42, name, mid);
      x += us;
    });
    text(left, 78, "the link, sums over all ranks", {"font-weight": "bold"});
    found.forEach(([name, from, to]) => {
      ui.box(X(from), 86, Math.max(X(to) - X(from), .5), 28, {fill: look.gradient, "fill-opacity": .5, stroke: look.ink}, svg);
      if (X(to) - X(from) > 7 * name.length + 4) text((X(from) + X(to)) / 2, 104, name, mid);
    });
    ui.svg("line", {x1: X(back), x2: X(back), y1: 20, y2: 122, stroke: look.muted, "stroke-dasharray": "4 3"}, svg);
    ui.svg("line", {x1: X(end), x2: X(end), y1: 20, y2: 122, stroke: look.ink, "stroke-width": 2.5}, svg);
    const tick = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000].find(v => most / v <= (W < 500 ? 5 : 8)) || 10000;
    for (let v = 0; v <= most; v += tick) text(X(v), 138, v.toLocaleString("en"), {"text-anchor": v ? "middle" : "start"});
    text(left, 156, "microseconds since the backward pass began", mute);
    const waits = end - back, busy = found.reduce((a, [, from, to]) => a + to - from, 0);
    text(left, 178, `after the backward pass: ${Math.round(waits).toLocaleString("en")} µs of waiting`, {"font-weight": "bold"});
    Object.assign(ui.root.dataset, {way: buckets[way][0], rate, end, back, sums: found.length});
    const hidden = busy - waits;
    ui.caption(`${found.length} ${found.length > 1 ? "sums" : "sum"}, ${Math.round(busy).toLocaleString("en")} µs on the link, ` +
      `${Math.max(0, Math.round(100 * hidden / busy))} % of it behind the backward pass. ${about}`);
  };
}
