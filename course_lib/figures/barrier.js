// A barrier in a branch: which threads of a block come, which do not; and the same with the barrier outside.
// data: states (a digit for each thread: 0 comes, 1 does not, 2 has left), line, text, block, says, moved, waits, ways.
ui => {
  const {states, line, text: code, block, says, moved, waits, ways} = ui.data, look = ui.look, threads = states.length;
  let outside = false, lane = Math.max(0, states.indexOf("1"));
  const group = ui.choice("The barrier", ways, i => { outside = i === 1; });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Threads of the block: arrow keys choose one"}, ui.stage);
  const step = d => { if (lane + d >= 0 && lane + d < threads) lane += d; };
  ui.keys(pad, {
    ArrowLeft: () => step(-1), ArrowRight: () => step(1), ArrowUp: () => step(-32), ArrowDown: () => step(32),
    Home: () => { lane = 0; }, End: () => { lane = threads - 1; },
  });
  const names = ["comes to the barrier", "does not come", "has left the kernel"];
  ui.draw = () => {
    const state = t => outside ? 0 : +states[t], warps = Math.ceil(threads / 32);
    const wide = Math.max(8, Math.min(20, (ui.width - 70) / 32)), high = Math.min(18, wide + 2), W = 60 + 32 * wide;
    const H = 70 + warps * (high + 3);
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mute = {style: `fill:${look.muted}`};
    text(6, 16, `Block ${block}, ` + (outside ? `the barrier ${ways[1]}` : `line ${line}`), {"font-weight": "bold"});
    if (!outside) text(6, 34, code.length * 7 > W ? code.slice(0, W / 7 - 3) + "…" : code, mute);
    for (let t = 0; t < threads; t++) {
      const X = 54 + t % 32 * wide, Y = 44 + (t >> 5) * (high + 3), s = state(t);
      if (t % 32 === 0) text(48, Y + high - 1, `warp ${t >> 5}`, {...mute, "text-anchor": "end"});
      const node = ui.box(X, Y, wide - 1.5, high, {fill: [look.thread, look.hazard, look.idle][s], "fill-opacity": s === 2 ? .15 : .55,
        stroke: s === 1 ? look.ink : look.idle, "stroke-width": s === 1 ? 1.2 : .7}, svg, s === 2);
      if (s === 1) ui.svg("line", {x1: X + 2, x2: X + wide - 3.5, y1: Y + high / 2, y2: Y + high / 2, stroke: look.ink, "stroke-width": 2}, svg);
      if (t === lane) ui.box(X - 1, Y - 1, wide + .5, high + 2, {fill: "none", stroke: look.ink, "stroke-width": 2.5, "pointer-events": "none"}, svg);
      node.style.cursor = "pointer";
      node.addEventListener("click", () => { lane = t; ui.draw(); });
    }
    text(6, H - 6, waits ? "Blue comes; a bar: does not come; hatched: has left" : "Blue comes; hatched: has left", mute);
    Object.assign(ui.root.dataset, {lane, state: state(lane), outside});
    ui.caption(`${outside ? moved : says} Thread ${lane} ${names[state(lane)]}.`);
  };
}
