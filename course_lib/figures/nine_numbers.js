// A 2-2-1 network: nine sliders, the network with the numbers of one point, the map of answers, and the hidden space.
// data: start, presets {name: [nine numbers, between]}, buttons, between (names), most, step, square, corners, labels.
ui => {
  const {presets, buttons, between, most, step, square: [low, high], corners, labels, explains} = ui.data, look = ui.look;
  const names = ["w₁₁", "w₂₁", "b₁", "w₁₂", "w₂₂", "b₂", "v₁", "v₂", "c"], minus = t => String(t).replace("-", "−");
  let w = [...presets[ui.data.start][0]], act = presets[ui.data.start][1], probe = [.25, .5], pressed = ui.data.start, best = 0;
  const bend = z => act === "ReLU" ? Math.max(0, z) : act === "step" ? +(z >= 0) : z;
  const hidden = ([x1, x2]) => [bend(w[0] * x1 + w[1] * x2 + w[2]), bend(w[3] * x1 + w[4] * x2 + w[5])];
  const output = ([h1, h2]) => w[6] * h1 + w[7] * h2 + w[8];
  const choice = between.length > 1 && ui.choice("between the layers:", between, i => { act = between[i]; pressed = ""; },
    between.indexOf(act));
  const take = name => {
    [w, act] = [[...presets[name][0]], presets[name][1]];
    pressed = name;
    sliders.forEach((s, i) => s.set(w[i]));
    if (choice) choice.set(between.indexOf(act));
  };
  const tries = buttons.map(name => ui.button(name, () => take(name)));
  const sliders = names.map((name, i) => ui.slider(name, {min: -most, max: most, value: w[i], step, say: v => minus(v.toFixed(2))},
    v => { w[i] = v; pressed = ""; }));
  const rows = [];
  ["hidden neuron 1", "hidden neuron 2", "the output"].forEach((title, k) => {
    const bar = sliders[0].node.closest(".course-live-bar");
    const row = ui.html("div", {role: "group", "aria-label": title, style: "flex:1 1 100%;display:grid;gap:2px 14px;align-items:center"}, bar);
    const named = ui.html("span", {"aria-hidden": "true", style: "white-space:nowrap"}, row, ["hidden 1", "hidden 2", "output"][k]);
    for (const {node} of sliders.slice(3 * k, 3 * k + 3)) {
      const label = node.closest("label");
      Object.assign(label.querySelector("output").style, {textAlign: "right", fontVariantNumeric: "tabular-nums"});
      row.appendChild(label);
    }
    rows.push([row, named]);
  });
  // Three equal columns, so that the sliders of a matrix stand below each other; on a phone each below its name.
  const lay = narrow => rows.forEach(([row, named]) => {
    row.style.gridTemplateColumns = `${narrow ? "" : "64px "}repeat(3, minmax(0, 1fr))`;
    named.style.gridColumn = narrow ? "1 / -1" : "auto";
    row.querySelectorAll("label").forEach(label => {
      Object.assign(label.style, {display: "grid", gridTemplateColumns: narrow ? "1fr auto" : "24px minmax(60px, 1fr) 44px"});
      Object.assign(label.querySelector("input").style, {width: "100%", gridRow: narrow ? 2 : 1, gridColumn: narrow ? "1 / -1" : 2});
      Object.assign(label.querySelector("output").style, {gridRow: 1, gridColumn: narrow ? 2 : 3});
    });
  });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "A point of the map: arrows move it"}, ui.stage);
  const move = (k, by) => () => { probe[k] = Math.max(low, Math.min(high, Math.round(8 * (probe[k] + by)) / 8)); };
  ui.keys(pad, {ArrowLeft: move(0, -.125), ArrowRight: move(0, .125), ArrowDown: move(1, -.125), ArrowUp: move(1, .125),
    Home: () => { probe = [0, 0]; }, End: () => { probe = [1, 1]; }});
  // The part of a convex polygon where a . (x, y, 1) > 0.
  const cut = (polygon, a) => {
    const kept = [], score = polygon.map(([x, y]) => a[0] * x + a[1] * y + a[2]);
    polygon.forEach((p, i) => {
      const j = (i + 1) % polygon.length, q = polygon[j];
      if (score[i] > 0) kept.push(p);
      if (score[i] > 0 !== score[j] > 0) {
        const t = score[i] / (score[i] - score[j]);
        kept.push([p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1])]);
      }
    });
    return kept;
  };
  const box = (a, b) => [[a, a], [b, a], [b, b], [a, b]];
  // The bends cut the square into pieces; in each the output is a plane.
  const answered = () => {
    let pieces = [[box(low, high), []]];
    const lines = [w.slice(0, 3), w.slice(3, 6)];
    if (act !== "none") for (const a of lines)
      pieces = pieces.flatMap(([p, on]) => a[0] || a[1] ? [[cut(p, a), [...on, 1]], [cut(p, a.map(v => -v)), [...on, 0]]]
        : [[p, [...on, act === "step" ? +(a[2] >= 0) : +(a[2] > 0)]]]);
    return pieces.map(([p, on]) => {
      const plane = [0, 0, w[8] - .5];
      lines.forEach((a, i) => {
        const part = act === "none" ? a : act === "ReLU" ? a.map(v => on[i] * v) : [0, 0, on[i]];
        part.forEach((v, k) => { plane[k] += w[6 + i] * v; });
      });
      const part = cut(p, plane), on0 = ([x, y]) => Math.abs(plane[0] * x + plane[1] * y + plane[2]) < 1e-9;
      part.borders = part.map((q, i) => [q, part[(i + 1) % part.length]]).filter(([q, s]) => on0(q) && on0(s));
      return part;
    }).filter(p => p.length > 2);
  };
  const r = v => minus(+v.toFixed(2));
  ui.draw = () => {
    const W = Math.min(ui.width, 640), gap = W < 480 ? 30 : 44, side = (W - 2 * gap - 8) / 2, top = 176, H = top + side + 38;
    lay(ui.width < 480);
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    ui.svg("rect", {x: gap - 8, y: top, width: side, height: side, fill: look.paper}, svg);  // the map, to be clicked
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mid = {"text-anchor": "middle"}, bold = {"font-weight": "bold"}, mute = {style: `fill:${look.muted}`};
    const line = (a, b, more) => ui.svg("line", {x1: a[0], y1: a[1], x2: b[0], y2: b[1], ...more}, svg);
    // The network, with the numbers of the point.
    const h = hidden(probe), o = output(h), X = [W * .1, W * .46, W * .84], R = 22;
    const nodes = {x: [[X[0], 44], [X[0], 118]], h: [[X[1], 44], [X[1], 118]], o: [[X[2], 81]]};
    const edge = (a, b, v, at) => {
      line(a, b, {stroke: v ? look.weight : look.idle, "stroke-width": v ? 1 + Math.abs(v) : 1, "stroke-dasharray": v < 0 ? "6 4" : "none"});
      const px = a[0] + at * (b[0] - a[0]), py = a[1] + at * (b[1] - a[1]), t = r(v), wide = 7 * t.length + 4;
      ui.svg("rect", {x: px - wide / 2, y: py - 8, width: wide, height: 16, fill: look.paper}, svg);
      text(px, py + 4, t, mid);
    };
    nodes.h.forEach((b, i) => nodes.x.forEach((a, j) => edge(a, b, w[3 * i + j], .7)));
    nodes.h.forEach((a, i) => edge(a, nodes.o[0], w[6 + i], .55));
    const node = ([x, y], value, role, under) => {
      ui.svg("circle", {cx: x, cy: y, r: R, fill: look.paper, stroke: look[role], "stroke-width": 2.5}, svg);
      text(x, y + 4, r(value), {...mid, ...bold});
      text(x, y + R + 14, under, {...mid, ...mute});
    };
    nodes.x.forEach((p, j) => node(p, probe[j], "data", ["x₁", "x₂"][j]));
    nodes.h.forEach((p, i) => node(p, h[i], "data", `${["h₁", "h₂"][i]}, bias ${r(w[3 * i + 2])}`));
    node(nodes.o[0], o, "output", `o, bias ${r(w[8])}`);
    text(8, 14, "the network, at the point +", bold);
    // The two panels.
    const panel = (left, [a, b], title, axes, shaded) => {
      const at = ([x, y]) => [left + (x - a) / (b - a) * side, top + (1 - (y - a) / (b - a)) * side];
      text(left, top - 8, title, bold);
      for (const p of shaded) ui.svg("polygon", {points: p.map(at).join(" "), fill: look.output, "fill-opacity": .3}, svg);
      const every = Math.max(1, Math.ceil((b - a) / (W < 480 ? 5 : 8)));
      for (let k = Math.ceil(a / every) * every; k <= b; k += every) {
        line(at([k, a]), at([k, b]), {stroke: look.grid});
        line(at([a, k]), at([b, k]), {stroke: look.grid});
        text(at([k, a])[0], top + side + 14, minus(k), mid);
        text(left - 5, at([a, k])[1] + 4, minus(k), {"text-anchor": "end"});
      }
      text(left + side / 2, top + side + 30, `${axes[0]} to the right, ${axes[1]} up`, {...mid, ...mute});
      return at;
    };
    const seen = corners.map(hidden), given = seen.map(output), answers = given.map(v => +(v > .5));
    const all = [...seen, h].flat(), reach = [Math.floor(2 * Math.min(-.5, Math.min(...all) - .4)) / 2, Math.ceil(2 * Math.max(1.5, Math.max(...all) + .4)) / 2];
    const pieces = answered(), inputs = panel(gap - 8, [low, high], W < 480 ? "the inputs" : "the inputs and the answers", ["x₁", "x₂"], pieces);
    for (const [a, b] of pieces.flatMap(p => p.borders)) line(inputs(a), inputs(b), {stroke: look.ink, "stroke-width": 2.5});
    const bends = (at, [a, b], u, more) => {
      const part = cut(box(a, b), u), ends = part.filter(([x, y]) => Math.abs(u[0] * x + u[1] * y + u[2]) < 1e-9);
      if (ends.length > 1) line(at(ends[0]), at(ends[1]), more);
    };
    const fold = {stroke: look.weight, "stroke-width": 1.5, "stroke-dasharray": "5 4"};
    if (act !== "none") [w.slice(0, 3), w.slice(3, 6)].forEach(u => bends(inputs, [low, high], u, fold));
    const u = [w[6], w[7], w[8] - .5];
    const space = panel(W - side - 8, reach, W < 480 ? "the hidden space" : "what the second layer sees", ["h₁", "h₂"], [cut(box(...reach), u)]);
    // The grid of the inputs, as the hidden layer bends it.
    const clip = `clip-${ui.root.dataset.live}`, defs = ui.svg("clipPath", {id: clip}, svg);
    ui.svg("rect", {x: W - side - 8, y: top, width: side, height: side}, defs);
    for (let k = 0; k <= 8; k++) for (const turn of [0, 1]) {
      const c = low + k * (high - low) / 8, track = [];
      for (let t = 0; t <= 64; t++) {
        const v = low + t * (high - low) / 64;
        track.push(space(hidden(turn ? [c, v] : [v, c])));
      }
      const way = {fill: "none", stroke: look.idle, "stroke-width": 1, "stroke-opacity": .75, "clip-path": `url(#${clip})`};
      if (act !== "step") ui.svg("polyline", {points: track.join(" "), ...way}, svg);
    }
    bends(space, reach, u, {stroke: look.ink, "stroke-width": 2.5});
    for (const left of [gap - 8, W - side - 8]) ui.svg("rect", {x: left, y: top, width: side, height: side, fill: "none", stroke: look.muted}, svg);
    const places = {};
    corners.forEach((x, i) => {
      const wrong = answers[i] !== labels[i];
      [inputs(x), space(seen[i])].forEach(([cx, cy], k) => {
        ui.svg("circle", {cx, cy, r: 7, fill: labels[i] ? look.data : look.paper, stroke: look.data, "stroke-width": 2.5}, svg);
        if (wrong) ui.svg("path", {d: `M${cx - 12} ${cy - 12}l24 24m0 -24l-24 24`, stroke: look.hazard, "stroke-width": 3}, svg);
        if (!k) text(cx + (wrong ? 15 : 10), cy - 9, r(given[i]), bold);
      });
      (places[seen[i].map(r)] ||= []).push(i);
    });
    for (const same of Object.values(places)) {
      const [cx, cy] = space(seen[same[0]]), aside = same.some(i => answers[i] !== labels[i]) && W >= 480 ? 16 : 9, end = cx + 44 + aside > W - 6;
      same.forEach((i, k) => text(end ? cx - aside : cx + aside, cy - 10 + 30 * (k % 2) - 14 * (k >> 1), `(${corners[i].join(", ")})`,
        {"text-anchor": end ? "end" : "start", style: `paint-order:stroke;stroke:${look.paper};stroke-width:4px;stroke-linejoin:round`}));
    }
    for (const [cx, cy] of [inputs(probe), space(h)])
      ui.svg("path", {d: `M${cx - 10} ${cy}h20M${cx} ${cy - 10}v20`, stroke: look.ink, "stroke-width": 2}, svg);
    svg.style.cursor = "crosshair";
    svg.addEventListener("click", event => {
      const rect = svg.getBoundingClientRect(), x = (event.clientX - rect.left - gap + 8) / side, y = 1 - (event.clientY - rect.top - top) / side;
      if (x < 0 || x > 1 || y < 0 || y > 1) return;
      probe = [x, y].map(v => Math.round(8 * (low + v * (high - low))) / 8);
      ui.draw();
    });
    tries.forEach((b, i) => b.setAttribute("aria-pressed", buttons[i] === pressed));
    const right = answers.filter((a, i) => a === labels[i]).length, line3 = [
      w[6] * w[0] + w[7] * w[3], w[6] * w[1] + w[7] * w[4], w[6] * w[2] + w[7] * w[5] + w[8]].map(v => +v.toFixed(4));
    Object.assign(ui.root.dataset, {right, act, outputs: given.map(v => +v.toFixed(4)), hidden: seen.flat().map(v => +v.toFixed(4)),
      numbers: w, probe, at: +o.toFixed(4), three: act === "none" ? line3 : ""});
    const signed = (v, t) => `${v < 0 ? "−" : "+"} ${r(Math.abs(v))}${t}`;
    best = Math.max(best, right);
    ui.caption(`${right} of 4 right` + (right === 4 ? ": this is XOR. " : ". ") + (!explains ? `Your best so far: ${best} of 4.` : act === "none"
      ? `Without an activation the nine numbers are worth three: o = ${r(line3[0])} x₁ ${signed(line3[1], " x₂")} ${signed(line3[2], "")}, and o = 0.5 is one straight line.`
      : act === "ReLU" ? "ReLU folds the plane along the dashed lines; the second layer then cuts it along one straight line."
        : "A step sends each side of a dashed line to one value. Move a number a little: no output changes, unless a line runs over a corner."));
  };
}
