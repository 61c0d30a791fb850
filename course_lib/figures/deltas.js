// One sample in a two-layer network of sigmoids: values go forward, deltas back, step by step; any number can be changed.
// data: x, y, w, w2 (numbers), chosen (layer, from, to), places (rows of 1, 2, 3 neurons), value, back, tint, green (colours).
ui => {
  const given = ui.data, look = ui.look, copy = v => JSON.parse(JSON.stringify(v));
  const D = given.x.length, M = given.w2.length, C = given.y.length, HALF = 27, TALL = 25, ROW = 110, TOP = 56, LEFT = 30, RIGHT = 48;
  let net = copy({x: given.x, y: given.y, w: given.w, w2: given.w2}), at = 0, told = "";
  const range = n => [...Array(n).keys()], sum = all => all.reduce((a, b) => a + b, 0);
  // What can be changed: [array, from, to], or [array, place].
  const items = [...range(D).map(i => ["x", i]), ...range(D).flatMap(i => range(M).map(j => ["w", i, j])),
    ...range(M).flatMap(j => range(C).map(k => ["w2", j, k])), ...range(C).map(k => ["y", k])];
  const [layer, from, to] = given.chosen;
  let chosen = items.findIndex(t => t[0] === ["w", "w2"][layer] && t[1] === from && t[2] === to);
  const get = ([name, i, j]) => j === undefined ? net[name][i] : net[name][i][j];
  const put = ([name, i, j], v) => { if (j === undefined) net[name][i] = v; else net[name][i][j] = v; };
  const named = ([name, i, j]) => name === "x" ? `input I${i + 1}` : name === "y" ? `wanted of O${i + 1}` :
    name === "w" ? `I${i + 1} to H${j + 1}` : `H${i + 1} to O${j + 1}`;
  const number = (v, digits) => { const t = v.toFixed(digits); return +t === 0 ? t.replace("-", "") : t.replace("-", "−"); };
  const plain = v => number(+v.toFixed(2), Number.isInteger(+v.toFixed(2)) ? 0 : 2);
  const put2 = v => v < 0 ? `(${plain(v)})` : plain(v), put4 = v => v < 0 ? `(${number(v, 4)})` : number(v, 4);
  const f = z => 1 / (1 + Math.exp(-z));
  const run = n => {
    const z = range(M).map(j => sum(n.x.map((v, i) => v * n.w[i][j]))), a = z.map(f);
    const g = range(C).map(k => sum(a.map((v, j) => v * n.w2[j][k]))), o = g.map(f);
    const J = .5 * sum(o.map((v, k) => (v - n.y[k]) ** 2));
    const delta_g = o.map((v, k) => (v - n.y[k]) * v * (1 - v));
    const delta_z = a.map((v, j) => sum(delta_g.map((d, k) => d * n.w2[j][k])) * v * (1 - v));
    return {z, a, g, o, J, delta_g, delta_z, dw: n.x.map(v => delta_z.map(d => v * d)), dw2: a.map(v => delta_g.map(d => v * d))};
  };
  const slope = (v, [name, i, j]) => name === "w" ? v.dw[i][j] : name === "w2" ? v.dw2[i][j] :
    name === "x" ? sum(v.delta_z.map((d, m) => d * net.w[i][m])) : -(v.o[i] - net.y[i]);
  // The steps, in order: [what, which neuron].
  const steps = [["given"], ...range(M).map(j => ["hidden", j]), ...range(C).map(k => ["output", k]), ["loss"],
    ...range(C).map(k => ["delta of O", k]), ...range(C).map(k => ["weights of O", k]), ...range(M).map(j => ["delta of H", j]),
    ...range(M).map(j => ["weights of H", j]), ["all"]];
  const end = steps.length - 1, when = (what, n) => at >= steps.findIndex(s => s[0] === what && (n === undefined || s[1] === n));
  const go = to => { at = Math.max(0, Math.min(end, to)); told = ""; };
  const back = ui.button("Back", () => go(at - 1)), next = ui.button("Next", () => go(at + 1)), all = ui.button("All", () => go(end));
  const select = to => { chosen = (to + items.length) % items.length; told = ""; slider.set(get(items[chosen])); };
  const say = v => `${named(items[chosen])} = ${plain(v)}`;
  const slider = ui.slider("change", {min: -6, max: 6, value: get(items[chosen]), step: .1, say}, v => {
    const before = run(net).J;
    put(items[chosen], v);
    told = `J was ${number(before, 4)} and is now ${number(run(net).J, 4)}. `;
  });
  ui.button("Step downhill", () => {
    const v = run(net), before = v.J;
    net.w = net.w.map((row, i) => row.map((w, j) => w - v.dw[i][j]));
    net.w2 = net.w2.map((row, i) => row.map((w, j) => w - v.dw2[i][j]));
    slider.set(get(items[chosen]));
    told = `Every weight took a step of minus its own gradient, all at once: J fell from ${number(before, 4)} to ${number(run(net).J, 4)}. `;
    if (run(net).J > before) told = told.replace("fell", "went");
  });
  ui.button("Start again", () => { net = copy({x: given.x, y: given.y, w: given.w, w2: given.w2}); at = 0; told = ""; slider.set(get(items[chosen])); });
  const pad = ui.html("div", {tabindex: 0, role: "group",
    "aria-label": "Network: left and right walk back and on, up and down choose a number"}, ui.stage);
  ui.keys(pad, {ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(end),
    ArrowUp: () => select(chosen - 1), ArrowDown: () => select(chosen + 1)});
  const rule = ui.html("p", {style: "margin:8px 8px 4px;font-weight:bold;overflow-wrap:anywhere"}, ui.stage);
  const sums = ui.html("p", {style: "margin:0 8px 8px;overflow-wrap:anywhere"}, ui.stage);
  const words = (v, [what, n]) => {
    const prime = u => `${number(u, 4)}·(1 − ${number(u, 4)})`;
    if (what === "hidden") return ["a = f(z), where z is the sum of x·w over the inputs", `H${n + 1}: z = ${net.x.map((x, i) => `${put2(x)}·${put2(net.w[i][n])}`).join(" + ")} = ` +
      `${number(v.z[n], 2)}, a = f(z) = ${number(v.a[n], 2)}`, `H${n + 1} adds up what comes in, and f squeezes the sum.`];
    if (what === "output") return ["o = f(g), where g is the sum of a·w over the hidden neurons", `O${n + 1}: g = ${v.a.map((a, j) => `${put2(a)}·${put2(net.w2[j][n])}`).join(" + ")} = ` +
      `${number(v.g[n], 2)}, o = f(g) = ${number(v.o[n], 2)}`, `O${n + 1} says ${number(v.o[n], 2)}; wanted is ${number(net.y[n], 2)}.`];
    if (what === "loss") return ["J = ½ · sum of (o − y)²", `J = ${v.o.map((o, k) => `½·(${number(o, 4)} − ${put2(net.y[k])})²`).join(" + ")} = ${number(v.J, 4)}`,
      "The forward pass is done. Now the same way back, from J to the inputs."];
    if (what === "delta of O") return ["δ = (o − y) · o(1 − o)", `O${n + 1}: δ = (${number(v.o[n], 4)} − ${put2(net.y[n])})·${prime(v.o[n])} = ${number(v.delta_g[n], 4)}`,
      `How J changes with the sum g of O${n + 1}: ${v.delta_g[n] < 0 ? "a larger sum would make J smaller" : "a smaller sum would make J smaller"}.`];
    if (what === "weights of O") return ["dJ/dw = (value where the edge begins) · (δ where it ends)", `${v.a.map((a, j) => `H${j + 1}: ${number(a, 4)}·${put4(v.delta_g[n])} = ${number(v.dw2[j][n], 4)}`).join("; ")}`,
      `One δ serves all ${M} weights of O${n + 1}.`];
    if (what === "delta of H") return ["δ = (sum of w·δ over the edges that leave) · a(1 − a)", `H${n + 1}: δ = (${v.delta_g.map((d, k) => `${put2(net.w2[n][k])}·${put4(d)}`).join(" + ")})·${prime(v.a[n])} = ${number(v.delta_z[n], 4)}`,
      `On the edges: what each output sends back to H${n + 1}, its δ times the edge's weight. Paths add.`];
    if (what === "weights of H") return ["dJ/dw = (value where the edge begins) · (δ where it ends)", `${net.x.map((x, i) => `I${i + 1}: ${plain(x)}·${put4(v.delta_z[n])} = ${number(v.dw[i][n], 4)}`).join("; ")}`,
      `The same rule as at the outputs, for the weights of H${n + 1}.`];
    if (what === "all") return ["every dJ/dw, from one walk forward and one back", `${D * M + M * C} gradients; J = ${number(v.J, 4)}`,
      "Change any number: all the others follow."];
    return ["Given: the inputs, the weights on the edges, and what is wanted", "Press Next, or the right arrow key.",
      "Choose a number in the drawing to change it. Everything is computed anew."];
  };
  ui.draw = () => {
    const W = Math.max(340, Math.min(ui.width, 560)), gap = (W - LEFT - RIGHT) / 2, v = run(net), step = steps[at], [what, n] = step;
    const low = TOP + ROW * 2 + 54, H = low + 20;
    const spot = [D, M, C].map((size, k) => given.places[size].map(row => [LEFT + k * gap, TOP + ROW * row]));
    const [xo] = spot[2][0];
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}, parent = svg) => ui.svg("text", {x, y, "text-anchor": "middle", ...extra}, parent, t);
    const touch = (node, item) => { node.style.cursor = "pointer"; node.addEventListener("click", () => { select(item); ui.draw(); }); return node; };
    const place = item => items.findIndex(t => t.join() === item.join());
    const red = (x, y, t) => {
      const half = 3.55 * t.length + 1;
      ui.svg("rect", {x: x - half, y: y - 8, width: 2 * half, height: 16, rx: 3, fill: given.tint, stroke: look.gradient, "pointer-events": "none"}, svg);
      text(x, y + 4.3, t, {style: `fill:${given.back}`, "pointer-events": "none"});
    };
    ["input x", "hidden a", "output o"].forEach((head, k) => text(k ? spot[k][0][0] : 4, 16, head,
      {"font-weight": "bold", "text-anchor": k ? "middle" : "start"}));
    // The edges: grey, those of this step strong, with an arrow in the direction in which the numbers travel.
    const strong = (layer, i, j) => layer === 0 ? (what === "hidden" || what === "weights of H") && j === n :
      ((what === "output" || what === "weights of O") && j === n) || (what === "delta of H" && i === n);
    const join = (points, on, backwards) => {
      const colour = !on ? look.grid : backwards ? look.gradient : look.output;
      ui.svg("polyline", {points: points.map(p => p.join()).join(" "), fill: "none", stroke: colour, "stroke-width": on ? 2.5 : 1.5}, svg);
      if (!on) return;
      const [p, q] = points.length > 2 ? [points[1], points[2]] : points, t = .5, [tail, head] = backwards ? [q, p] : [p, q];
      const far = Math.hypot(head[0] - tail[0], head[1] - tail[1]), ux = (head[0] - tail[0]) / far, uy = (head[1] - tail[1]) / far;
      const x = tail[0] + t * far * ux, y = tail[1] + t * far * uy;
      ui.svg("path", {d: `M${x + 6 * ux} ${y + 6 * uy}L${x - 5 * ux - 5 * uy} ${y - 5 * uy + 5 * ux}L${x - 5 * ux + 5 * uy} ${y - 5 * uy - 5 * ux}Z`, fill: colour}, svg);
    };
    const ends = spot[2].map(([x, y]) => [[x, y], [W - 5, y], [W - 5, low], [x, low]]);
    const edges = [[0, "w", net.w, v.dw], [1, "w2", net.w2, v.dw2]];
    const each = act => edges.forEach(([layer, name, w, dw]) => w.forEach((row, i) => row.forEach((weight, j) =>
      act(layer, name, i, j, weight, dw[i][j], spot[layer][i], spot[layer + 1][j]))));
    const backwards = what.startsWith("delta") || what.startsWith("weights");
    for (const on of [false, true]) {
      ends.forEach((points, k) => { const s = what === "loss" || (what === "delta of O" && k === n); if (s === on) join(points, on, what !== "loss"); });
      each((layer, name, i, j, w, d, p, q) => { if (strong(layer, i, j) === on) join([p, q], on, backwards); });
    }
    each((layer, name, i, j, weight, d, p, q) => {
      const [x, y] = [p[0] + .26 * (q[0] - p[0]), p[1] + .26 * (q[1] - p[1])], t = plain(weight), item = place([name, i, j]);
      const half = 3.6 * t.length + 3;
      touch(ui.svg("rect", {x: x - half, y: y - 9, width: 2 * half, height: 17, rx: 3, fill: look.paper, "data-item": item,
        stroke: item === chosen ? look.data : "none", "stroke-width": 2.5}, svg), item);
      text(x, y + 4, t, {"pointer-events": "none", "font-weight": item === chosen ? "bold" : "normal"});
    });
    each((layer, name, i, j, weight, d, p, q) => {
      // Beside the neuron where the edge ends, on the edge; all at once, a little closer to its end, so that they do not meet.
      const put = u => {
        const t = number(u, 4), x = q[0] - HALF - 4 - 3.55 * t.length, on = (x - p[0]) / (q[0] - p[0]);
        red(x, p[1] + (what === "all" ? Math.max(on, .715) : on) * (q[1] - p[1]), t);
      };
      if (layer === 1 && what === "delta of H" && i === n) put(v.delta_g[j] * weight);
      else if (what === "all" || (strong(layer, i, j) && what.startsWith("weights"))) put(d);
    });
    const layers = [["I", net.x, range(D).map(() => true), []],
      ["H", v.a, range(M).map(j => when("hidden", j)), range(M).map(j => when("delta of H", j) && v.delta_z[j])],
      ["O", v.o, range(C).map(k => when("output", k)), range(C).map(k => when("delta of O", k) && v.delta_g[k])]];
    layers.forEach(([letter, values, known, deltas], k) => values.forEach((value, i) => {
      const [x, y] = spot[k][i], item = k ? -1 : place(["x", i]), now = n === i && ((k === 1 && ["hidden", "delta of H"].includes(what)) || (k === 2 && ["output", "delta of O"].includes(what)));
      const node = ui.svg("rect", {x: x - HALF, y: y - TALL, width: 2 * HALF, height: 2 * TALL, rx: 9, fill: known[i] ? given.green : look.paper,
        stroke: item === chosen && !k ? look.data : known[i] ? look.output : look.idle,
        "stroke-width": now || (item === chosen && !k) ? 3.5 : 1.5, "stroke-dasharray": known[i] ? "none" : "4 3"}, svg);
      if (!k) { touch(node, item); node.setAttribute("data-item", item); }
      const quiet = {"pointer-events": "none"}, has = typeof deltas[i] === "number";
      if (has) ui.svg("path", {d: `M${x - HALF + 2} ${y + 8}h${2 * HALF - 4}v${TALL - 16}q0 6 -7 6h-${2 * HALF - 18}q-7 0 -7 -6z`, fill: given.tint}, svg);
      text(x, y - (k ? 12 : 4), `${letter}${i + 1}`, {"font-weight": "bold", ...quiet});
      if (known[i]) text(x, y + (k ? 3 : 12), number(value, 2), {style: `fill:${given.value}`, ...quiet});
      if (has) text(x, y + 19, number(deltas[i], 4), {style: `fill:${given.back}`, ...quiet});
    }));
    // What is wanted stands below each output, where the error arises.
    spot[2].forEach(([x, y], k) => {
      const item = place(["y", k]), t = `wanted ${plain(net.y[k])}`;
      touch(ui.svg("rect", {x: x - 31, y: y + TALL + 3, width: 74, height: 18, rx: 3, fill: look.paper, "data-item": item,
        stroke: item === chosen ? look.data : "none", "stroke-width": 2.5}, svg), item);
      text(x + 6, y + TALL + 16, t, {"pointer-events": "none"});
    });
    const done = when("loss");
    ui.svg("rect", {x: xo - 43, y: low - 13, width: 86, height: 26, rx: 5, fill: done ? given.green : look.paper, stroke: done ? look.output : look.idle,
      "stroke-width": what === "loss" ? 3.5 : 1.5, "stroke-dasharray": done ? "none" : "4 3"}, svg);
    text(xo, low + 4, done ? `J = ${number(v.J, 4)}` : "J", {"font-weight": "bold"});
    const [formula, numbers, sentence] = words(v, step);
    rule.textContent = formula;
    sums.textContent = numbers;
    back.setAttribute("aria-disabled", at === 0);
    for (const button of [next, all]) button.setAttribute("aria-disabled", at === end);
    const item = items[chosen], slow = slope(v, item), moved = copy(net);
    const known = item[0] === "w2" ? when("weights of O", item[2]) : item[0] === "w" ? when("weights of H", item[2]) : at === end;
    if (item[2] === undefined) moved[item[0]][item[1]] += .1; else moved[item[0]][item[1]][item[2]] += .1;
    const fact = known ? ` Chosen: ${named(item)}, slope ${number(slow, 4)}. Raise it by 0.1, and J should change by about ${number(.1 * slow, 4)}; ` +
      `run forward again, it changes by ${number(run(moved).J - v.J, 4)}.` : "";
    Object.assign(ui.root.dataset, {step: at, what: step.map((s, i) => i ? s + 1 : s).join(" "), chosen: named(item), numbers: JSON.stringify({...v, slope: slow})});
    ui.caption(`${told}${sentence}${fact}`);
  };
}
