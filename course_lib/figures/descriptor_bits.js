// A descriptor's 64 bits in fields, and what a product of 16 columns reads for it from a tile swizzled by 128 bytes.
// data: rows, starts, strides, leading (bytes), modes (name, code, bits turned over), fields (name, low, wide, role), at: the
// places of the first start, stride and mode, column: the one that is looked at.
ui => {
  const {rows, starts, strides, leading, modes, fields} = ui.data, look = ui.look;
  let [start, stride, mode] = ui.data.at, column = ui.data.column;
  ui.slider("start", {min: 0, max: starts.length - 1, value: start, say: i => `${starts[i]} bytes`}, i => { start = i; });
  ui.slider("stride", {min: 0, max: strides.length - 1, value: stride, say: i => `${strides[i].toLocaleString("en")} bytes`},
    i => { stride = i; });
  ui.choice("swizzle", modes.map(m => m.name), i => { mode = i; }, mode);
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Columns of B: up and down choose one"}, ui.stage);
  const step = by => () => { column = (column + by + rows) % rows; };
  ui.keys(pad, {ArrowUp: step(-1), ArrowDown: step(1), ArrowLeft: step(-8), ArrowRight: step(8), Home: () => { column = 0; },
    End: () => { column = rows - 1; }});
  // What is drawn anew below a mouse at rest must not choose: only a mouse that has moved does.
  let seen = "";
  for (const what of ["pointermove", "click"]) pad.addEventListener(what, event => {
    const now = `${event.clientX} ${event.clientY}`, own = event.target.dataset && event.target.dataset.column;
    if (own === undefined || (what === "pointermove" && now === seen)) return;
    seen = now;
    if (+own !== column) { column = +own; ui.draw(); }
  });
  const turned = (a, bits) => a ^ ((a >> 7 & (1 << bits) - 1) << 4);
  // Where column n's first or second four k are: the address without and with its bits turned over.
  const address = (n, half) => {
    const {bits} = modes[mode];
    const plain = starts[start] + (n >> 3) * strides[stride] + (n & 7) * (16 << bits) + half * (bits ? 16 : leading);
    return [plain, turned(plain, bits)];
  };
  const held = a => [a >> 7, turned(a, 3) >> 4 & 7];
  ui.draw = () => {
    const {code, bits} = modes[mode], first = starts[start] / 16;
    const values = {start: starts[start] / 16, leading: leading / 16, stride: strides[stride] / 16, base: 0, swizzle: code};
    let number = 0n;
    for (const f of fields) number |= BigInt(values[f.name]) << BigInt(f.low);
    const hex = "0x" + number.toString(16).padStart(16, "0").match(/..../g).join("_");
    const W = Math.min(ui.width, 640), bit = (W - 16) / 32, wide = W > 560, cell = wide ? 30 : W < 345 ? 18 : 21, high = 19, left = 28;
    const answer = wide ? 62 : 50, second = left + 8 * cell + (wide ? 86 : 34), top = 148, H = top + rows * high + 8;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mid = {"text-anchor": "middle"}, end = {"text-anchor": "end", style: `fill:${look.muted}`}, bold = {"font-weight": "bold"};
    text(8, 16, hex, bold);
    for (let k = 63; k >= 0; k--) {
      const f = fields.find(f => f.low <= k && k < f.low + f.wide), one = number >> BigInt(k) & 1n;
      const x = 8 + bit * (31 - k % 32), y = k >= 32 ? 26 : 70, role = f ? look[f.role] : look.paper;
      ui.svg("rect", {x, y, width: bit, height: 16, fill: role, "fill-opacity": one ? .6 : .15, stroke: f ? role : look.grid}, svg);
      if (bit >= 11) text(x + bit / 2, y + 12.5, String(one), mid);
    }
    for (const f of fields) {
      const bytes = f.name === "base" || f.name === "swizzle" ? "" : `${(16 * values[f.name]).toLocaleString("en")} / 16 = `;
      const atLeft = f.name === "swizzle", x = atLeft ? 8 : 8 + bit * (32 - f.low % 32 - f.wide / 2);
      text(x, f.low >= 32 ? 57 : 101, `${f.name}: ${bytes}${values[f.name]}`, atLeft ? {} : mid);
    }
    text(left, top - 22, wide ? "Shared memory: the chunk at each place" : "Shared memory", bold);
    text(second, top - 22, wide ? "What each column of B gets" : "B's columns", bold);
    for (let p = 0; p < 8; p++) text(left + cell * (p + .5), top - 6, p, {...mid, style: `fill:${look.muted}`});
    text(second, top - 6, "row · chunk", {style: `fill:${look.muted}`});
    const found = [], readers = new Map();
    for (let n = 0; n < rows; n++) {
      const places = [0, 1].map(half => address(n, half)[1]);
      found.push(places.map(held));
      for (const a of places) readers.set(a, [...readers.get(a) || [], n]);
    }
    for (let r = 0; r < rows; r++) for (let p = 0; p < 8; p++) {
      const a = 128 * r + 16 * p, who = readers.get(a), x = left + cell * p, y = top + high * r;
      const box = ui.svg("rect", {x, y, width: cell, height: high, fill: who ? look.data : look.paper,
        "fill-opacity": who ? .3 : 1, stroke: look.idle}, svg);
      if (who) { box.dataset.column = who[0]; box.style.cursor = "pointer"; }
      text(x + cell / 2, y + 14, held(a)[1], {...mid, "pointer-events": "none"});
      if (!p) text(left - 8, y + 14, r, end);
    }
    let right = 0;
    found.forEach((pair, n) => {
      const good = pair.every(([r, c], half) => r === n && c === first + half), y = top + high * n;
      right += good;
      pair.forEach(([r, c], half) => {
        const own = r === n && c === first + half, x = second + answer * half;
        const box = ui.svg("rect", {x, y, width: answer, height: high, fill: own ? look.output : look.hazard, "fill-opacity": .3,
          stroke: look.idle}, svg);
        box.dataset.column = n;
        box.style.cursor = "pointer";
        text(x + answer / 2, y + 14, `${r} · ${c}${own ? "" : wide ? " ✗" : "✗"}`, {...mid, "pointer-events": "none"});
      });
      text(second - 8, y + 14, n, end);
    });
    const frame = {fill: "none", stroke: look.ink, "stroke-width": 2.5, "pointer-events": "none"};
    const line = {stroke: look.ink, "stroke-width": 2, "pointer-events": "none"}, middle = top + 8 * high;
    ui.svg("line", {x1: left - 4, x2: left + 8 * cell + 4, y1: middle, y2: middle, ...line}, svg);
    ui.svg("line", {x1: second - 4, x2: second + 2 * answer + 4, y1: middle, y2: middle, ...line}, svg);
    ui.svg("rect", {x: second, y: top + high * column, width: 2 * answer, height: high, ...frame}, svg);
    for (const half of [0, 1]) {
      const a = address(column, half)[1];
      ui.svg("rect", {x: left + cell * (a >> 4 & 7), y: top + high * (a >> 7), width: cell, height: high, ...frame}, svg);
    }
    Object.assign(ui.root.dataset, {number: hex, found: JSON.stringify(found), right, column});
    const [plain, byte] = address(column, 0), [r, c] = found[column][0], told = n => n.toLocaleString("en");
    const whole = right === rows ? `All ${rows} columns of B get k = ${4 * first} to ${4 * first + 7}.` :
      `${rows - right} of ${rows} columns of B get something other than k = ${4 * first} to ${4 * first + 7} of their own (✗).`;
    const flips = ["no bit is turned over", "bit 4 turned over by bit 7", "bits 4 and 5 turned over by bits 7 and 8",
      "bits 4 to 6 turned over by bits 7 to 9"][bits];
    ui.caption(`${whole} Column ${column}: byte ${told(plain)}, ${flips}${bits ? `: byte ${told(byte)}` : ""}; there lies chunk ${c} of row ${r}.`);
  };
}
