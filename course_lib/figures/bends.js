// A curve, and a network of ReLU neurons that meets it at every bend; the reader says where the next bend stands.
// data: curves {name: values at k / n}, curve (the first one), most (neurons).
ui => {
  const {curves, curve, most} = ui.data, look = ui.look, names = Object.keys(curves), n = curves[curve].length - 1;
  let name = curve, bends = [], at = Math.round(n / 4), note = "";
  const minus = t => String(t).replace("-", "−"), r = v => minus(v.toFixed(2));
  // The network o = b2 + sum of w2[k] relu(x - place[k]) that meets the curve at 0, at 1 and at each bend.
  const network = () => {
    const y = curves[name], knots = [0, ...[...bends].sort((a, b) => a - b), n];
    const slopes = knots.slice(1).map((k, i) => (y[k] - y[knots[i]]) / ((k - knots[i]) / n));
    return {places: knots.slice(0, -1), w2: slopes.map((s, i) => s - (i ? slopes[i - 1] : 0)), b2: y[0]};
  };
  const output = ({places, w2, b2}, k) => places.reduce((o, p, i) => o + w2[i] * Math.max(0, (k - p) / n), b2);
  const farthest = net => {
    const misses = curves[name].map((v, k) => Math.abs(output(net, k) - v)), miss = Math.max(...misses);
    return [misses.findIndex(m => m > miss - 1e-9), miss];
  };
  const add = k => {
    note = "";
    if (bends.length + 1 >= most) note = `${most} neurons are the most here. `;
    else if (k < 1 || k > n - 1 || bends.includes(k)) note = "There is a bend already. ";
    else bends.push(k);
  };
  ui.choice("the curve:", names, i => { name = names[i]; bends = []; note = ""; }, names.indexOf(name));
  const more = ui.button("bend where it misses most", () => add(farthest(network())[0]));
  const fewer = ui.button("take the last one away", () => { bends.pop(); note = ""; });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "The curve: arrows move the pointer, Enter bends there"}, ui.stage);
  const move = by => () => { at = Math.max(1, Math.min(n - 1, at + by)); };
  ui.keys(pad, {ArrowLeft: move(-2), ArrowRight: move(2), Enter: () => add(at), " ": () => add(at), Backspace: () => { bends.pop(); note = ""; }});
  ui.draw = () => {
    const W = Math.min(ui.width, 640), L = 40, R = 12, T = 12, high = 220, low = 78, H = T + high + 30 + low + 34;
    const X = k => L + k / n * (W - L - R), Y = v => T + (1.25 - v) / 1.5 * high;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, more) => ui.svg("text", {x, y, ...more}, svg, t);
    const line = (x1, y1, x2, y2, more) => ui.svg("line", {x1, y1, x2, y2, ...more}, svg);
    const net = network(), [worst, miss] = farthest(net), y = curves[name];
    const clip = `bends-${ui.root.dataset.live}`, defs = ui.svg("clipPath", {id: clip}, svg);
    ui.svg("rect", {x: L, y: T, width: W - L - R, height: high}, defs);
    ui.svg("rect", {x: L, y: T, width: W - L - R, height: high, fill: look.paper, stroke: look.muted}, svg);
    for (const v of [0, .5, 1]) {
      line(L, Y(v), W - R, Y(v), {stroke: look.grid});
      text(L - 6, Y(v) + 4, String(v), {"text-anchor": "end"});
    }
    const path = f => y.map((_, k) => `${X(k).toFixed(1)},${Y(f(k)).toFixed(1)}`).join(" ");
    ui.svg("polyline", {points: path(k => y[k]), fill: "none", stroke: look.data, "stroke-opacity": .4, "stroke-width": 7, "stroke-linecap": "round"}, svg);
    ui.svg("polyline", {points: path(k => output(net, k)), fill: "none", stroke: look.output, "stroke-width": 2.5, "clip-path": `url(#${clip})`}, svg);
    if (miss > .004) {
      line(X(worst), Y(y[worst]), X(worst), Y(output(net, worst)), {stroke: look.hazard, "stroke-width": 3, "clip-path": `url(#${clip})`});
      const right = worst < n * .7;
      text(X(worst) + (right ? 7 : -7), Y((y[worst] + output(net, worst)) / 2) + 4, `misses by ${r(miss)}`, {"text-anchor": right ? "start" : "end",
        stroke: look.paper, "stroke-width": 4, "paint-order": "stroke"});
    }
    const top = T + high + 30, zero = top + low / 2, tall = Math.max(1, ...net.w2.map(Math.abs));
    text(L, top - 8, W < 360 ? "output weights" : "output weight of each neuron, at its bend", {"font-weight": "bold"});
    ui.svg("rect", {x: L, y: top, width: W - L - R, height: low, fill: look.paper, stroke: look.muted}, svg);
    line(L, zero, W - R, zero, {stroke: look.grid});
    text(L - 6, zero + 4, "0", {"text-anchor": "end"});
    if (net.w2.every(v => Math.abs(v) < 1e-9)) text(L + 8, zero - 8, "all 0 so far: the network is flat");
    net.places.forEach((k, i) => {
      if (i) {
        line(X(k), T, X(k), top + low, {stroke: look.weight, "stroke-dasharray": "4 4", "stroke-opacity": .6});
        ui.svg("circle", {cx: X(k), cy: Y(y[k]), r: 5, fill: look.weight, stroke: look.ink, "stroke-width": 1}, svg);
      }
      line(X(k), zero, X(k), zero - net.w2[i] / tall * (low / 2 - 4), {stroke: look.weight, "stroke-width": 6, "stroke-dasharray": net.w2[i] < 0 ? "4 2" : "none"});
    });
    ui.svg("path", {d: `M${X(at)} ${T + high - 1}l-6 10h12z`, fill: look.ink}, svg);
    for (const k of [0, n / 2, n]) text(X(k), H - 18, String(k / n), {"text-anchor": "middle"});
    text((L + W - R) / 2, H - 4, "x", {"text-anchor": "middle"});
    svg.style.cursor = "crosshair";
    svg.addEventListener("click", event => {
      const box = svg.getBoundingClientRect(), k = Math.round((event.clientX - box.left - L) / (W - L - R) * n);
      if (k < 1 || k > n - 1) return;
      at = k;
      add(k);
      ui.draw();
    });
    more.setAttribute("aria-disabled", bends.length + 1 >= most);
    fewer.setAttribute("aria-disabled", !bends.length);
    const first = net.places.slice(0, 3).map((k, i) => `${i ? (net.w2[i] < 0 ? " − " : " + ") : " + "}${r(i ? Math.abs(net.w2[i]) : net.w2[0])} relu(x${k ? ` − ${r(k / n)}` : ""})`).join("");
    Object.assign(ui.root.dataset, {curve: name, bends, at, w2: net.w2.map(v => +v.toFixed(4)), miss: miss.toFixed(4), worst,
      neurons: net.w2.length});
    const count = net.w2.length;
    ui.caption(`${note}${count} hidden neuron${count > 1 ? "s" : ""}, largest miss ${r(miss)}. o = ${r(net.b2)}${first.replace("+ −", "− ")}${count > 3 ? " + …" : ""}`);
  };
}
