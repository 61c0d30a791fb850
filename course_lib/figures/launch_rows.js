// A step's launches in two rows, and its time against the size of the batch, as `streams.two_rows`.
// data: sizes (of batches), kernels (microseconds of each kernel, by size), names, batch (place of the first), costs
// (microseconds of a launch, on offer), cost (place of the first), buttons (name -> microseconds of a launch).
ui => {
  const {sizes, kernels, names, costs, buttons} = ui.data, look = ui.look;
  let at = ui.data.batch, cost = ui.data.cost, chosen = 0;
  const size = B => B.toLocaleString("en"), big = v => v.toLocaleString("en", {maximumSignificantDigits: 3}), us = v => `${+v.toPrecision(4)} µs`;
  const batches = ui.slider("batch", {min: 0, max: sizes.length - 1, value: at, say: i => size(sizes[i])}, i => { at = i; });
  const slider = ui.slider("a launch costs", {min: 0, max: costs.length - 1, value: cost, say: i => us(costs[i])}, i => { cost = i; mark(); });
  const ways = Object.keys(buttons), places = ways.map(name => costs.indexOf(buttons[name]));
  const presets = ways.length ? ui.choice("as", ways, i => { cost = places[i]; slider.set(cost); }, places.indexOf(cost)) : null;
  const mark = () => { if (presets) presets.set(places.indexOf(cost)); };
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Launches of the step: left and right choose one"}, ui.stage);
  const below = ui.html("div", {"aria-hidden": "true"}, ui.stage);
  const move = d => { chosen = Math.max(0, Math.min(kernels[at].length - 1, chosen + d)); };
  ui.keys(pad, {ArrowLeft: () => move(-1), ArrowRight: () => move(1), Home: () => move(-1e6), End: () => move(1e6)});
  const play = (seconds, c) => {
    let free = 0, late = 0;
    const spans = seconds.map((s, k) => {
      const begin = Math.max(c * (k + 1), free);
      if (begin > free) late += 1;
      free = begin + s;
      return [begin, free];
    });
    return {spans, end: free, late, busy: seconds.reduce((a, b) => a + b, 0) / free};
  };
  const sum = list => list.reduce((a, b) => a + b, 0);
  ui.draw = () => {
    const seconds = kernels[at], c = costs[cost], run = play(seconds, c), n = seconds.length;
    chosen = Math.min(chosen, n - 1);
    const W = ui.width, left = 52, span = W - left - 14, scale = span / run.end, high = 34;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: 152, viewBox: `0 0 ${W} 152`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, svg, t), mute = {style: `fill:${look.muted}`};
    text(6, 34, "host");
    text(6, 88, "card");
    ui.box(left, 66, span, high, {fill: "none", stroke: "none"}, svg, true);
    const path = boxes => boxes.map(([x, y, w]) => `M${x.toFixed(2)} ${y}h${w.toFixed(2)}v${high}h${(-w).toFixed(2)}z`).join("");
    const gap = Math.min(.8, c * scale * .2);
    ui.svg("path", {d: path(seconds.map((_, k) => [left + c * k * scale, 12, Math.max(.3, c * scale - gap)])), fill: look.weight,
      "fill-opacity": .55}, svg);
    ui.svg("path", {d: path(run.spans.map(([b, e]) => [left + b * scale, 66, Math.max(.5, (e - b) * scale)])), fill: look.thread}, svg);
    const [b, e] = run.spans[chosen], line = {stroke: look.ink, "stroke-width": 2, fill: "none"};
    ui.box(left + c * chosen * scale, 12, Math.max(2, c * scale), high, line, svg);
    ui.box(left + b * scale, 66, Math.max(2, (e - b) * scale), high, line, svg);
    ui.svg("path", {d: `M${left + c * (chosen + 1) * scale} 46L${left + b * scale} 66`, ...line}, svg);
    text(left, 116, "0", mute);
    text(W - 14, 116, `${big(run.end)} µs`, {"text-anchor": "end", ...mute});
    text(6, 142, `${chosen + 1}: ${names[chosen] || "launch"}`.slice(0, Math.floor((W - 12) / 7)));
    drawSizes(W, c);
    const turn = sizes.findIndex((_, i) => sum(kernels[i]) >= c * kernels[i].length);
    Object.assign(ui.root.dataset, {numbers: JSON.stringify([run.end, run.busy, run.late, turn < 0 ? 0 : sizes[turn], b, e]), chosen});
    const bound = sum(seconds) >= c * n ? "The step is bound by its kernels." : "The step is bound by its launches.";
    const from = turn < 0 ? "At no batch size shown do the kernels take longer than their launches." : turn === 0 ?
      "At every batch size shown the kernels take longer." : `From B = ${size(sizes[turn])} on the kernels take longer.`;
    ui.caption(`B = ${size(sizes[at])}: ${n} launches at ${us(c)} are ${big(c * n)} µs, the kernels together ${big(sum(seconds))} µs. ` +
      `A step takes ${big(run.end)} µs, and the card works ${Math.round(100 * run.busy)} % of it. ${bound} ${from}`);
  };
  // Time of a step against B, both axes logarithmic: kernels alone, launches alone, the step.
  const drawSizes = (W, c) => {
    const H = 190, left = 56, right = W - 16, top = 26, bottom = H - 40;
    below.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`}, below);
    const text = (x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, svg, t), mute = {style: `fill:${look.muted}`};
    const work = kernels.map(sum), ask = kernels.map(k => c * k.length), steps = kernels.map(k => play(k, c).end);
    const all = [...work, ...ask, ...steps], low = Math.floor(Math.log10(Math.min(...all))), up = Math.ceil(Math.log10(Math.max(...all)));
    const X = i => left + i * (right - left) / Math.max(1, sizes.length - 1);
    const Y = v => bottom - (Math.log10(v) - low) / Math.max(1, up - low) * (bottom - top);
    text(6, 14, "Time of a step against its batch", {"font-weight": "bold"});
    for (let p = low; p <= up; p++) {
      ui.svg("line", {x1: left, x2: right, y1: Y(10 ** p), y2: Y(10 ** p), stroke: look.grid}, svg);
      text(left - 6, Y(10 ** p) + 4, p < 3 ? `${10 ** p} µs` : p < 6 ? `${10 ** (p - 3)} ms` : `${10 ** (p - 6)} s`, {"text-anchor": "end", ...mute});
    }
    sizes.forEach((B, i) => text(X(i), bottom + 16, size(B), {"text-anchor": i === sizes.length - 1 ? "end" : "middle", ...mute}));
    text((left + right) / 2, H - 6, "images in a batch", {"text-anchor": "middle", ...mute});
    const line = (values, more) => ui.svg("polyline", {points: values.map((v, i) => `${X(i)},${Y(v)}`).join(" "), fill: "none", ...more}, svg);
    line(work, {stroke: look.thread, "stroke-width": 3});
    line(ask, {stroke: look.weight, "stroke-width": 3, "stroke-dasharray": "6 4"});
    line(steps, {stroke: look.ink, "stroke-width": 1.5});
    ui.svg("circle", {cx: X(at), cy: Y(steps[at]), r: 5, fill: look.ink}, svg);
    const last = sizes.length - 1, high = work[last] > ask[last];
    text(right, Math.min(bottom - 6, Y(work[last]) + (high ? 46 : -6)), "kernels alone", {"text-anchor": "end"});
    text(left + 4, Y(ask[0]) + (Y(ask[0]) < top + 12 ? 16 : -6), "launches alone (dashed)");
  };
}
