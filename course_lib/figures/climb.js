// Launches of one job under a roofline, joined in order; the reader goes from rung to rung.
// data: card, dtype, peak, bandwidth, ridge, dots (mark, name, x, y, says), rival (name, FLOP/s) or null, range (x, x, y, y).
ui => {
  const {card, dtype, peak, bandwidth, ridge, dots, rival, range: [x0, x1, y0, y1]} = ui.data, look = ui.look, R = 9;
  const last = dots.length - 1;
  let at = 0;
  const go = to => { at = Math.max(0, Math.min(last, to)); };
  const back = ui.button("Previous rung", () => go(at - 1)), forth = ui.button("Next rung", () => go(at + 1));
  const all = ui.button("Top", () => go(last));
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Rungs: left and right go down and up"}, ui.stage);
  ui.keys(pad, {ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(last)});
  const ticks = (low, high, steps) => {
    const every = [];
    for (let p = Math.floor(Math.log10(low)); p <= Math.ceil(Math.log10(high)); p++)
      for (const k of steps) if (low <= k * 10 ** p && k * 10 ** p <= high) every.push(k * 10 ** p);
    return every;
  };
  const short = v => `${+v.toPrecision(3)}`;
  ui.draw = () => {
    const W = Math.min(ui.width, 640), left = 46, right = W - 14, top = 28, high = Math.min(340, W * .72);
    const H = top + high + 44 + 18 * dots.length;
    const X = x => left + Math.log(x / x0) / Math.log(x1 / x0) * (right - left);
    const Y = y => top + high - Math.log(y / y0) / Math.log(y1 / y0) * high;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mute = {style: `fill:${look.muted}`}, mid = {"text-anchor": "middle"}, bold = {"font-weight": "bold"};
    const line = (xa, ya, xb, yb, more) => ui.svg("line", {x1: xa, y1: ya, x2: xb, y2: yb, ...more}, svg);
    text(8, 16, `${card}, ${dtype}: measured`, bold);
    for (const x of ticks(x0, x1, [1])) {
      line(X(x), top, X(x), top + high, {stroke: look.grid});
      text(X(x), top + high + 15, short(x), {...mid, ...mute});
    }
    for (const y of ticks(y0, y1, [1, 2, 5])) {
      line(left, Y(y), right, Y(y), {stroke: look.grid});
      text(left - 5, Y(y) + 4, `${short(y / 1e12)}T`, {"text-anchor": "end", ...mute});
    }
    text((left + right) / 2, top + high + 31, "FLOP for each byte asked for", {...mid, ...mute});
    const low = Math.max(x0, y0 / bandwidth), roof = [[low, low * bandwidth], [ridge, peak], [x1, peak]];
    ui.svg("polyline", {points: roof.map(([x, y]) => `${X(x)},${Y(y)}`).join(" "), fill: "none", stroke: look.ink,
      "stroke-width": 2.5}, svg);
    text(right, Y(peak) - 6, `${short(peak / 1e12)} TFLOP/s`, {"text-anchor": "end"});
    if (rival) {
      line(left, Y(rival[1]), right, Y(rival[1]), {stroke: look.weight, "stroke-width": 1.5, "stroke-dasharray": "6 3"});
      text(left + 4, Y(rival[1]) - 5, rival[0]);
    }
    for (let i = 0; i < at; i++) {
      const [xa, ya, xb, yb] = [X(dots[i].x), Y(dots[i].y), X(dots[i + 1].x), Y(dots[i + 1].y)], far = Math.hypot(xb - xa, yb - ya);
      if (far < 2 * R + 6) continue;
      const ux = (xb - xa) / far, uy = (yb - ya) / far, tx = xb - ux * (R + 2), ty = yb - uy * (R + 2), now = i === at - 1;
      line(xa + ux * R, ya + uy * R, tx, ty, {stroke: look.gradient, "stroke-width": now ? 3 : 1.5});
      ui.svg("path", {d: `M${tx} ${ty}L${tx - 9 * ux - 4 * uy} ${ty - 9 * uy + 4 * ux}L${tx - 9 * ux + 4 * uy} ${ty - 9 * uy - 4 * ux}Z`,
        fill: look.gradient}, svg);
    }
    [...dots.keys()].sort((a, b) => (a === at) - (b === at)).forEach(i => {
      const d = dots[i], done = i <= at, node = ui.svg("circle", {cx: X(d.x), cy: Y(d.y), r: i === at ? R + 2 : R,
        fill: done ? look.data : look.paper, stroke: done ? look.ink : look.idle, "stroke-width": i === at ? 3 : 1,
        "stroke-dasharray": done ? "none" : "3 3"}, svg);
      text(X(d.x), Y(d.y) + 4, d.mark, {...mid, ...bold, "pointer-events": "none", style: `fill:${done ? look.paper : look.muted}`});
      node.style.cursor = "pointer";
      node.addEventListener("click", () => { go(i); ui.draw(); });
      text(8, top + high + 38 + 18 * (i + 1), `${d.mark}  ${d.name}: ${short(d.x)} FLOP/byte, ${short(d.y / 1e12)} TFLOP/s`,
        i === at ? bold : done ? {} : mute);
    });
    for (const [button, off] of [[back, at === 0], [forth, at === last], [all, at === last]])
      button.setAttribute("aria-disabled", off);
    Object.assign(ui.root.dataset, {rung: at, name: dots[at].name});
    ui.caption(dots[at].says);
  };
}
