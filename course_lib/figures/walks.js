// Two walks over a (32, 32) matrix: along its rows and down its columns, access by access, with the sectors they move.
// data: itemsize; row and column: [sectors, bytes used] of one access.
ui => {
  const {itemsize, row, column} = ui.data, look = ui.look, per = 32 / itemsize;
  let steps = 1;
  const slider = ui.slider("accesses done", {min: 1, max: 32, value: 1}, v => { steps = v; });
  ui.button("One more", () => { steps = steps % 32 + 1; slider.set(steps); });
  const pad = ui.html("div", {"aria-hidden": "true", style: "display:flex;flex-wrap:wrap;gap:12px;padding:8px"}, ui.stage);
  const one = (name, [sectors, used], moves) => {
    const cell = Math.max(5, Math.min(9, Math.floor((ui.width - 40) / 2 / 32 * 2) / 2)), W = 32 * cell + 2, H = W + 78;
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`}, pad);
    const text = (y, t, bold) => ui.svg("text", {x: 0, y, "font-weight": bold ? "bold" : null}, svg, t);
    text(13, `${name} walk`, true);
    for (let r = 0; r < 32; r++) for (let c = 0; c < 32; c++) {
      const here = moves ? c : r, now = here === steps - 1, done = here < steps;
      const fetched = moves ? Math.floor(c / per) === Math.floor((steps - 1) / per) : now;
      ui.box(1 + c * cell, 22 + r * cell, cell, cell, {
        fill: now ? look.thread : fetched ? look.hazard : done ? look.thread : look.paper,
        "fill-opacity": now ? .9 : fetched ? .35 : done ? .25 : 1, stroke: look.grid, "stroke-width": .6,
      }, svg);
    }
    for (let c = 0; c <= 32; c += per)
      ui.svg("line", {x1: 1 + c * cell, x2: 1 + c * cell, y1: 22, y2: 22 + 32 * cell, stroke: look.idle}, svg);
    const moved = 32 * sectors * steps, bar = W - 2, full = 32 * 32 * Math.max(row[0], column[0]);
    ui.box(1, W + 26, bar * moved / full, 10, {fill: look.hazard, "fill-opacity": .35, stroke: look.idle}, svg);
    ui.box(1, W + 26, bar * used * steps / full, 10, {fill: look.thread, stroke: look.idle}, svg);
    text(W + 52, `${(sectors * steps).toLocaleString("en")} sectors`);
    text(W + 68, `${(used * steps).toLocaleString("en")} of ${moved.toLocaleString("en")} bytes used`);
    ui.root.dataset[name.toLowerCase()] = `${sectors * steps} ${used * steps}`;
  };
  ui.draw = () => {
    pad.replaceChildren();
    one("Row", row, false);
    one("Column", column, true);
    const times = column[0] / row[0];
    ui.caption(`After ${steps} access${steps > 1 ? "es" : ""}: ${32 * steps} elements either way; the row walk fetched ` +
      `${row[0] * steps} sectors, the column walk ${column[0] * steps}, ${Math.round(10 * times) / 10} times as many. ` +
      (steps > 1 && steps <= per ? "The column walk fetches the same sectors again and again, as long as no cache keeps them." : ""));
  };
}
