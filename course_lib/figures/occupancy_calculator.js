// What an SM holds of blocks with so many threads, registers and bytes of shared memory, as `estimate.occupancy`.
// data: devices (facts of each), device (place of the first), threads, registers, shared, every (values of each slider).
ui => {
  const {devices, every} = ui.data, look = ui.look, now = {...ui.data};
  const up = (n, unit) => Math.ceil(n / unit) * unit, many = (n, noun) => `${n.toLocaleString("en")} ${noun}${n === 1 ? "" : "s"}`;
  const slider = (label, name, say) => ui.slider(label, {min: 0, max: every[name].length - 1,
    value: every[name].indexOf(now[name]), say: i => say(every[name][i])}, i => { now[name] = every[name][i]; });
  slider("threads a block", "threads", v => `${v}`);
  slider("registers a thread", "registers", v => `${v}`);
  slider("shared memory a block", "shared", v => v % 1024 ? `${v} B` : `${v / 1024} KiB`);
  if (devices.length > 1) ui.choice("", devices.map(d => d.name), i => { now.device = i; }, now.device);
  const pad = ui.html("div", {"aria-hidden": "true"}, ui.stage);
  // include occupancy_rules
  const reason = (name, d, warps) => ({
    threads: `a block has ${many(warps, "warp")} and an SM room for ${d.warps}`,
    blocks: `an SM holds at most ${d.blocks} blocks, whatever their size`,
    "shared memory": `a block takes ${up(now.shared + d.reserved, d.sharedUnit).toLocaleString("en")} of ${d.shared.toLocaleString("en")} bytes`,
    registers: `with ${now.registers} a thread, the ${d.registers.toLocaleString("en")} of an SM are enough for ` +
      many(warpsByRegisters(d, now.registers), "warp"),
  })[name];
  ui.draw = () => {
    const d = devices[now.device], h = held(d), across = 16, cell = Math.min(32, (ui.width - 16) / across);
    const rows = Math.ceil(d.warps / across), W = ui.width, top = 28 + rows * cell + 26, H = top + 4 * 26 + 12;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), bold = {"font-weight": "bold"};
    const active = h.refused ? 0 : h.blocks * h.warps;
    text(8, 18, `One SM of the ${d.name}: ${active} of ${d.warps} warps`, bold);
    for (let k = 0; k < d.warps; k++) {
      const X = 8 + k % across * cell, Y = 28 + Math.floor(k / across) * cell, S = cell - 3, block = Math.floor(k / h.warps);
      if (k >= active) ui.box(X, Y, S, S, {fill: look.idle, "fill-opacity": .15, stroke: look.idle}, svg, 1);
      else {
        ui.box(X, Y, S, S, {fill: look.thread, "fill-opacity": block % 2 ? .25 : .6, stroke: look.thread}, svg);
        if (k % h.warps === 0) text(X + S / 2, Y + S / 2 + 4, block, {"text-anchor": "middle"});
      }
    }
    text(8, top, h.refused ? "No block fits" : "Blocks that each limit allows", bold);
    Object.entries(h.limits || {}).forEach(([name, blocks], i) => {
      const y = top + 26 * (i + 1), binds = h.by.includes(name), full = W - 250;
      const wide = Math.max(2, full * Math.min(blocks, d.blocks) / d.blocks);
      text(8, y, name, binds ? bold : {});
      ui.box(120, y - 12, wide, 15, {fill: binds ? look.hazard : look.idle}, svg);
      text(126 + wide, y, `${blocks}${binds ? "  the limit" : ""}`, binds ? bold : {});
    });
    Object.assign(ui.root.dataset, {blocks: h.refused ? 0 : h.blocks, warps: active, refused: !!h.refused,
      limits: JSON.stringify(h.limits || {}), by: (h.by || []).join()});
    ui.caption(h.refused || `Occupancy ${Math.round(100 * active / d.warps)} %: ${many(h.blocks, "block")} of ` +
      `${many(h.warps, "warp")} on an SM. The limit is ${h.by.join(" and ")}: ${h.by.map(n => reason(n, d, h.warps)).join("; ")}.`);
  };
}
