// A tile of a convolution with its halo: which inputs an output reads, who loads them, and who uses an input.
// data: H, W, K, T, padding, at (the output chosen first), masks, tiles (on offer). Counts as `figures.halos`.
ui => {
  const {H, W, masks, tiles} = ui.data, look = ui.look, MINUS = "−";
  let {K, T, padding} = ui.data, [p, q] = ui.data.at, h = 0, w = 0, backward = false, shown = 0;
  const pad = () => padding ? Math.floor((K - 1) / 2) : 0, out = () => [H + 2 * pad() - K + 1, W + 2 * pad() - K + 1];
  [h, w] = [Math.min(H - 1, p), Math.min(W - 1, q)];
  const views = ui.choice("choose", ["an output", "an input"], i => { backward = i === 1; });
  const inside = ui.choice("cells show", ["loading thread", "uses in the block"], i => { shown = i; backward = false; });
  ui.choice("mask", masks.map(k => `${k} × ${k}`), i => { K = masks[i]; }, masks.indexOf(K));
  ui.choice("tile", tiles.map(t => `${t} × ${t}`), i => { T = tiles[i]; }, tiles.indexOf(T));
  ui.choice("padding", ["none", "zeros"], i => { padding = i === 1; }, +padding);
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:14px;padding:8px;align-items:flex-start"}, ui.stage);
  const part = label => ui.html("div", {tabindex: 0, role: "group", "aria-label": label}, room);
  const left = part("Input map: arrow keys choose an input"), right = part("Output map: arrow keys choose an output");
  const mask = ui.html("div", {"aria-hidden": "true"}, room), sum = ui.html("p", {style: "margin:0 8px 8px;overflow-wrap:anywhere"}, ui.stage);
  const within = (v, n) => Math.max(0, Math.min(n - 1, v));
  const output = (a, b) => { backward = false; p = within(a, out()[0]); q = within(b, out()[1]); };
  const input = (a, b) => { backward = true; h = within(a, H); w = within(b, W); };
  ui.keys(left, {ArrowLeft: () => input(h, w - 1), ArrowRight: () => input(h, w + 1), ArrowUp: () => input(h - 1, w),
    ArrowDown: () => input(h + 1, w), Home: () => input(0, 0), End: () => input(H, W)});
  ui.keys(right, {ArrowLeft: () => output(p, q - 1), ArrowRight: () => output(p, q + 1), ArrowUp: () => output(p - 1, q),
    ArrowDown: () => output(p + 1, q), Home: () => output(0, 0), End: () => output(99, 99)});
  const many = (n, noun) => `${n} ${noun}${n === 1 ? "" : "s"}`;
  ui.draw = () => {
    const P = pad(), [Ho, Wo] = out(), side = T + K - 1, high = H + 2 * P, wide = W + 2 * P;
    p = within(p, Ho); q = within(q, Wo);
    views.set(+backward);
    inside.set(backward ? -1 : shown);
    const br = Math.floor(p / T), bc = Math.floor(q / T);
    const cell = Math.floor(Math.min(32, (ui.width - 18) / wide)), C = 30;
    const sheet = (parent, title, columns, rows, size = cell) => {
      parent.replaceChildren();
      const width = Math.max(columns * size + 3, title.length * 7.2), svg = ui.svg("svg", {width, height: rows * size + 24,
        viewBox: `0 0 ${width} ${rows * size + 24}`, "aria-hidden": "true"}, parent);
      ui.svg("text", {x: 0, y: 13, "font-weight": "bold"}, svg, title);
      return svg;
    };
    const write = (svg, r, c, t, size = cell) => ui.svg("text", {x: 1 + (c + .5) * size, y: 20 + (r + .5) * size + 4,
      "text-anchor": "middle", "pointer-events": "none"}, svg, t);
    const paint = (svg, r, c, attributes, hatched, act, size = cell) => {
      const node = ui.box(1 + c * size, 20 + r * size, size, size, {stroke: look.idle, "stroke-width": .7, ...attributes}, svg, hatched);
      if (act) { node.style.cursor = "pointer"; node.addEventListener("click", () => { act(); ui.draw(); }); }
    };
    const frame = (svg, r, c, n, rows, columns, attributes) => ui.box(1 + c * cell, 20 + r * cell, cell * Math.min(n, columns - c),
      cell * Math.min(n, rows - r), {fill: "none", stroke: look.ink, "pointer-events": "none", ...attributes}, svg);
    // Outputs that use input (a, b), with the weight of each; only those of one block, where a block is given.
    const consumers = (a, b, block) => {
      const found = [];
      for (let i = K - 1; i >= 0; i--) for (let j = K - 1; j >= 0; j--) {
        const [po, qo] = [a + P - i, b + P - j], own = !block || (Math.floor(po / T) === block[0] && Math.floor(qo / T) === block[1]);
        if (po >= 0 && qo >= 0 && po < Ho && qo < Wo && own) found.push([po, qo, i, j]);
      }
      return found;
    };
    const used = consumers(h, w), reads = (a, b) => a >= p - P && a < p - P + K && b >= q - P && b < q - P + K;
    let loaded = 0, blocks = 0;
    for (let r = 0; r * T < Ho; r++) for (let c = 0; c * T < Wo; c++)
      blocks += h + P >= r * T && h + P < r * T + side && w + P >= c * T && w + P < c * T + side;
    const a = sheet(left, `input x (${H}, ${W})`, wide, high);
    for (let r = 0; r < high; r++) for (let c = 0; c < wide; c++) {
      const [y, x] = [r - P, c - P], on = y >= 0 && x >= 0 && y < H && x < W, i = r - br * T, j = c - bc * T;
      const tile = i >= 0 && j >= 0 && i < side && j < side, strong = backward ? y === h && x === w : reads(y, x);
      loaded += tile && on;
      const fill = strong ? backward ? look.gradient : look.data : tile && !backward && on ? look.thread : on ? look.paper : look.idle;
      paint(a, r, c, {fill, "fill-opacity": strong ? .55 : on ? .3 : .15}, !on, on && (() => input(y, x)));
      if (!backward && tile) write(a, r, c, shown ? consumers(y, x, [br, bc]).length : i % T * T + j % T);
      else if (!on) write(a, r, c, "0");
    }
    const core = Math.floor((K - 1) / 2);
    if (!backward) {
      frame(a, br * T, bc * T, side, high, wide, {"stroke-width": 3});
      frame(a, br * T + core, bc * T + core, T, high, wide, {"stroke-width": 1.5, "stroke-dasharray": "5 3"});
      frame(a, p, q, K, high, wide, {"stroke-width": 2.5, stroke: look.data});
    } else frame(a, h + P, w + P, 1, high, wide, {"stroke-width": 3});
    const b = sheet(right, backward ? `dy (${Ho}, ${Wo}), weights i, j` : `output y (${Ho}, ${Wo})`, Wo, Ho);
    for (let r = 0; r < Ho; r++) for (let c = 0; c < Wo; c++) {
      const hit = backward ? used.find(([y, x]) => y === r && x === c) : r === p && c === q;
      const own = Math.floor(r / T) === br && Math.floor(c / T) === bc && !backward;
      paint(b, r, c, {fill: hit ? backward ? look.gradient : look.output : own ? look.thread : look.paper,
        "fill-opacity": hit ? backward ? .4 : .8 : .3}, false, () => output(r, c));
      if (backward && hit && cell > 25) write(b, r, c, `${hit[2]},${hit[3]}`);
    }
    for (let r = 0; r < Ho; r += T) for (let c = 0; c < Wo; c += T)
      frame(b, r, c, T, Ho, Wo, {"stroke-width": !backward && r === br * T && c === bc * T ? 3 : 1.2});
    const m = sheet(mask, backward ? "mask, flipped" : "mask w[i, j]", K, K, C);
    for (let i = 0; i < K; i++) for (let j = 0; j < K; j++) {
      paint(m, i, j, {fill: look.weight, "fill-opacity": .25}, false, null, C);
      write(m, i, j, backward ? `${K - 1 - i},${K - 1 - j}` : `${i},${j}`, C);
    }
    const full = T * T * K * K, outputs = Math.min(T, Ho - br * T) * Math.min(T, Wo - bc * T), zeros = side * side - loaded;
    const from = v => P ? `${v} ${MINUS} ${P}` : v, plus = v => P ? `${v} + ${P}` : v;
    const terms = used.map(([y, x, i, j]) => `dy[${y}, ${x}]·w[${i}, ${j}]`);
    sum.textContent = backward ? `dx[h, w] = sum of dy[p, q]·w[${plus("h")} ${MINUS} p, ${plus("w")} ${MINUS} q]: dx[${h}, ${w}] = ` +
      (terms.length > 9 ? [...terms.slice(0, 4), "…", ...terms.slice(-2)] : terms).join(" + ") :
      `y[p, q] = sum of x[${from("p + i")}, ${from("q + j")}]·w[i, j]. Thick: the tile of block (${br}, ${bc}); between it and the ` +
      `dashed frame lies the halo. ${P ? "Hatched: outside of the map. " : ""}` + (shown ? "Numbers: outputs of the block that use the cell." :
      `Numbers: the thread that brings the cell, threadIdx.y · ${T} + threadIdx.x.`);
    Object.assign(ui.root.dataset, {view: backward ? "input" : "output", chosen: backward ? `${h} ${w}` : `${p} ${q}`,
      loaded, zeros, accesses: outputs * K * K, used: JSON.stringify(used), blocks});
    ui.caption(backward ? `x[${h}, ${w}] is used by ${many(used.length, "output")} and loaded by ${many(blocks, "block")}. Its gradient ` +
      "adds up what comes back from just these outputs, with the same weights: the mask lies on dy, flipped in both directions." :
      `y[${p}, ${q}] reads ${K} × ${K} inputs. Its block of ${T} × ${T} threads brings ${side} × ${side} = ${side * side} numbers ` +
      `(${loaded} loaded, ${zeros} zeros) and reads them ${outputs * K * K} times. A full tile uses each ${T}²·${K}² / ${side}² = ` +
      `${+(full / side / side).toPrecision(3)} times on average.`);
  };
}
