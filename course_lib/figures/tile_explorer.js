// The tiles of a product C = A @ B: what a choice of sizes loads, needs and can reach, as `figures.product_tiles`.
// data: M, N, K, sizes (BM, BN, BK, TM, TN), shared, every (values of each slider), presets, devices (facts of each),
// device (place of the first), own, onTheWay (registers).
ui => {
  const {M, N, K, every, presets, devices, own, onTheWay} = ui.data, look = ui.look, names = ["BM", "BN", "BK", "TM", "TN"];
  const s = {...ui.data.sizes, shared: ui.data.shared}, now = {}, sliders = {};
  let device = ui.data.device, thread = 0, before = null;
  const up = (n, unit) => Math.ceil(n / unit) * unit, big = n => n.toLocaleString("en");
  const many = (n, noun) => `${big(n)} ${noun}${n === 1 ? "" : "s"}`, short = v => `${+v.toPrecision(3)}`;
  const same = p => names.every(n => p[n] === s[n]) && p.shared === s.shared;
  const rungs = ui.choice("rung", Object.keys(presets), i => {
    Object.assign(s, Object.values(presets)[i]);
    names.forEach(n => sliders[n].set(every[n].indexOf(s[n])));
  }, Object.values(presets).findIndex(same));
  for (const n of names) sliders[n] = ui.slider(n, {min: 0, max: every[n].length - 1, value: every[n].indexOf(s[n]),
    say: i => `${every[n][i]}`}, i => { s[n] = every[n][i]; });
  const ways = ui.choice("operands", ["straight from global", "through shared memory"], i => { s.shared = i === 1; }, +s.shared);
  if (devices.length > 1) ui.choice("card", devices.map(d => d.name), i => { device = i; before = null; }, device);
  // include occupancy_rules
  const count = () => {
    const {BM, BN, BK, TM, TN, shared} = s, d = devices[device], threads = BM * BN / (TM * TN);
    const blocks = Math.ceil(M / BM) * Math.ceil(N / BN), [ofA, ofB] = shared ? [BN, BM] : [TN, TM];
    const loads = M * K * Math.ceil(N / ofA) + K * N * Math.ceil(M / ofB), perProduct = (TM + TN) / (TM * TN);
    const bytes = shared ? 4 * BK * (BM + BN) : 0, brought = shared ? Math.ceil(BK * (BM + BN) / threads) : 0;
    const registers = TM * TN + TM + TN + Math.min(onTheWay, brought) + own;
    const ceiling = Math.min(1, 32 / (d.perClock * perProduct)), intensity = 2 * M * N * K / (4 * loads);
    const n = {threads, blocks, ofA, ofB, loads, perProduct, bytes, registers, ceiling, intensity, accumulators: TM * TN,
      attainable: Math.min(d.peak, intensity * d.bandwidth, ceiling * d.peak)};
    const no = (why, text) => ({...n, why, text});
    if (TM > BM || TN > BN) return no("tile", `A thread's ${TM} × ${TN} outputs do not fit into a block's ${BM} × ${BN}.`);
    if (threads > 1024) return no("threads", `${BM} × ${BN} outputs at ${TM} × ${TN} a thread are ${big(threads)} threads; ` +
      "a block has at most 1,024. Give a thread more outputs.");
    Object.assign(now, {threads, registers, shared: bytes});
    if (bytes > d.sharedBlock) return no("shared memory", `${held(d).refused} Choose a smaller BK.`);
    if (registers > d.registersThread) return no("registers", `A thread would need about ${registers} registers; it has at ` +
      `most ${d.registersThread}, and the compiler would keep the rest in slow local memory. Choose a smaller TM or TN.`);
    const h = held(d);
    return h.refused ? no("launch", h.refused) : {...n, held: h, waves: blocks / (d.sms * h.blocks)};
  };
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:12px;padding:8px;align-items:flex-start"}, ui.stage);
  const whole = ui.html("div", {"aria-hidden": "true"}, room);
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Threads of the block: arrow keys choose one"}, room);
  const list = ui.html("table", {style: `border-collapse:collapse;font-size:13px;color:${look.ink}`}, room);
  const roof = ui.html("div", {"aria-hidden": "true"}, room);
  const sheet = (parent, W, H) => {
    parent.replaceChildren();
    return ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, parent);
  };
  const across = () => Math.max(1, s.BN / s.TN), down = () => Math.max(1, s.BM / s.TM);
  const step = by => { thread = Math.max(0, Math.min(across() * down() - 1, thread + by)); };
  ui.keys(pad, {ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-across()),
    ArrowDown: () => step(across()), Home: () => { thread = 0; }, End: () => step(1e6)});
  // The three matrices as they multiply: A at the left of C, B above it.
  const drawWhole = side => {
    const svg = sheet(whole, side, side + 22), gap = 8, scale = (side - gap - 2) / Math.max(K + N, K + M);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), k = K * scale, x0 = k + gap, y0 = 20 + k + gap;
    text(0, 13, "The whole product", {"font-weight": "bold"});
    ui.box(0, y0, k, M * scale, {fill: look.paper, stroke: look.data}, svg);
    ui.box(x0, 20, N * scale, k, {fill: look.paper, stroke: look.weight}, svg);
    ui.box(x0, y0, N * scale, M * scale, {fill: look.paper, stroke: look.output}, svg);
    const high = Math.max(3, Math.min(M, s.BM) * scale), wide = Math.max(3, Math.min(N, s.BN) * scale);
    const y = y0 + Math.min(M * scale - high, Math.floor(M / s.BM / 3) * s.BM * scale);
    const x = x0 + Math.min(N * scale - wide, Math.floor(N / s.BN / 2) * s.BN * scale);
    ui.box(0, y, k, high, {fill: look.data, "fill-opacity": .45, stroke: "none"}, svg);
    ui.box(x, 20, wide, k, {fill: look.weight, "fill-opacity": .45, stroke: "none"}, svg);
    ui.box(x, y, wide, high, {fill: look.output, stroke: look.ink, "stroke-width": 1.5}, svg);
    const deep = Math.max(2, Math.min(K, s.BK) * scale), at = Math.floor(K / s.BK / 2) * s.BK * scale;
    ui.box(at, y, deep, high, {fill: look.data, stroke: look.ink}, svg);
    ui.box(x, 20 + at, wide, deep, {fill: look.weight, stroke: look.ink}, svg);
    text(4, y0 + M * scale - 6, `A (${M}, ${K})`);
    text(x0 + 4, 34, `B (${K}, ${N})`);
    text(x0 + 4, y0 + M * scale - 6, `C (${M}, ${N})`);
  };
  // One block, one step along K; brighter where a loaded number serves more multiply-adds.
  const drawBlock = (side, n) => {
    const svg = sheet(pad, side, side + 116), gap = 6, {BM, BN, BK, TM, TN} = s, scale = (side - gap - 2) / (BK + Math.max(BM, BN));
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), x0 = BK * scale + gap, y0 = 22 + x0;
    const heat = uses => .12 + .78 * Math.log2(uses) / 8, tx = thread % across(), ty = Math.floor(thread / across());
    text(0, 13, "One block, one step along K", {"font-weight": "bold"});
    ui.box(0, y0, BK * scale, BM * scale, {fill: look.data, "fill-opacity": heat(n.ofA), stroke: look.data}, svg);
    ui.box(x0, 22, BN * scale, BK * scale, {fill: look.weight, "fill-opacity": heat(n.ofB), stroke: look.weight}, svg);
    const tile = ui.box(x0, y0, BN * scale, BM * scale, {fill: look.paper, stroke: look.output}, svg);
    let grid = "";
    if (TN * scale >= 4) for (let j = 1; j < across(); j++) grid += `M${x0 + j * TN * scale} ${y0}v${BM * scale}`;
    if (TM * scale >= 4) for (let i = 1; i < down(); i++) grid += `M${x0} ${y0 + i * TM * scale}h${BN * scale}`;
    ui.svg("path", {d: grid, stroke: look.grid, fill: "none", "pointer-events": "none"}, svg);
    if (n.why === "tile") return;
    const lit = {fill: look.thread, "fill-opacity": .3, stroke: "none", "pointer-events": "none"};
    const y = y0 + ty * TM * scale, x = x0 + tx * TN * scale, high = Math.max(2, TM * scale), wide = Math.max(2, TN * scale);
    if (s.shared) {
      ui.box(x0, y, BN * scale, high, lit, svg);
      ui.box(x, y0, wide, BM * scale, lit, svg);
    }
    const own = {fill: "none", stroke: look.ink, "stroke-width": 2, "pointer-events": "none"};
    ui.box(0, y, BK * scale, high, own, svg);
    ui.box(x, 22, wide, BK * scale, own, svg);
    ui.box(x, y, wide, high, {...own, fill: look.output}, svg);
    tile.style.cursor = "pointer";
    tile.addEventListener("click", event => {
      const r = tile.getBoundingClientRect(), part = (v, of) => Math.max(0, Math.min(of - 1, Math.floor(v * of)));
      thread = part((event.clientY - r.top) / r.height, down()) * across() + part((event.clientX - r.left) / r.width, across());
      ui.draw();
    });
    // Loads for each multiply-add at each level; the bars are logarithmic, from 1/512 to 2.
    const loads = n.loads / (M * N * K), levels = [["registers", 2], [s.shared ? "shared" : "L1 cache", n.perProduct], ["global", loads]];
    text(0, side + 44, "Reads for each multiply-add", {"font-weight": "bold"});
    levels.forEach(([name, v], i) => {
      const yy = side + 52 + 21 * i, w = (side - 130) * Math.max(.03, (Math.log2(v) + 9) / 10);
      text(0, yy + 12, name);
      ui.box(70, yy + 1, w, 14, {fill: [look.output, look.thread, look.data][i], stroke: look.idle}, svg);
      text(76 + w, yy + 12, short(v));
    });
  };
  const drawRoof = (W, n, d) => {
    const H = 210, left = 40, svg = sheet(roof, W, H), x = [-1, 3], top = Math.ceil(Math.log10(d.peak)), y = [top - 3, top];
    const X = v => left + (Math.log10(v) - x[0]) / (x[1] - x[0]) * (W - left - 22);
    const Y = v => 26 + (1 - (Math.log10(v) - y[0]) / (y[1] - y[0])) * (H - 68);
    const text = (tx, ty, t, extra = {}) => ui.svg("text", {x: tx, y: ty, ...extra}, svg, t), mute = {style: `fill:${look.muted}`};
    const line = (xa, ya, xb, yb, more) => ui.svg("line", {x1: xa, y1: ya, x2: xb, y2: yb, ...more}, svg);
    text(0, 13, `Roofline of the ${d.name}`, {"font-weight": "bold"});
    for (let p = x[0]; p <= x[1]; p++) {
      line(X(10 ** p), 26, X(10 ** p), H - 42, {stroke: look.grid});
      text(X(10 ** p), H - 27, `${+(10 ** p).toPrecision(1)}`, {"text-anchor": "middle", ...mute});
    }
    for (let p = y[0]; p <= y[1]; p++) {
      line(left, Y(10 ** p), W - 22, Y(10 ** p), {stroke: look.grid});
      text(left - 4, Y(10 ** p) + 4, p < 12 ? `${10 ** (p - 9)}G` : `${10 ** (p - 12)}T`, {"text-anchor": "end", ...mute});
    }
    text((left + W) / 2, H - 10, "FLOP for each byte asked for", {"text-anchor": "middle", ...mute});
    const low = Math.max(.1, 10 ** y[0] / d.bandwidth), ridge = d.peak / d.bandwidth;
    ui.svg("polyline", {points: [[low, low * d.bandwidth], [ridge, d.peak], [1e3, d.peak]].map(([a, b]) => `${X(a)},${Y(b)}`).join(" "),
      fill: "none", stroke: look.ink, "stroke-width": 2.5}, svg);
    text(X(ridge) - 8, Y(d.peak) + 4, `ridge ${short(ridge)}`, {"text-anchor": "end"});
    if (n.ceiling < 1) {
      line(left, Y(n.ceiling * d.peak), W - 22, Y(n.ceiling * d.peak), {stroke: look.gradient, "stroke-width": 2, "stroke-dasharray": "5 3"});
      text(W - 22, Y(n.ceiling * d.peak) + 15, "reads of operands", {"text-anchor": "end"});
    }
    if (n.why) return;
    const point = [X(n.intensity), Y(n.attainable)];
    if (before && (before[0] !== point[0] || before[1] !== point[1])) {
      line(...before, ...point, {stroke: look.data, "stroke-dasharray": "2 3"});
      ui.svg("circle", {cx: before[0], cy: before[1], r: 4, fill: look.paper, stroke: look.data}, svg);
    }
    ui.svg("circle", {cx: point[0], cy: point[1], r: 7, fill: look.data, stroke: look.ink, "stroke-width": 2}, svg);
    before = point;
  };
  ui.draw = () => {
    const n = count(), d = devices[device], W = ui.width - 16, half = W < 560 ? Math.min(W, 360) : Math.min(300, (W - 12) / 2);
    thread = Math.min(thread, across() * down() - 1);
    rungs.set(Object.values(presets).findIndex(same));
    ways.set(+s.shared);
    drawWhole(Math.min(half, 260));
    drawBlock(half, n);
    drawRoof(half, n, d);
    const rows = [["numbers asked of global memory", big(n.loads)], ["FLOP for each byte asked for", short(n.intensity)],
      ["one load of A / of B serves", `${n.ofA} / ${n.ofB} products`], ["threads a block", big(n.threads)],
      ["sums a thread", big(n.accumulators)], ["registers a thread (estimate)", `${n.registers} of ${d.registersThread}`],
      ["shared memory a block", n.bytes ? `${short(n.bytes / 1024)} of ${Math.floor(d.sharedBlock / 1024)} KiB` : "none"],
      ["reads allow, of the peak", `${short(100 * n.ceiling)} %`], ["blocks of the grid", big(n.blocks)]];
    if (n.held) rows.push(["blocks on an SM, occupancy", `${n.held.blocks}, ${Math.round(100 * n.held.blocks * n.held.warps / d.warps)} %`],
      ["rounds over all SMs", `${short(n.waves)} (${d.sms} SMs)`]);
    list.replaceChildren();
    list.style.width = `${Math.min(W, 340)}px`;
    for (const [what, value] of rows) {
      const row = ui.html("tr", {style: `border-bottom:1px solid ${look.grid}`}, list);
      ui.html("th", {scope: "row", style: "text-align:left;font-weight:normal;padding:2px 6px 2px 0"}, row, what);
      ui.html("td", {style: "text-align:right;padding:2px 0"}, row, value);
    }
    Object.assign(ui.root.dataset, {why: n.why || "", thread, numbers: JSON.stringify([n.threads, n.blocks, n.loads, n.bytes,
      n.registers, n.perProduct, n.intensity, n.ceiling, n.attainable, n.held ? n.held.blocks : 0, n.waves || 0])});
    const ridge = d.peak / d.bandwidth, limit = n.attainable === d.peak ? "arithmetic" :
      n.attainable === n.ceiling * d.peak ? "reading operands" : "global memory, if no cache helps";
    const opt = n.bytes > 48 * 1024 ? " More than 48 KiB of shared memory must be asked for at the launch." : "";
    const idle = n.threads % 32 ? ` A block of ${many(n.threads, "thread")} leaves lanes of its last warp idle.` : "";
    const few = n.blocks < d.sms ? ` ${many(n.blocks, "block")} leave ${d.sms - n.blocks} of ${d.sms} SMs without work.` : "";
    ui.caption(n.why ? `Not possible: ${n.text}` : `A number of A that was loaded once serves ${many(n.ofA, "multiply-add")}, one of B ` +
      `${n.ofB}: ${short(n.intensity)} FLOP for each byte asked for; the ridge of the ${d.name} is at ${short(ridge)}. At most ` +
      `${short(n.attainable / 1e12)} TFLOP/s: the limit is ${limit}.${opt}${idle}${few}`);
  };
}
