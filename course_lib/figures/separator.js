// A line between two groups of points: drag its ends, or turn and shift it; its mistakes and margin follow.
// data: x (points), y (labels), low, high (corners), lines (start, perceptron, widest: w1, w2, b of length 1), best (margin).
ui => {
  const {x, y, low, high, lines, best} = ui.data, look = ui.look, MINUS = "−";
  const middle = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2], far = Math.hypot(high[0] - low[0], high[1] - low[1]) / 2;
  const said = (v, digits = 2) => (Math.abs(v) < .5 * 10 ** -digits ? 0 : v).toFixed(digits).replace("-", MINUS);
  // The line: its normal has the angle `turn` (degrees), and it lies `shift` away from the middle of the picture.
  let turn = 0, shift = 0, ends = null, held = null;
  const weights = () => {
    const a = turn * Math.PI / 180, n = [Math.cos(a), Math.sin(a)];
    return [n[0], n[1], -(n[0] * middle[0] + n[1] * middle[1]) - shift];
  };
  // The two points where the line crosses the edge of the picture, or null.
  const crossing = ([a, b, c]) => {
    let from = -Infinity, to = Infinity;
    const foot = [middle[0] - a * (a * middle[0] + b * middle[1] + c), middle[1] - b * (a * middle[0] + b * middle[1] + c)], along = [-b, a];
    for (const k of [0, 1]) {
      if (Math.abs(along[k]) < 1e-12) { if (foot[k] < low[k] || foot[k] > high[k]) return null; continue; }
      const s = (low[k] - foot[k]) / along[k], t = (high[k] - foot[k]) / along[k];
      from = Math.max(from, Math.min(s, t)); to = Math.min(to, Math.max(s, t));
    }
    return from >= to ? null : [from, to].map(t => [foot[0] + t * along[0], foot[1] + t * along[1]]);
  };
  const grips = () => {
    const line = crossing(weights());
    return line && [.12, .88].map(t => [0, 1].map(k => line[0][k] + t * (line[1][k] - line[0][k])));
  };
  const move = (t, s) => {
    const before = [turn, shift];
    [turn, shift] = [(t % 360 + 360) % 360, s];
    const found = grips();
    if (found) ends = found; else [turn, shift] = before;
  };
  const put = w => move(Math.atan2(w[1], w[0]) * 180 / Math.PI, -(w[2] + w[0] * middle[0] + w[1] * middle[1]));
  // From the two ends, as they are after a drag: label 1 is to the left of the way from the first to the second.
  const through = () => {
    const [p, q] = ends, length = Math.hypot(q[0] - p[0], q[1] - p[1]);
    if (length < 1e-6) return;
    const n = [(q[1] - p[1]) / length, (p[0] - q[0]) / length];
    turn = (Math.atan2(n[1], n[0]) * 180 / Math.PI + 360) % 360;
    shift = n[0] * (p[0] - middle[0]) + n[1] * (p[1] - middle[1]);
  };
  put(lines.start);
  const angle = ui.slider("turn", {min: 0, max: 359, value: Math.round(turn), say: v => `${v}°`}, v => move(v, shift));
  const place = ui.slider("shift", {min: -50, max: 50, value: 0, say: v => said(v / 50 * far)}, v => move(turn, v / 50 * far));
  ui.button("Swap the sides", () => move(turn + 180, -shift));
  ui.button("The perceptron's line", () => put(lines.perceptron));
  ui.button("The widest line", () => put(lines.widest));
  ui.button("Back to the start", () => put(lines.start));
  const pad = ui.html("div", {tabindex: 0, role: "group",
    "aria-label": "The line: left and right turn it, up and down shift it"}, ui.stage);
  ui.keys(pad, {ArrowLeft: () => move(turn + 2, shift), ArrowRight: () => move(turn - 2, shift),
    ArrowUp: () => move(turn, shift + far / 50), ArrowDown: () => move(turn, shift - far / 50),
    Home: () => put(lines.start), End: () => put(lines.widest)});
  let svg, unit, W, H;
  const L = 34, T = 10;
  const X = v => L + (v - low[0]) * unit, Y = v => H - 34 - (v - low[1]) * unit;
  const at = event => {
    const box = svg.getBoundingClientRect();
    return [low[0] + (event.clientX - box.left - L) / unit, low[1] + (H - 34 - (event.clientY - box.top)) / unit]
      .map((v, k) => Math.max(low[k], Math.min(high[k], v)));
  };
  pad.addEventListener("pointerdown", event => {
    const grip = event.target.dataset && event.target.dataset.grip;
    if (grip === undefined) return;
    held = +grip;
    pad.setPointerCapture(event.pointerId);
    pad.focus();
    event.preventDefault();
  });
  pad.addEventListener("pointermove", event => {
    if (held === null) return;
    const to = at(event), other = ends[1 - held];
    if (Math.hypot(to[0] - other[0], to[1] - other[1]) < far / 20) return;
    ends[held] = to;
    through();
    ui.draw();
  });
  for (const end of ["pointerup", "pointercancel"]) pad.addEventListener(end, () => { held = null; });
  ui.draw = () => {
    W = Math.min(ui.width, 560);
    unit = (W - L - 12) / (high[0] - low[0]);
    H = T + 34 + (high[1] - low[1]) * unit;
    // A point on the line has a score of 0 but for rounding, and is answered with 1.
    const w = weights(), z = x.map(p => w[0] * p[0] + w[1] * p[1] + w[2]);
    const wrong = z.map((v, i) => (v >= -1e-9) !== (y[i] === 1)), mistakes = wrong.filter(Boolean).length;
    const margin = Math.min(...z.map(Math.abs));
    angle.set(Math.round(turn) % 360);
    place.set(Math.round(shift / far * 50));
    pad.replaceChildren();
    svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const line = (p, q, more) => ui.svg("line", {x1: X(p[0]), y1: Y(p[1]), x2: X(q[0]), y2: Y(q[1]), ...more}, svg);
    const text = (tx, ty, t, more = {}) => ui.svg("text", {x: tx, y: ty, "pointer-events": "none", ...more}, svg, t);
    // The side that answers 1: the corners of the picture on it, and the crossings, in order.
    const corners = [[low[0], low[1]], [high[0], low[1]], [high[0], high[1]], [low[0], high[1]]], side = [];
    corners.forEach((p, i) => {
      const q = corners[(i + 1) % 4], s = w[0] * p[0] + w[1] * p[1] + w[2], t = w[0] * q[0] + w[1] * q[1] + w[2];
      if (s >= 0) side.push(p);
      if ((s >= 0) !== (t >= 0)) side.push([0, 1].map(k => p[k] + s / (s - t) * (q[k] - p[k])));
    });
    const shape = points => points.map(p => `${X(p[0]).toFixed(1)},${Y(p[1]).toFixed(1)}`).join(" ");
    ui.svg("polygon", {points: shape(side), fill: look.output, "fill-opacity": .22}, svg);
    ui.svg("polygon", {points: shape(corners), fill: "none", stroke: look.grid}, svg);
    const cut = crossing(w);
    if (!mistakes) for (const by of [margin, -margin]) {
      const beside = crossing([w[0], w[1], w[2] + by]);
      if (beside) line(...beside, {stroke: look.ink, "stroke-dasharray": "3 4", "stroke-width": 1.2});
    }
    if (cut) line(...cut, {stroke: look.weight, "stroke-width": 3});
    x.forEach((p, i) => {
      ui.svg("circle", {cx: X(p[0]), cy: Y(p[1]), r: 5, fill: y[i] ? look.data : look.paper, stroke: look.data,
        "stroke-width": 1.8, "pointer-events": "none"}, svg);
      if (!wrong[i]) return;
      const [cx, cy] = [X(p[0]), Y(p[1])];
      ui.svg("circle", {cx, cy, r: 9.5, fill: "none", stroke: look.hazard, "stroke-width": 1.8, "pointer-events": "none"}, svg);
      ui.svg("path", {d: `M${cx + 8} ${cy - 14}l7 7m0 -7l-7 7`, stroke: look.hazard, "stroke-width": 2.5, "pointer-events": "none"}, svg);
    });
    ends.forEach((p, i) => {
      const look_ = {cx: X(p[0]), cy: Y(p[1]), "data-grip": i, style: "cursor:grab;touch-action:none"};
      ui.svg("circle", {...look_, r: 20, fill: "transparent"}, svg);
      ui.svg("circle", {...look_, r: 9, fill: look.weight, stroke: look.ink, "stroke-width": 1.5}, svg);
    });
    for (let v = Math.ceil(low[0]); v <= high[0]; v++) text(X(v), H - 18, `${v}`, {"text-anchor": "middle"});
    for (let v = Math.ceil(low[1]); v <= high[1]; v++) text(L - 6, Y(v) + 4, `${v}`, {"text-anchor": "end"});
    text((L + W - 12) / 2, H - 4, "x₁", {"text-anchor": "middle"});
    text(2, T + (H - 44) / 2, "x₂");
    Object.assign(ui.root.dataset, {mistakes, margin: margin.toFixed(6), w: w.map(v => v.toFixed(6)).join(" ")});
    const head = `w₁ = ${said(w[0])}, w₂ = ${said(w[1])}, b = ${said(w[2])}. Mistakes: ${mistakes} of ${x.length}. `;
    ui.caption(head + (mistakes ? "Ring and cross: answered wrongly. Drag an end of the line, or turn and shift it." :
      `Margin: ${said(margin)}; the widest line has ${said(best)}.` + (margin > best - .005 ? " That is this one." : "")));
  };
}
