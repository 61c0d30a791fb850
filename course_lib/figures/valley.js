// A narrow valley, walked without momentum and with it, from a start that the reader drags.
// data: curvature, reach, bottom, most, rates, momenta, drawn, start, lr, momentum, shown, levels. Walks as `valleys.walk`.
ui => {
  const {curvature, reach, bottom, most, rates, momenta, drawn, levels} = ui.data, look = ui.look, MINUS = "−";
  let {lr, momentum, shown} = ui.data, start = [...ui.data.start], held = false;
  const height = ([u, v]) => .5 * (curvature[0] * u * u + curvature[1] * v * v);
  const walk = mu => {
    let p = start, velocity = [0, 0], last = -1;
    const path = [p];
    for (let k = 0; k <= most; k++) {
      if (!(height(p) < bottom)) last = k;
      velocity = velocity.map((v, i) => mu * v - lr * (curvature[i] * p[i]));
      p = p.map((w, i) => w + velocity[i]);
      if (k < drawn) path.push(p);
    }
    return {path, needed: last < most ? last + 1 : null};
  };
  const within = (w, i) => Math.max(-reach[i], Math.min(reach[i], +w.toFixed(2)));
  const put = (u, v) => { start = [within(u, 0), within(v, 1)]; };
  const decimals = n => v => v.toFixed(n);
  ui.slider("learning rate", {min: rates[0], max: rates[1], step: .1, value: lr, say: decimals(1)}, v => { lr = v; });
  ui.slider("momentum", {min: momenta[0], max: momenta[1], step: .02, value: momentum, say: decimals(2)}, v => { momentum = v; });
  const count = ui.slider("steps drawn", {min: 0, max: drawn, value: shown}, v => { shown = v; });
  const goto = n => { shown = Math.max(0, Math.min(drawn, n)); count.set(shown); };
  const back = ui.button("Back to the start", () => goto(0)), forth = ui.button("One step", () => goto(shown + 1));
  const room = ui.html("div", {style: "padding:6px"}, ui.stage);
  const map = ui.html("div", {tabindex: 0, role: "group", style: "cursor:crosshair",
    "aria-label": "Two maps of the valley: arrow keys move the start, Home puts it back"}, room);
  const nudge = (a, b) => () => put(start[0] + a, start[1] + b);
  ui.keys(map, {ArrowLeft: nudge(-.5, 0), ArrowRight: nudge(.5, 0), ArrowUp: nudge(0, .25), ArrowDown: nudge(0, -.25),
    Home: () => { start = [...ui.data.start]; }});
  const LEFT = 8, TITLE = 22, GAP = 8;
  let scale = 15, strip = 60;
  const point = event => {
    const box = map.firstChild.getBoundingClientRect(), y = event.clientY - box.top, half = TITLE + strip + GAP;
    const own = y < half ? y : y - half;  // either map takes it
    put((event.clientX - box.left - LEFT) / scale - reach[0], reach[1] - (own - TITLE) / scale);
    ui.draw();
  };
  map.addEventListener("pointerdown", event => {
    held = true;
    if (event.pointerType === "mouse") map.setPointerCapture(event.pointerId);
    point(event);
  });
  map.addEventListener("pointermove", event => { if (held && event.buttons) point(event); });
  for (const end of ["pointerup", "pointercancel"]) map.addEventListener(end, () => { held = false; });
  const num = (x, digits = 3) => `${+x.toPrecision(digits)}`.replace("-", MINUS), pair = p => `(${num(p[0])}, ${num(p[1])})`;
  const after = needed => needed === null ? `not at the bottom after ${most} steps` : `at the bottom after ${needed} steps`;
  ui.draw = () => {
    scale = (ui.width - 12 - 2 * LEFT) / (2 * reach[0]);
    strip = 2 * reach[1] * scale;
    const w = ui.width - 12, h = 2 * (TITLE + strip) + GAP + 8;
    map.replaceChildren();
    const svg = ui.svg("svg", {width: w, height: h, viewBox: `0 0 ${w} ${h}`, "aria-hidden": "true"}, map);
    const walks = [walk(0), walk(momentum)];
    walks.forEach(({path, needed}, i) => {
      const top = i * (TITLE + strip + GAP) + TITLE, role = i ? "data" : "gradient";
      const X = u => LEFT + (u + reach[0]) * scale, Y = v => top + (reach[1] - v) * scale;
      ui.svg("text", {x: LEFT, y: top - 7, "font-weight": "bold"}, svg, `${i ? `Momentum ${momentum.toFixed(2)}` :
        "Without momentum"}: ${needed === null ? "never at the bottom" : `${needed} steps`}`);
      const view = ui.svg("svg", {x: LEFT, y: top, width: 2 * reach[0] * scale, height: strip,
        viewBox: `${LEFT} ${top} ${2 * reach[0] * scale} ${strip}`}, svg);
      ui.svg("rect", {x: LEFT, y: top, width: 2 * reach[0] * scale, height: strip, fill: look.grid}, view);
      [...levels].reverse().forEach((level, k) => ui.svg("ellipse", {cx: X(0), cy: Y(0), rx: Math.sqrt(2 * level / curvature[0]) * scale,
        ry: Math.sqrt(2 * level / curvature[1]) * scale, fill: k % 2 ? look.grid : look.paper, stroke: look.idle}, view));
      const far = x => Math.max(-4000, Math.min(4000, x)), spots = path.slice(0, shown + 1).map(([u, v]) => [far(X(u)), far(Y(v))])
        .filter(([x, y]) => Number.isFinite(x + y));
      for (const [stroke, width] of [[look.paper, 4], [look[role], 1.8]])
        ui.svg("polyline", {points: spots.join(" "), fill: "none", stroke, "stroke-width": width}, view);
      spots.forEach(([x, y]) => i ? ui.svg("path", {d: `M${x} ${y - 4}l4 7h-8Z`, fill: look[role], stroke: look.ink, "stroke-width": .6}, view) :
        ui.svg("circle", {cx: x, cy: y, r: 3, fill: look[role], stroke: look.ink, "stroke-width": .6}, view));
      ui.svg("path", {d: `M${X(0) - 7} ${Y(0)}h14M${X(0)} ${Y(0) - 7}v14`, stroke: look.ink, "stroke-width": 2}, view);
      ui.svg("rect", {x: X(start[0]) - 5.5, y: Y(start[1]) - 5.5, width: 11, height: 11, fill: look.weight, stroke: look.ink}, view);
    });
    back.setAttribute("aria-disabled", shown === 0);
    forth.setAttribute("aria-disabled", shown === drawn);
    const [plain, heavy] = walks, at = walks.map(x => x.path[shown]), losses = at.map(height);
    Object.assign(ui.root.dataset, {start: JSON.stringify(start), lr, momentum, shown, plain: JSON.stringify(plain.needed),
      heavy: JSON.stringify(heavy.needed), here: JSON.stringify(at), losses: JSON.stringify(losses)});
    const loss = x => x < 1e6 ? num(x) : "more than a million";
    ui.caption(`From ${pair(start)}, rate ${lr.toFixed(1)}. Without momentum: ${after(plain.needed)}. With momentum ` +
      `${momentum.toFixed(2)}: ${after(heavy.needed)}. At step ${shown} the losses are ${loss(losses[0])} and ${loss(losses[1])}.`);
  };
}
