// A descent on the map of a loss, started anywhere: gradient and next step as arrows, the loss beside it.
// data: lands (name, levels, bowl or dents), tints, extent, most, rates, land, start, lr, at. Walks as `surfaces.descend`.
ui => {
  const {lands, tints, extent, most, rates} = ui.data, look = ui.look, MINUS = "−";
  let {land, lr, at} = ui.data, start = [...ui.data.start], held = false;
  const height = ([u, v]) => {
    const {bowl, dents} = lands[land];
    return bowl ? .5 * (bowl[0] * u * u + bowl[1] * v * v) :
      dents.reduce((h, [a, b, s, d]) => h - d * Math.exp(-((u - a) ** 2 + (v - b) ** 2) / (2 * s * s)), 1);
  };
  const gradient = ([u, v]) => {
    const {bowl, dents} = lands[land];
    if (bowl) return [bowl[0] * u, bowl[1] * v];
    return dents.reduce(([x, y], [a, b, s, d]) => {
      const dent = d * Math.exp(-((u - a) ** 2 + (v - b) ** 2) / (2 * s * s)) / (s * s);
      return [x + dent * (u - a), y + dent * (v - b)];
    }, [0, 0]);
  };
  const walk = n => {
    const path = [start];
    for (let k = 0; k < n; k++) {
      const p = path[k], g = gradient(p);
      path.push([p[0] - lr * g[0], p[1] - lr * g[1]]);
    }
    return path;
  };
  const within = v => Math.max(-extent, Math.min(extent, v));
  const put = (u, v) => { start = [within(+u.toFixed(2)), within(+v.toFixed(2))]; };
  ui.choice("surface", lands.map(l => l.name), i => { land = i; }, land);
  ui.slider("learning rate", {min: rates[0], max: rates[1], step: .05, value: lr, say: v => v.toFixed(2)}, v => { lr = v; });
  const count = ui.slider("steps", {min: 0, max: most, value: at}, v => { at = v; });
  const goto = n => { at = Math.max(0, Math.min(most, n)); count.set(at); };
  const back = ui.button("Back to the start", () => goto(0)), forth = ui.button("One step", () => goto(at + 1));
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:10px;padding:6px"}, ui.stage);
  const map = ui.html("div", {tabindex: 0, role: "group", style: "cursor:crosshair",
    "aria-label": "Map of the loss: arrow keys move the start, Home puts it back"}, room);
  const curve = ui.html("div", {"aria-hidden": "true"}, room);
  const nudge = (a, b) => () => put(start[0] + a, start[1] + b);
  ui.keys(map, {ArrowLeft: nudge(-.25, 0), ArrowRight: nudge(.25, 0), ArrowUp: nudge(0, .25), ArrowDown: nudge(0, -.25),
    Home: () => { start = [...ui.data.start]; }});
  let side = 300;
  const LEFT = 30, TOP = 20;
  const point = event => {
    const box = map.firstChild.getBoundingClientRect(), scale = side / (2 * extent), to = v => Math.round(v * 20) / 20;
    put(to((event.clientX - box.left - LEFT) / scale - extent), to(extent - (event.clientY - box.top - TOP) / scale));
    ui.draw();
  };
  map.addEventListener("pointerdown", event => {
    held = true;
    if (event.pointerType === "mouse") map.setPointerCapture(event.pointerId);
    point(event);
  });
  map.addEventListener("pointermove", event => { if (held && event.buttons) point(event); });
  for (const end of ["pointerup", "pointercancel"]) map.addEventListener(end, () => { held = false; });
  const drawn = {};
  const ground = () => {  // one picture a surface, two dots a pixel; a dark line where one band ends
    if (drawn[land]) return drawn[land];
    const n = 600, canvas = document.createElement("canvas"), levels = lands[land].levels, bands = new Uint8Array(n * n);
    canvas.width = canvas.height = n;
    const pen = canvas.getContext("2d"), image = pen.createImageData(n, n);
    const rgb = tints.map(t => [1, 3, 5].map(i => parseInt(t.slice(i, i + 2), 16)));
    for (let r = 0, k = 0; r < n; r++) for (let c = 0; c < n; c++, k++) {
      const h = height([(2 * (c + .5) / n - 1) * extent, (1 - 2 * (r + .5) / n) * extent]);
      let band = 0;
      while (band < tints.length - 1 && h > levels[band + 1]) band++;
      bands[k] = band;
      const edge = (c && bands[k - 1] !== band) || (r && bands[k - n] !== band), shade = rgb[band];
      for (let i = 0; i < 3; i++) image.data[4 * k + i] = edge ? shade[i] * .72 : shade[i];
      image.data[4 * k + 3] = 255;
    }
    pen.putImageData(image, 0, 0);
    return drawn[land] = canvas.toDataURL();
  };
  const num = (x, digits = 3) => `${+x.toPrecision(digits)}`.replace("-", MINUS), pair = p => `(${num(p[0])}, ${num(p[1])})`;
  ui.draw = () => {
    const wide = ui.width >= 560, W = ui.width - 12;
    side = Math.floor(Math.min(330, wide ? W * .5 - LEFT - 12 : W - LEFT - 10));
    const path = walk(at + 1), here = path[at], next = path[at + 1], g = gradient(here), length = Math.hypot(...g);
    const losses = path.map(height), loss = losses[at], promised = lr * length * length, fall = loss - losses[at + 1];
    const scale = side / (2 * extent), X = u => LEFT + (u + extent) * scale, Y = v => TOP + (extent - v) * scale;
    map.replaceChildren();
    const w = LEFT + side + 8, h = TOP + side + 56;
    const svg = ui.svg("svg", {width: w, height: h, viewBox: `0 0 ${w} ${h}`, "aria-hidden": "true"}, map);
    const text = (on, x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, on, t);
    const line = (on, a, b, c, d, more) => ui.svg("line", {x1: a, y1: b, x2: c, y2: d, ...more}, on);
    const mid = {"text-anchor": "middle"}, end = {"text-anchor": "end"}, mute = {style: `fill:${look.muted}`}, bold = {"font-weight": "bold"};
    text(svg, LEFT, 13, "Loss over two weights: dark is low", bold);
    ui.svg("image", {x: LEFT, y: TOP, width: side, height: side, href: ground(), preserveAspectRatio: "none"}, svg);
    for (const t of [-3, 0, 3]) {
      text(svg, X(t), TOP + side + 14, num(t), {...mid, ...mute});
      text(svg, LEFT - 4, Y(t) + 4, num(t), {...end, ...mute});
    }
    text(svg, X(1.5), TOP + side + 14, "u", mid);
    text(svg, LEFT - 4, Y(1.5) + 4, "v", end);
    const view = ui.svg("svg", {x: LEFT, y: TOP, width: side, height: side, viewBox: `${LEFT} ${TOP} ${side} ${side}`}, svg);
    const far = v => Math.max(-60, Math.min(60, v)), spots = path.slice(0, at + 1).map(([u, v]) => [X(far(u)), Y(far(v))]);
    for (const [stroke, width] of [[look.paper, 4.5], [look.ink, 1.6]])
      ui.svg("polyline", {points: spots.join(" "), fill: "none", stroke, "stroke-width": width}, view);
    spots.forEach(([x, y]) => ui.svg("circle", {cx: x, cy: y, r: 3, fill: look.paper, stroke: look.ink}, view));
    ui.svg("rect", {x: X(start[0]) - 5, y: Y(start[1]) - 5, width: 10, height: 10, fill: look.weight, stroke: look.ink}, view);
    // Both arrows at the scale of the map: the step is the gradient's arrow turned round, times the learning rate.
    const arrow = (to, stroke, dash) => {
      const [xa, ya, xb, yb] = [X(here[0]), Y(here[1]), X(far(to[0])), Y(far(to[1]))], d = Math.hypot(xb - xa, yb - ya);
      if (!(d > 1)) return;
      const ux = (xb - xa) / d, uy = (yb - ya) / d, head = Math.min(9, d / 2), tx = xb - ux * head, ty = yb - uy * head;
      for (const [colour, more] of [[look.paper, 3], [stroke, 0]]) {
        line(view, xa, ya, tx, ty, {stroke: colour, "stroke-width": 2.6 + more, "stroke-dasharray": more ? null : dash});
        ui.svg("path", {d: `M${xb} ${yb}L${tx - 4.5 * uy} ${ty + 4.5 * ux}L${tx + 4.5 * uy} ${ty - 4.5 * ux}Z`, fill: colour,
          stroke: colour, "stroke-width": more}, view);
      }
    };
    arrow([here[0] + g[0], here[1] + g[1]], look.gradient, "5 2");
    arrow(next, look.ink, null);
    ui.svg("circle", {cx: X(far(here[0])), cy: Y(far(here[1])), r: 3.5, fill: look.output, stroke: look.ink, "stroke-width": 1.5}, view);
    line(svg, LEFT, TOP + side + 30, LEFT + 26, TOP + side + 30, {stroke: look.gradient, "stroke-width": 3, "stroke-dasharray": "6 3"});
    text(svg, LEFT + 32, TOP + side + 34, "gradient: the way up");
    line(svg, LEFT, TOP + side + 47, LEFT + 26, TOP + side + 47, {stroke: look.ink, "stroke-width": 3});
    text(svg, LEFT + 32, TOP + side + 51, `next step: ${MINUS}${lr.toFixed(2)} times that`);
    // The loss.
    curve.replaceChildren();
    const cw = wide ? W - w - 14 : w, ch = wide ? h : 230, left = 44, right = cw - 12, top = TOP + 6, low = ch - 56;
    const plot = ui.svg("svg", {width: cw, height: ch, viewBox: `0 0 ${cw} ${ch}`}, curve);
    const last = [10, 30, most + 1].find(n => n > at), most_ = Math.max(...losses), log = most_ > 20;
    const floor = log ? Math.min(...losses.filter(x => x > 0)) / 2 : 0, ceil = log ? most_ * 2 : Math.max(1.1, most_ * 1.1);
    const A = k => left + k / last * (right - left), share = x => log ? Math.log(Math.max(x, floor) / floor) / Math.log(ceil / floor) :
      Math.max(0, x) / ceil, B = x => low - share(x) * (low - top);
    text(plot, 0, 13, log ? "Loss, step by step (log)" : "Loss, step by step", bold);
    for (const t of log ? [floor, Math.sqrt(floor * ceil), ceil] : [0, .5, 1].map(f => f * ceil)) {
      line(plot, left, B(t), right, B(t), {stroke: look.grid});
      text(plot, left - 4, B(t) + 4, num(t, 2), {...end, ...mute});
    }
    for (const t of [0, last]) text(plot, A(t), low + 15, t, {...mid, ...mute});
    text(plot, (left + right) / 2, low + 15, "step", mid);
    ui.svg("polyline", {points: losses.slice(0, at + 1).map((x, k) => `${A(k)},${B(x)}`).join(" "), fill: "none", stroke: look.data,
      "stroke-width": 2}, plot);
    losses.slice(0, at + 1).forEach((x, k) => ui.svg("circle", {cx: A(k), cy: B(x), r: k === at ? 5 : 2.5,
      fill: k === at ? look.output : look.data, stroke: look.ink, "stroke-width": k === at ? 1.5 : 0}, plot));
    // A promise that goes below the plot is cut off at its edge, with an arrow head that says so.
    const kept = log || loss >= promised ? 1 : loss / promised, px = A(at + kept), py = B(loss - kept * promised);
    line(plot, A(at), B(loss), px, py, {stroke: look.gradient, "stroke-width": 2, "stroke-dasharray": "6 3"});
    if (kept < 1) ui.svg("path", {d: `M${px - 5} ${py - 3}L${px + 5} ${py - 3}L${px} ${py + 6}Z`, fill: look.gradient}, plot);
    ui.svg("circle", {cx: A(at + 1), cy: B(losses[at + 1]), r: 5, fill: look.paper, stroke: look.data, "stroke-width": 2}, plot);
    line(plot, left, ch - 25, left + 26, ch - 25, {stroke: look.gradient, "stroke-width": 2, "stroke-dasharray": "6 3"});
    text(plot, left + 32, ch - 21, "what the slope promises");
    ui.svg("circle", {cx: left + 13, cy: ch - 8, r: 5, fill: look.paper, stroke: look.data, "stroke-width": 2}, plot);
    text(plot, left + 32, ch - 4, "what the next step gives");
    back.setAttribute("aria-disabled", at === 0);
    forth.setAttribute("aria-disabled", at === most);
    Object.assign(ui.root.dataset, {surface: lands[land].name, start: JSON.stringify(start), lr, at, here: JSON.stringify(here),
      gradient: JSON.stringify(g), loss, promised, fall});
    const out = Math.max(...here.map(Math.abs)) > extent, flat = length < .005;
    ui.caption(`${at === 1 ? "1 step" : `${at} steps`} from ${pair(start)}: at ${pair(here)} the loss is ${num(loss)}. ` +
      (out ? "The walk has left the map. " : "") + (flat ? "The ground is nearly level here, so there is hardly a step. " : "") +
      `The gradient is ${pair(g)}. The next step promises to lower the loss by ${num(lr)} · ${num(length)}² = ${num(promised)}; ` +
      (fall > 1e-12 ? `it lowers it by ${num(fall)}.` : fall < -1e-12 ? `it raises it by ${num(-fall)}.` : "the loss stays as it is."));
  };
}
