// A graph of numbers: leaves are changed by sliders, values run forward along the edges, gradients backward.
// data: nodes in topological order (name, op, parents by place, column, row, role, value of a leaf), limits, step,
// choice: whether the reader may let the last share replace the others; finished: whether it opens at the last step.
ui => {
  const {nodes, limits: [low, high], step} = ui.data, look = ui.look, last = nodes.length - 1, BW = 132, BH = 78;
  const OPS = {  // value of the parents' values; shares of a gradient g, given the parents' values and the own one
    "+": [(a, b) => a + b, (g, a, b) => [g, g]],
    "-": [(a, b) => a - b, (g, a, b) => [g, -g]],
    "*": [(a, b) => a * b, (g, a, b) => [g * b, g * a]],
    sigmoid: [z => 1 / (1 + Math.exp(-z)), (g, z, _, s) => [g * s * (1 - s)]],
    half_squared_sum: [(o, y) => .5 * (y - o) ** 2, (g, o, y) => [g * (o - y), g * (y - o)]],
  };
  const SIGNS = {"+": " + ", "-": " − ", "*": " · "};
  // Short enough for a box: four digits, or a power of ten where the number is tiny.
  const short = v => v && Math.abs(v) < .01 ? v.toExponential(1) : `${+v.toFixed(Math.abs(v) < 1 ? 3 : 2)}`;
  const say = v => short(v).replace(/-/g, "−"), low0 = v => v < 0 ? `(${say(v)})` : say(v);
  const formula = (op, [a, b]) => SIGNS[op] ? a + SIGNS[op] + b : op === "sigmoid" ? `σ(${a})` : `½(${b} − ${a})²`;
  const leaves = nodes.filter(n => !n.parents.length), computed = [...nodes.keys()].filter(i => nodes[i].parents.length);
  // One step a value, one a share: forward in the order of the list, backward in its reverse.
  const steps = [{what: "given"}, ...computed.map(i => ({what: "value", i})), {what: "seed"},
    ...computed.slice().reverse().flatMap(i => nodes[i].parents.map((to, slot) => ({what: "share", i, to, slot})))];
  const uses = nodes.map((_, i) => nodes.reduce((n, m) => n + m.parents.filter(p => p === i).length, 0));
  let at = ui.data.finished ? steps.length - 1 : 0, adds = true, timer = null;
  const go = to => { at = Math.max(0, Math.min(steps.length - 1, to)); };
  const stop = () => { clearInterval(timer); timer = null; play.textContent = "Play"; };
  const by = to => () => { stop(); go(to()); };
  const play = ui.button("Play", () => {
    if (timer) return stop();
    go(at === steps.length - 1 ? 0 : at + 1);
    play.textContent = "Pause";
    timer = setInterval(() => {
      if (!ui.root.isConnected) return clearInterval(timer);
      go(at + 1);
      if (at === steps.length - 1) stop();
      ui.draw();
    }, 1500);
  });
  const first = ui.button("Start", by(() => 0)), back = ui.button("Step back", by(() => at - 1));
  const forth = ui.button("Step", by(() => at + 1)), end = ui.button("End", by(() => steps.length - 1));
  for (const leaf of leaves) ui.slider(leaf.name, {min: low, max: high, step, value: leaf.value, say}, v => { leaf.value = v; });
  if (ui.data.choice && Math.max(...uses) > 1) ui.choice("where paths meet", ["add the shares", "keep the last"], i => { adds = i === 0; });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "The graph: left and right go through the steps"}, ui.stage);
  ui.keys(pad, {ArrowLeft: by(() => at - 1), ArrowRight: by(() => at + 1), Home: by(() => 0), End: by(() => steps.length - 1)});

  // Values of all nodes, and what each has received after so many steps.
  const compute = (until, add) => {
    const value = [], got = nodes.map(() => []), grad = nodes.map(() => null);
    nodes.forEach((n, i) => { value[i] = n.parents.length ? OPS[n.op][0](...n.parents.map(p => value[p])) : n.value; });
    const share = (i, slot, g) => {
      const [a, b] = nodes[i].parents.map(p => value[p]);
      return OPS[nodes[i].op][1](g, a, b, value[i])[slot];
    };
    const known = nodes.map(n => !n.parents.length);
    let sent = null;
    steps.slice(0, until + 1).forEach(s => {
      if (s.what === "value") known[s.i] = true;
      if (s.what === "seed") grad[last] = 1;
      if (s.what !== "share") return;
      sent = share(s.i, s.slot, grad[s.i]);
      got[s.to].push(sent);
      grad[s.to] = add && grad[s.to] !== null ? grad[s.to] + sent : sent;
    });
    return {value, grad, got, known, sent, slope: (i, slot) => share(i, slot, 1)};
  };

  ui.draw = () => {
    const now = steps[at], c = compute(at, adds), right = compute(at, true);
    const wrong = nodes.map((_, i) => c.grad[i] !== null && c.grad[i] !== right.grad[i]);
    const across = Math.max(...nodes.map(n => n.column)) + 1, rows = Math.max(...nodes.map(n => n.row)) + 1;
    const gap = (Math.min(ui.width, 760) - 16 - across * BW) / Math.max(1, across - 1), lying = gap >= 38;
    const W = lying ? Math.min(ui.width, 760) : ui.width, H = lying ? rows * BH + (rows - 1) * 26 + 16 : across * BH + (across - 1) * 48 + 16;
    const aside = Math.min(BW + 40, W - 12 - BW);
    const place = n => lying ? [8 + n.column * (BW + gap), 8 + n.row * (BH + 26)] :
      [(W - BW) / 2 + (n.row - (rows - 1) / 2) * aside, 8 + n.column * (BH + 48)];
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const edge = (i, slot) => {
      const n = nodes[i], p = nodes[n.parents[slot]], [x1, y1] = place(p), [x2, y2] = place(n), two = n.parents.length - 1;
      const s = 13 * (2 * slot - two), from = n.parents[0] === n.parents[1] ? s : 0;
      return lying ? [[x1 + BW, y1 + BH / 2 + from], [x2 - 3, y2 + BH / 2 + s]] : [[x1 + BW / 2 + from, y1 + BH], [x2 + BW / 2 + s, y2 - 3]];
    };
    const moving = [];
    const arrow = (i, slot) => {
      const sends = now.what === "share" && now.i === i && now.slot === slot, takes = now.what === "value" && now.i === i;
      const [a, b] = sends ? edge(i, slot).reverse() : edge(i, slot), far = Math.hypot(b[0] - a[0], b[1] - a[1]);
      const [ux, uy] = [(b[0] - a[0]) / far, (b[1] - a[1]) / far], colour = sends ? look.gradient : takes ? look.data : c.known[i] ? look.muted : look.idle;
      const line = sends || takes ? 3 : 1.3, d = `M${a[0]} ${a[1]}L${b[0]} ${b[1]}`;
      ui.svg("path", {d, stroke: colour, "stroke-width": line, fill: "none", "stroke-dasharray": c.known[i] ? null : "4 4"}, svg);
      ui.svg("path", {d: `M${b[0]} ${b[1]}L${b[0] - 10 * ux - 5 * uy} ${b[1] - 10 * uy + 5 * ux}L${b[0] - 10 * ux + 5 * uy} ${b[1] - 10 * uy - 5 * ux}Z`,
        fill: colour}, svg);
      if (sends || takes) moving.push([d, colour, a[0] + .7 * (b[0] - a[0]), a[1] + .7 * (b[1] - a[1]), sends ? say(c.sent) : say(c.value[nodes[i].parents[slot]])]);
    };
    computed.forEach(i => nodes[i].parents.forEach((_, slot) => arrow(i, slot)));
    nodes.forEach((n, i) => {
      const [x, y] = place(n), known = c.known[i], colour = wrong[i] ? look.hazard : known ? look[n.role] : look.idle;
      const active = now.i === i || (now.what === "share" && now.to === i) || (now.what === "seed" && i === last);
      const text = (dx, dy, t, extra = {}) => ui.svg("text", {x: x + dx, y: y + dy, "pointer-events": "none", ...extra}, svg, t);
      ui.svg("rect", {x, y, width: BW, height: BH, rx: 8, fill: look.paper}, svg);
      const box = ui.svg("rect", {x, y, width: BW, height: BH, rx: 8, fill: known ? colour : look.paper, "fill-opacity": known ? .12 : 1,
        stroke: colour, "stroke-width": active ? 3 : 1.3, "stroke-dasharray": known ? null : "4 4"}, svg);
      box.style.cursor = "pointer";
      const complete = i === last ? steps.findIndex(s => s.what === "seed") : steps.map(s => s.to).lastIndexOf(i);
      box.addEventListener("click", () => { stop(); go(complete); ui.draw(); });
      text(8, 17, n.name + (wrong[i] ? " ✗" : ""), {"font-weight": "bold"});
      if (n.parents.length) text(18 + 8 * n.name.length + (wrong[i] ? 10 : 0), 17, `= ${formula(n.op, n.parents.map(p => nodes[p].name))}`, {style: `fill:${look.muted}`});
      [["value", known ? c.value[i] : null, look[n.role]], ["gradient", c.grad[i], look.gradient]].forEach(([word, v, paint], k) => {
        ui.svg("rect", {x: x + 8, y: y + 26 + 19 * k, width: 9, height: 9, fill: v === null ? look.paper : paint, stroke: paint}, svg);
        text(22, 35 + 19 * k, v === null ? word : `${word} ${say(v)}`, v === null ? {style: `fill:${look.muted}`} : {});
      });
      const got = c.got[i];
      if (got.length > 1) text(8, 72, adds ? `= ${got.map((v, k) => k && v >= 0 ? `+ ${say(v)}` : k ? `− ${say(-v)}` : say(v)).join(" ")}` : `lost: ${got.slice(0, -1).map(say).join(", ")}`, {style: `fill:${look.muted}`});
    });
    // Drawn last: the number on its way, nearer its end since edges cross in the middle, and a dot that runs there.
    const still = window.matchMedia && matchMedia("(prefers-reduced-motion: reduce)").matches;
    for (const [d, colour, x, y, t] of moving) {
      const wide = 8 + 7.2 * t.length;
      ui.svg("rect", {x: x - wide / 2, y: y - 9, width: wide, height: 18, rx: 4, fill: look.paper, stroke: colour, "stroke-width": 1.3}, svg);
      ui.svg("text", {x, y: y + 4, "text-anchor": "middle", "font-weight": "bold"}, svg, t);
      if (still) continue;
      const dot = ui.svg("circle", {r: 6, fill: colour, "fill-opacity": .75}, svg);
      const run = ui.svg("animateMotion", {path: d, dur: "0.8s", fill: "freeze", begin: "indefinite"}, dot);
      if (run.beginElement) run.beginElement();
    }
    for (const [button, off] of [[first, at === 0], [back, at === 0], [forth, at === steps.length - 1], [end, at === steps.length - 1]])
      button.setAttribute("aria-disabled", off);
    const name = i => nodes[i].name, list = (all, f) => all.map(f).join(", ");
    const all = list(leaves, l => `${l.name} = ${say(l.value)}`);
    let words;
    if (now.what === "given") words = `Given are the leaves: ${all}. Everything else waits for its parents.`;
    if (now.what === "value") words = `Forward: ${name(now.i)} = ${formula(nodes[now.i].op, nodes[now.i].parents.map(name))} = ` +
      `${formula(nodes[now.i].op, nodes[now.i].parents.map(p => low0(c.value[p])))} = ${say(c.value[now.i])}. Its parents were ready.`;
    if (now.what === "seed") words = `Backward begins at the goal: d${name(last)}/d${name(last)} = 1, for ${name(last)} changes one to one with itself.`;
    if (now.what === "share") {
      const had = c.got[now.to].slice(0, -1), before = compute(at - 1, adds).grad[now.to];
      words = `Backward: ${name(now.i)} sends ${name(now.to)} a share, its gradient times the slope of the edge: ` +
        `${low0(c.grad[now.i])} · ${low0(c.slope(now.i, now.slot))} = ${say(c.sent)}.`;
      if (had.length) words += adds ? ` ${name(now.to)} had ${say(before)}, and now has ${say(before)} + ${low0(c.sent)} = ${say(c.grad[now.to])}.` :
        ` It replaces the ${say(before)} that ${name(now.to)} had.`;
    }
    if (at === steps.length - 1) words = `At ${all}: ${name(last)} = ${say(c.value[last])}, and one walk back has found ` +
      `${list(leaves, l => `d${name(last)}/d${l.name} = ${say(c.grad[nodes.indexOf(l)])}`)}.` +
      (wrong.some(Boolean) ? ` Wrong: ${list(nodes.filter((_, i) => wrong[i]), n => n.name)}.` : "");
    Object.assign(ui.root.dataset, {step: at, steps: steps.length, values: JSON.stringify(c.value), grads: JSON.stringify(c.grad),
      got: JSON.stringify(c.got), wrong: nodes.filter((_, i) => wrong[i]).map(n => n.name).join(" "), lying});
    ui.caption(words);
  };
}
