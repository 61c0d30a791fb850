// How a core runs a work-group that turns a tile: one work-item after the other, in one loop or, with a barrier, in two.
// data: side.
ui => {
  const {side} = ui.data, look = ui.look, n = side * side;
  let fenced = true, at = 0;
  ui.choice("the kernel", ["with a barrier", "without"], i => { fenced = i === 0; at = 0; slider.set(0); }, 0);
  const slider = ui.slider("steps done", {min: 0, max: 2 * n, value: 0}, v => { at = v; });
  const move = d => { at = Math.max(0, Math.min(2 * n, at + d)); slider.set(at); };
  ui.button("Next", () => move(1));
  ui.button("To the end", () => move(2 * n));
  // Step k: [work-item, whether it writes the tile (else it reads the tile and writes y)].
  const step = k => fenced ? [k % n, k < n] : [k >> 1, k % 2 === 0];
  ui.draw = () => {
    const W = Math.min(ui.width, 560), cell = Math.min(34, Math.floor((W - 70) / (2 * side))), H = 84 + side * cell + 46;
    const tile = Array(n).fill(null), y = Array(n).fill(null);
    for (let k = 0; k < at; k++) {
      const [t, writes] = step(k), tx = t % side, ty = Math.floor(t / side);
      if (writes) tile[ty * side + tx] = t;
      else y[ty * side + tx] = tile[tx * side + ty] === null ? "?" : tile[tx * side + ty];
    }
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, yy, t, extra = {}) => ui.svg("text", {x, y: yy, ...extra}, svg, t), mid = {"text-anchor": "middle"};
    const mono = {"font-family": "monospace"}, [t, writes] = at ? step(at - 1) : [-1, true];
    const lines = fenced ? ["for each work-item: tile[ty][tx] = x[…]", "for each work-item: y[…] = tile[tx][ty]"] :
      ["for each work-item: tile[ty][tx] = x[…];", "                    y[…] = tile[tx][ty]"];
    text(8, 16, fenced ? "The core's two loops" : "The core's one loop", {"font-weight": "bold"});
    lines.forEach((l, k) => {
      if (at && writes === (k === 0)) ui.box(4, 22 + 18 * k, W - 8, 18, {fill: look.thread, "fill-opacity": .35, stroke: "none"}, svg);
      text(8, 35 + 18 * k, l, {...mono, style: "white-space:pre"});
    });
    const top = 84, lefts = [8, 8 + side * cell + 40];
    [["tile, local memory", tile], ["y, what is written", y]].forEach(([name, values], k) => {
      text(lefts[k], top - 8, name);
      values.forEach((v, i) => {
        const X = lefts[k] + i % side * cell, Y = top + Math.floor(i / side) * cell, bad = v === "?";
        ui.box(X, Y, cell - 1, cell - 1, {fill: v === null ? look.paper : bad ? look.hazard : k ? look.output : look.data,
          "fill-opacity": v === null ? 1 : bad ? .6 : .3, stroke: look.idle}, svg, v === null);
        if (v !== null) text(X + cell / 2 - .5, Y + cell / 2 + 4, v, mid);
      });
    });
    if (t >= 0) {
      const tx = t % side, ty = Math.floor(t / side), frame = {fill: "none", stroke: look.ink, "stroke-width": 2.5};
      const [a, b] = writes ? [tx, ty] : [ty, tx];
      ui.box(lefts[0] + a * cell - .5, top + b * cell - .5, cell, cell, frame, svg);
      if (!writes) ui.box(lefts[1] + tx * cell - .5, top + ty * cell - .5, cell, cell, frame, svg);
    }
    const wrong = y.filter(v => v === "?").length, done = y.filter(v => v !== null).length, base = top + side * cell + 20;
    text(8, base, `${done} of ${n} written`);
    text(8, base + 18, `${wrong} of them (?) from a place not yet filled`);
    const who = t < 0 ? "" : `(${t % side}, ${Math.floor(t / side)})`;
    Object.assign(ui.root.dataset, {at, fenced, wrong, done});
    const says = t < 0 ? `${side} × ${side} work-items, and one core: it takes them one after the other. Press Next.` :
      writes ? `Work-item ${who} puts its number into the tile.` :
      y[t] === "?" ? `Work-item ${who} reads tile[${t % side}][${Math.floor(t / side)}], and none of this group has been there yet.` :
      `Work-item ${who} reads tile[${t % side}][${Math.floor(t / side)}] and finds ${y[t]}.`;
    ui.caption(at === 2 * n ? `${says} ${wrong ? `In the end ${wrong} of ${n} numbers are wrong.` : "All numbers are right."}` : says);
  };
}
