// A launch: its grid of blocks, the threads of the chosen block, and what the chosen lane is called.
// data: grid and block (x, y, z), idle (flags of each block as hexadecimal digits, "" for none, or null), first, says.
ui => {
  const {grid, block, idle, first, says} = ui.data, look = ui.look;
  const [gx, gy, gz] = grid, [bx, by, bz] = block;
  const threads = bx * by * bz, split = (n, [x, y]) => [n % x, Math.floor(n / x) % y, Math.floor(n / (x * y))];
  const dims = axes => axes[2] > 1 ? 3 : axes[1] > 1 ? 2 : 1;
  const name = (triple, axes) => dims(axes) === 1 ? `${triple[0]}` : `(${triple.slice(0, dims(axes)).join(", ")})`;
  const flat = Math.max(dims(grid), dims(block));
  const off = (b, t) => !!idle && idle[b] !== "" && !!(parseInt(idle[b][t >> 2], 16) >> (3 - t % 4) & 1);
  const share = b => {
    let n = 0;
    for (let t = 0; idle && idle[b] !== "" && t < threads; t++) n += off(b, t);
    return n / threads;
  };
  let at = first, lane = 0, byAxes = false, layer = split(first, grid)[2];
  for (let t = 0; t < threads; t++) if (off(at, t)) { lane = t; break; }
  const go = (dx, dy) => {
    const [x, y, z] = split(at, grid);
    const nx = Math.min(gx - 1, Math.max(0, x + dx)), ny = Math.min(gy - 1, Math.max(0, y + dy));
    at = (z * gy + ny) * gx + nx;
  };
  const step = d => { if (lane + d >= 0 && lane + d < threads) lane += d; };
  if (dims(block) > 1) ui.choice("Threads of the block", ["by warp", "by x and y"], i => { byAxes = i === 1; });
  if (gz > 1) ui.slider("blockIdx.z", {min: 0, max: gz - 1, value: layer}, v => { at += (v - layer) * gx * gy; layer = v; });
  const parts = ["Blocks of the grid: arrow keys choose one", "Threads of the block: arrow keys choose one"].map(label => {
    const head = ui.html("p", {style: "margin:4px 6px;font-weight:bold"}, ui.stage);
    const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": label, style: "margin:2px 6px"}, ui.stage);
    return {head, pad};
  });
  const told = ui.html("div", {style: "margin:6px;min-height:6.8em"}, ui.stage);
  ui.keys(parts[0].pad, {
    ArrowLeft: () => go(-1, 0), ArrowRight: () => go(1, 0), ArrowUp: () => go(0, -1), ArrowDown: () => go(0, 1),
    Home: () => go(-gx, -gy), End: () => go(gx, gy),
  });
  const down = () => byAxes ? bx : 32;
  ui.keys(parts[1].pad, {
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-down()), ArrowDown: () => step(down()),
    Home: () => { lane = 0; }, End: () => { lane = threads - 1; },
  });
  const sheet = (part, width, height) => {
    part.pad.replaceChildren();
    return ui.svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"}, part.pad);
  };
  const mute = {fill: look.muted, style: `fill:${look.muted}`};
  const frame = {fill: "none", stroke: look.ink, "stroke-width": 2.5, "pointer-events": "none"};
  const pick = (node, act) => {
    node.style.cursor = "pointer";
    node.addEventListener("click", () => { act(); ui.draw(); });
  };
  // Which of n cells are drawn where `room` fit: a window with the chosen one in its middle.
  const window_ = (n, chosen, room) => {
    const begin = Math.max(0, Math.min(n - room, chosen - (room >> 1)));
    return [...Array(Math.min(n, room)).keys()].map(i => i + begin);
  };
  const drawGrid = () => {
    const [x, y, z] = split(at, grid), cell = 30, left = gy > 1 ? 34 : 2;
    const columns = window_(gx, x, Math.floor((ui.width - left - 16) / cell)), rows = window_(gy, y, 8);
    const part = columns.length < gx || rows.length < gy;
    parts[0].head.textContent = `Grid: ${(gx * gy * gz).toLocaleString("en")} block${gx * gy * gz > 1 ? "s" : ""}` +
      (part ? `, here x ${columns[0]} to ${columns.at(-1)}` + (gy > 1 ? `, y ${rows[0]} to ${rows.at(-1)}` : "") : "");
    const svg = sheet(parts[0], ui.width - 14, 20 + rows.length * cell);
    if (gy > 1) ui.svg("text", {x: 2, y: 13, ...mute}, svg, "y \\ x");
    const every = Math.ceil((`${columns.at(-1)}`.length * 7.5 + 6) / cell);
    columns.forEach((bxi, i) => {
      if (i % every === 0) ui.svg("text", {x: left + (i + .5) * cell, y: 13, "text-anchor": "middle", ...mute}, svg, bxi);
      rows.forEach((byi, j) => {
        const b = (z * gy + byi) * gx + bxi, X = left + i * cell + 1, Y = 20 + j * cell, S = cell - 4;
        const node = ui.box(X, Y, S, S, {fill: look.thread, "fill-opacity": idle ? .5 : .2, stroke: look.idle}, svg);
        pick(node, () => { at = b; });
        const deep = Math.round(S * share(b));
        if (deep) ui.box(X, Y + S - deep, S, deep, {fill: look.paper, stroke: look.idle, "pointer-events": "none"}, svg, 1);
        if (b === at) ui.box(X - 1, Y - 1, S + 2, S + 2, frame, svg);
      });
    });
    if (gy > 1) rows.forEach((byi, j) => ui.svg("text", {x: 24, y: 37 + j * cell, "text-anchor": "end", ...mute}, svg, byi));
  };
  const drawLanes = () => {
    const warps = Math.ceil(threads / 32), tip = byAxes ? `, x across, y down${bz > 1 ? ", a gap between z" : ""}` : "";
    parts[1].head.textContent = `Block ${name(split(at, grid), grid)}: ${threads} thread${threads > 1 ? "s" : ""}, ` +
      `${warps} warp${warps > 1 ? "s" : ""}${tip}`;
    const across = byAxes ? bx : 32, left = byAxes ? 34 : 52;
    const wide = Math.max(5, Math.min(20, (ui.width - left - 20) / across)), high = Math.max(10, Math.min(18, wide));
    const rowOf = t => byAxes ? Math.floor(t / bx) : t >> 5, gap = t => byAxes ? Math.floor(t / (bx * by)) * 8 : 0;
    const rows = rowOf(threads - 1) + 1;
    const svg = sheet(parts[1], left + across * wide + 4, 20 + rows * (high + 2) + gap(threads - 1));
    for (let i = 0; i < across; i += across > 8 ? 8 : 1)
      ui.svg("text", {x: left + i * wide, y: 13, ...mute}, svg, byAxes || i ? i : "lane 0");
    for (let t = 0; t < threads; t++) {
      const X = left + t % across * wide, Y = 20 + rowOf(t) * (high + 2) + gap(t), no = off(at, t);
      if (t % across === 0 && (byAxes ? rows <= 16 || rowOf(t) % 4 === 0 : 1))
        ui.svg("text", {x: left - 6, y: Y + high - 1, "text-anchor": "end", ...mute}, svg,
          byAxes ? Math.floor(t / bx) % by : `warp ${t >> 5}`);
      const tint = !idle ? .2 : byAxes && (t >> 5) % 2 ? .25 : .55;
      const node = ui.box(X + .5, Y, Math.max(3, wide - 1.5), high,
        {fill: no ? look.idle : look.thread, "fill-opacity": no ? .15 : tint, stroke: look.idle, "stroke-width": .7}, svg, no);
      pick(node, () => { lane = t; });
      if (t === lane) ui.box(X - .5, Y - 1, Math.max(5, wide), high + 2, frame, svg);
    }
  };
  const drawLane = () => {
    const bi = split(at, grid), ti = split(lane, block), letters = "xyz";
    told.replaceChildren();
    const line = text => ui.html("div", {}, told, text);
    line(`blockIdx ${name(bi, grid)}, threadIdx ${name(ti, block)}: warp ${lane >> 5}, lane ${lane % 32}.`);
    for (let k = flat - 1; k >= 0; k--)
      line(`${letters[k]} = blockIdx.${letters[k]} × blockDim.${letters[k]} + threadIdx.${letters[k]} = ` +
        `${bi[k]} × ${block[k]} + ${ti[k]} = ${bi[k] * block[k] + ti[k]}`);
    const index = [2, 1, 0].slice(3 - flat).map(k => bi[k] * block[k] + ti[k]).join(", ");
    line(flat > 1 ? `x is the last axis of an array: this thread's element is a[${index}].` :
      `cuda.grid(1) is ${index}: x runs along the last axis of an array, here a[${index}].`);
    const b = ui.html("strong", {}, told);
    b.textContent = !idle ? "" : off(at, lane) ?
      "Idle: it touched no memory, because the guard kept it out." : "It touched memory.";
    Object.assign(ui.root.dataset, {block: at, lane, idle: off(at, lane)});
  };
  ui.draw = () => {
    drawGrid();
    drawLanes();
    drawLane();
    ui.caption(`Block ${name(split(at, grid), grid)}, thread ${name(split(lane, block), block)}` +
      `${idle ? off(at, lane) ? ", idle" : ", at work" : ""}. ${says}`);
  };
}
