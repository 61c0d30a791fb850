// A narrow valley, walked without momentum and with it, or with momentum and with Adam, from a start that one drags.
// data: curvature, reach, bottom, most, rates, momenta, drawn, start, lr, momentum, shown, levels; for Adam, adam with
// lr, rates, power, powers and betas. Walks as `valleys.walk` and `valleys.adam_walk`.
ui => {
  const {curvature, reach, bottom, most, rates, momenta, drawn, levels, adam} = ui.data, look = ui.look, MINUS = "−";
  let {lr, momentum, shown} = ui.data, start = [...ui.data.start], held = false, pace = adam && adam.lr, power = adam ? adam.power : 0;
  const height = ([u, v]) => .5 * (curvature[0] * u * u + curvature[1] * v * v);
  const gradient = p => p.map((w, i) => 10 ** power * (curvature[i] * w));
  const heavy = mu => {
    let velocity = [0, 0];
    return p => velocity = gradient(p).map((g, i) => mu * velocity[i] - lr * g);
  };
  const adaptive = ([one, two]) => {
    let m = [0, 0], v = [0, 0], t = 0;
    return p => {
      const slopes = gradient(p);
      t += 1;
      m = slopes.map((g, i) => one * m[i] + (1 - one) * g);
      v = slopes.map((g, i) => two * v[i] + (1 - two) * g * g);
      return m.map((a, i) => -pace * (a / (1 - one ** t)) / (Math.sqrt(v[i] / (1 - two ** t)) + 1e-8));
    };
  };
  const walk = step => {
    let p = start, last = -1;
    const path = [p];
    for (let k = 0; k <= most; k++) {
      if (!(height(p) < bottom)) last = k;
      const move = step(p);
      p = p.map((w, i) => w + move[i]);
      if (k < drawn) path.push(p);
    }
    return {path, needed: last < most ? last + 1 : null};
  };
  const within = (w, i) => Math.max(-reach[i], Math.min(reach[i], +w.toFixed(2)));
  const put = (u, v) => { start = [within(u, 0), within(v, 1)]; };
  const decimals = n => v => v.toFixed(n);
  if (adam) {
    const [least, greatest] = adam.powers;
    ui.slider("the loss times", {min: least, max: greatest, value: power, say: v => `${10 ** v}`}, v => { power = v; });
    ui.slider("Adam's rate", {min: adam.rates[0], max: adam.rates[1], step: .05, value: pace, say: decimals(2)}, v => { pace = v; });
  } else {
    ui.slider("learning rate", {min: rates[0], max: rates[1], step: .1, value: lr, say: decimals(1)}, v => { lr = v; });
    ui.slider("momentum", {min: momenta[0], max: momenta[1], step: .02, value: momentum, say: decimals(2)}, v => { momentum = v; });
  }
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
    const walks = adam ? [walk(heavy(momentum)), walk(adaptive(adam.betas))] : [walk(heavy(0)), walk(heavy(momentum))];
    const ball = `Momentum ${momentum.toFixed(2)}`, names = adam ? [ball, "Adam"] : ["Without momentum", ball];
    walks.forEach(({path, needed}, i) => {
      const top = i * (TITLE + strip + GAP) + TITLE, role = i ? "data" : "gradient";
      const X = u => LEFT + (u + reach[0]) * scale, Y = v => top + (reach[1] - v) * scale;
      ui.svg("text", {x: LEFT, y: top - 7, "font-weight": "bold"}, svg, `${names[i]}: ` +
        (needed === null ? "never at the bottom" : `${needed} steps`));
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
    const [above, below] = walks, at = walks.map(x => x.path[shown]), losses = at.map(height);
    Object.assign(ui.root.dataset, {start: JSON.stringify(start), lr, momentum, shown, plain: JSON.stringify(above.needed),
      heavy: JSON.stringify(below.needed), here: JSON.stringify(at), losses: JSON.stringify(losses)});
    const loss = x => x < 1e6 ? num(x) : "more than a million";
    const first = ({path}) => pair(path[1].map((w, i) => w - start[i]));
    ui.caption(adam ? `From ${pair(start)}, the loss times ${10 ** power}. Momentum ${momentum.toFixed(1)} at the rate ${lr.toFixed(1)}: ` +
      `first step ${first(above)}, ${after(above.needed)}. Adam at the rate ${pace.toFixed(2)}: first step ${first(below)}, ` +
      `${after(below.needed)}.` :
      `From ${pair(start)}, rate ${lr.toFixed(1)}. Without momentum: ${after(above.needed)}. With momentum ` +
      `${momentum.toFixed(2)}: ${after(below.needed)}. At step ${shown} the losses are ${loss(losses[0])} and ${loss(losses[1])}.`);
  };
}
