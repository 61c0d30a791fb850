// One access of a warp: lanes onto the sectors of global memory, and onto the banks of shared memory; both counted.
// data: way ("stride", "recorded", "tile"), stride, strides, offset, itemsize, sizes, lanes; address (bytes, recorded);
// for a tile: row and column of each lane's element, columns, start (bytes), shape.
ui => {
  const data = ui.data, look = ui.look, lanes = data.lanes;
  let {way, stride, offset, itemsize: size} = data, padding = 0, chosen = 0;
  const addresses = () => way === "recorded" ? data.address :
    way === "tile" ? data.row.map((r, i) => data.start + (r * (data.columns + padding) + data.column[i]) * size) :
    lanes.map(k => (offset + stride * k) * size);
  // As `simt.traffic.global_traffic`: every sector that a lane touches, once; distinct elements are the bytes used.
  const sectorsOf = where => {
    const every = new Set();
    for (const a of where) for (let s = a >> 5; s <= (a + size - 1) >> 5; s++) every.add(s);
    return [...every].sort((a, b) => a - b);
  };
  // As `simt.traffic.shared_traffic`: one word of a bank in a wavefront, elements of 8 bytes half a warp at a time.
  const banksOf = where => {
    const groups = size <= 4 ? 1 : size / 4, rows = [];
    let wavefronts = 0;
    for (let g = 0; g < groups; g++) {
      const words = new Map();
      where.forEach((a, i) => {
        if (Math.floor(lanes[i] * groups / 32) !== g) return;
        for (let w = a >> 2; w <= (a + size - 1) >> 2; w++) words.set(w, [...words.get(w) || [], lanes[i]]);
      });
      const filled = Array(32).fill(0);
      for (const w of [...words.keys()].sort((a, b) => a - b))
        rows.push({bank: w % 32, row: wavefronts + filled[w % 32]++, who: words.get(w)});
      wavefronts += Math.max(1, ...filled);
    }
    return {rows, wavefronts};
  };
  const linear = () => { way = "stride"; if (kinds) kinds.set(1); };
  let kinds = null;
  if (data.way !== "stride") kinds = ui.choice("", ["as the kernel does", "stride and offset"], i => { way = i ? "stride" : data.way; });
  if (data.way === "tile") ui.slider("padding of a row", {min: 0, max: 8, value: 0, say: v => `${v}`},
    v => { padding = v; way = "tile"; kinds.set(0); });
  ui.slider("stride", {min: 0, max: data.strides.length - 1, value: data.strides.indexOf(stride), say: i => `${data.strides[i]}`},
    i => { stride = data.strides[i]; linear(); });
  ui.slider("offset", {min: 0, max: 32, value: offset}, v => { offset = v; linear(); });
  if (data.sizes.length > 1)
    ui.choice("bytes of an element", data.sizes.map(String), i => { size = data.sizes[i]; }, data.sizes.indexOf(size));
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Lanes: left and right choose one"}, ui.stage);
  ui.html("p", {style: "margin:4px 8px 8px"}, ui.stage,
    "Blue: used by a lane. Hatched: moved along with it, and not used. Lower rows: the words that each bank gives, one after the other.");
  const step = d => { chosen = Math.max(0, Math.min(lanes.length - 1, chosen + d)); };
  ui.keys(pad, {
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => step(-32), End: () => step(32),
  });
  ui.draw = () => {
    const where = addresses(), touched = sectorsOf(where), {rows, wavefronts} = banksOf(where);
    const used = new Set(where).size * size, moved = 32 * touched.length;
    const W = ui.width, cell = (W - 16) / 32, high = 13;
    pad.replaceChildren();
    const stackTop = 186, H = stackTop + wavefronts * high + 8;
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const bold = {"font-weight": "bold"}, mute = {style: `fill:${look.muted}`}, mid = {"text-anchor": "middle"};
    const hit = {fill: look.thread, "fill-opacity": .55, stroke: look.idle, "stroke-width": .7};
    const gaps = touched.slice(1).map((s, i) => s - touched[i] > 1), n = touched.length;
    const wide = Math.min(72, (W - 16 - 6 * gaps.filter(g => g).length) / n), at = new Map();
    let x = 8;
    touched.forEach((s, i) => { at.set(s, x); x += wide + (gaps[i] ? 6 : 0); });
    const place = b => at.get(b >> 5) + (b & 31) / 32 * (wide - 1);
    lanes.forEach((k, i) => {
      const X = 8 + k * cell;
      const box = ui.box(X, 22, cell - 1.5, 18, hit, svg);
      box.addEventListener("click", () => { chosen = i; ui.draw(); });
      if (cell > 17) text(X + cell / 2 - .5, 35, k, mid);
      ui.svg("line", {x1: X + cell / 2, y1: 40, x2: place(where[i]) + size / 64 * (wide - 1), y2: 104,
        stroke: i === chosen ? look.ink : look.thread, "stroke-width": i === chosen ? 2.5 : 1}, svg);
      if (i === chosen) ui.box(X - 1, 21, cell + .5, 20, {fill: "none", stroke: look.ink, "stroke-width": 2.5}, svg);
    });
    text(8, 16, "Lanes of a warp", bold);
    if (cell <= 17) [8, 16, 24].forEach(k => text(8 + k * cell, 16, k < 16 && W < 420 ? "" : k, mute));
    const whole = {fill: look.hazard, "fill-opacity": .3, stroke: look.ink};
    touched.forEach(s => ui.box(at.get(s), 104, wide - 1, 20, whole, svg, 1));
    for (const a of new Set(where)) for (let b = a, end = a + size; b < end;) {
      const stop = Math.min(end, (b >> 5) + 1 << 5);
      ui.box(place(b), 104, (stop - b) / 32 * (wide - 1), 20, {fill: look.paper, stroke: "none"}, svg);
      ui.box(place(b), 104, (stop - b) / 32 * (wide - 1), 20, {...hit, stroke: look.thread}, svg);
      b = stop;
    }
    let end = 0;
    touched.forEach(s => {
      const label = `${s * 32}`;
      if (at.get(s) < end || at.get(s) + label.length * 7.5 > W) return;
      text(at.get(s), 137, label, mute);
      end = at.get(s) + label.length * 7.5 + 8;
    });
    text(8, 158, `Global memory: ${n} sector${n > 1 ? "s" : ""}, ${Math.round(1000 * used / moved) / 10} % used`, bold);
    text(8, stackTop - 8, `Shared memory: ${wavefronts} wavefront${wavefronts > 1 ? "s" : ""}, bank 0 to 31`, bold);
    let empty = "";
    for (let r = 0; r < wavefronts; r++) for (let b = 0; b < 32; b++)
      empty += `M${8 + b * cell} ${stackTop + r * high}h${cell - 1.5}v${high - 1.5}h${1.5 - cell}z`;
    ui.svg("path", {d: empty, fill: look.paper, stroke: look.grid}, svg);
    for (const {bank, row, who} of rows) {
      const X = 8 + bank * cell, Y = stackTop + row * high, own = who.includes(lanes[chosen]);
      ui.box(X, Y, cell - 1.5, high - 1.5, hit, svg);
      if (own) ui.box(X, Y, cell - 1.5, high - 1.5, {fill: "none", stroke: look.ink, "stroke-width": 2.5}, svg);
      if (cell > 17) text(X + cell / 2 - .5, Y + 10, who.length > 1 ? `${who.length}×` : who[0], mid);
    }
    const a = where[chosen], what = way === "tile" ? ` with rows of ${data.columns} + ${padding}` :
      way === "stride" ? `, stride ${stride}, offset ${offset}` : "";
    Object.assign(ui.root.dataset, {sectors: n, wavefronts, moved, used});
    ui.caption(`${size}-byte elements${what}: ${n} sector${n > 1 ? "s" : ""}, ${moved} bytes moved for ${used} used; ` +
      `${wavefronts} wavefront${wavefronts > 1 ? "s" : ""}. Lane ${lanes[chosen]}: byte ${a}, sector ${a >> 5}, ` +
      `bank ${(a >> 2) % 32}.`);
  };
}
