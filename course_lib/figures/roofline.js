// Launches under a device's roofline. data: cards (name, peak, bandwidth, ridge, axes as powers of ten, dots: name, x,
// y, asked, known, says), at (place of the first card), dtype, measured.
ui => {
  const {cards, dtype, measured} = ui.data, look = ui.look;
  let at = ui.data.at, dot = 0;
  if (cards.length > 1) ui.choice("", cards.map(c => c.name), i => { at = i; }, at);
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Launches: left and right choose one"}, ui.stage);
  const step = d => { const n = cards[at].dots.length; dot = (dot + d + n) % n; };
  ui.keys(pad, {ArrowLeft: () => step(-1), ArrowRight: () => step(1), Home: () => { dot = 0; }});
  const short = p => 10 ** (p % 3) + ["", "k", "M", "G", "T", "P"][Math.floor(p / 3)];
  ui.draw = () => {
    const card = cards[at], [x0, x1, y0, y1] = card.axes, W = Math.min(ui.width, 640), left = 46, right = W - 14;
    const top = 28, high = Math.min(300, W * .6), H = top + high + 52 + 18 * card.dots.length;
    const X = x => left + (Math.log10(x) - x0) / (x1 - x0) * (right - left);
    const Y = y => top + high - (Math.log10(y) - y0) / (y1 - y0) * high;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mute = {style: `fill:${look.muted}`}, mid = {"text-anchor": "middle"};
    const line = (xa, ya, xb, yb, more) => ui.svg("line", {x1: xa, y1: ya, x2: xb, y2: yb, ...more}, svg);
    text(8, 16, `${card.name}, ${dtype}: FLOP/s ${measured ? "as measured" : "as predicted; hollow: at most"}`, {"font-weight": "bold"});
    for (let p = x0; p <= x1; p++) {
      line(X(10 ** p), top, X(10 ** p), top + high, {stroke: look.grid});
      text(X(10 ** p), top + high + 15, `${+(10 ** p).toPrecision(1)}`, {...mid, ...mute});
    }
    for (let p = y0; p <= y1; p++) {
      line(left, Y(10 ** p), right, Y(10 ** p), {stroke: look.grid});
      text(left - 5, Y(10 ** p) + 4, short(p), {"text-anchor": "end", ...mute});
    }
    text((left + right) / 2, top + high + 31, "FLOP for each byte", {...mid, ...mute});
    const low = Math.max(10 ** x0, 10 ** y0 / card.bandwidth);
    const corners = [[low, low * card.bandwidth], [card.ridge, card.peak], [10 ** x1, card.peak]];
    ui.svg("polyline", {points: corners.map(([x, y]) => `${X(x)},${Y(y)}`).join(" "), fill: "none", stroke: look.ink,
      "stroke-width": 2.5}, svg);
    text(right, Y(card.peak) - 6, `${+(card.peak / 1e12).toPrecision(3)} TFLOP/s`, {"text-anchor": "end"});
    text(left + 6, top + 15, `slope: ${+(card.bandwidth / 1e12).toPrecision(3)} TB/s`);
    const here = card.dots[dot], roof = Math.min(card.peak, here.x * card.bandwidth);
    // What the chosen launch could reach at its intensity: straight up to the roof.
    line(X(here.x), Y(here.y), X(here.x), Y(roof), {stroke: look.gradient, "stroke-width": 2, "stroke-dasharray": "4 3"});
    card.dots.forEach((d, i) => {
      line(X(d.asked), Y(d.y), X(d.x), Y(d.y), {stroke: look.data, "stroke-dasharray": "4 3"});
      ui.svg("circle", {cx: X(d.asked), cy: Y(d.y), r: 4, fill: look.paper, stroke: look.data}, svg);
    });
    [...card.dots.keys()].sort((a, b) => (a === dot) - (b === dot)).forEach(i => {
      const d = card.dots[i];
      const node = ui.svg("circle", {cx: X(d.x), cy: Y(d.y), r: i === dot ? 11 : 9, fill: d.known ? look.data : look.paper,
        stroke: d.known ? look.ink : look.data, "stroke-width": i === dot ? 3 : 1,
        "stroke-dasharray": d.known ? "none" : "4 3"}, svg);
      text(X(d.x), Y(d.y) + 4, i + 1, {...mid, "font-weight": "bold", style: `fill:${d.known ? look.paper : look.ink}`,
        "pointer-events": "none"});
      node.style.cursor = "pointer";
      for (const what of ["pointerenter", "click"])
        node.addEventListener(what, () => { if (dot !== i || what === "click") { dot = i; ui.draw(); } });
      text(8, top + high + 38 + 18 * (i + 1), `${i + 1}  ${d.name}`, i === dot ? {"font-weight": "bold"} : {});
    });
    Object.assign(ui.root.dataset, {card: card.name, dot});
    ui.caption(here.says);
  };
}
