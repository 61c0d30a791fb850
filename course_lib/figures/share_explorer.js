// One job on two devices: a slider gives the first one its share. data: pairs (label, names, alone in ms, fixed in ms,
// curve of [share, ms], upto: the last share below), start (percent).
ui => {
  const {pairs, start} = ui.data, look = ui.look;
  let at = 0, percent = start;
  if (pairs.length > 1) ui.choice("devices", pairs.map(p => p.label), i => { at = i; }, 0);
  const share = ui.slider(`${pairs[0].names[0]}'s share`, {min: 0, max: 100, value: start, say: p => `${p} %`}, p => { percent = p; });
  const ms = v => `${v < 9.95 ? v.toFixed(1) : Math.round(v).toLocaleString("en")} ms`;
  const cost = (p, k, s) => s > 0 ? p.fixed[k] + s * p.alone[k] : 0;
  ui.button("half and half", () => { percent = 50; share.set(50); });
  ui.button("all to the faster one", () => {
    const [a, b] = pairs[at].alone.map((t, k) => t + pairs[at].fixed[k]);
    percent = a <= b ? 100 : 0;
    share.set(percent);
  });
  ui.draw = () => {
    const pair = pairs[at], s = percent / 100, W = Math.min(ui.width, 640), roles = [look.data, look.weight];
    const took = [cost(pair, 0, s), cost(pair, 1, 1 - s)], all = Math.max(...took);
    const alone = pair.alone.map((t, k) => t + pair.fixed[k]), most = Math.max(...alone), least = Math.min(...alone);
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: 376, viewBox: `0 0 ${W} 376`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mute = {style: `fill:${look.muted}`};
    const left = 8, right = W - 8, X = v => left + v / most * (right - left);
    took.forEach((t, k) => {
      const y = 8 + k * 50, part = Math.round(100 * (k ? 1 - s : s));
      text(left, y + 12, `${pair.names[k]}: ${part} % of the job, ${ms(t)}`, {"font-weight": "bold"});
      ui.box(left, y + 18, X(t) - left, 20, {fill: roles[k], "fill-opacity": .75, stroke: look.ink}, svg);
      if (all - t > most / 200) ui.box(X(t), y + 18, X(all) - X(t), 20, {fill: look.idle, "fill-opacity": .12, stroke: look.idle}, svg, true);
    });
    ui.svg("path", {d: `M${X(all)} 24v24M${X(all)} 74v36`, stroke: look.ink, "stroke-width": 2.5, fill: "none"}, svg);
    const said = `done after ${ms(all)}`, end = X(all) > W / 2;
    text(X(all) + (end ? -4 : 4), 122, said, {"text-anchor": end ? "end" : "start"});
    // Below: the times against the share as far as `upto`, as lines, the later of the two thick; and what was measured.
    const top = 162, base = 312, low = 52, upto = pair.upto, room = right - low;
    const f = [v => pair.fixed[0] + v * pair.alone[0], v => pair.fixed[1] + (1 - v) * pair.alone[1]];
    const high = Math.min(most, Math.max(least * 1.5, Math.min(f[0](upto), 2.5 * least)));
    const PX = v => low + v / upto * room, PY = v => base - v / high * (base - top);
    text(left, top - 18, `time in ms, by ${pair.names[0]}'s share`, mute);
    [0, .25, .5, .75, 1].forEach(q => {
      const v = q * upto, said = `${+(100 * v).toFixed(1)} %`;
      ui.svg("line", {x1: PX(v), x2: PX(v), y1: top, y2: base, stroke: look.grid}, svg);
      text(PX(v), base + 16, said, {"text-anchor": q === 0 ? "start" : q === 1 ? "end" : "middle"});
    });
    ui.svg("line", {x1: low, x2: right, y1: base, y2: base, stroke: look.muted}, svg);
    const tick = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000].find(v => high / v <= 6) || high;
    for (let v = 0; v <= high; v += tick) {
      ui.svg("line", {x1: low, x2: right, y1: PY(v), y2: PY(v), stroke: look.grid}, svg);
      text(low - 4, PY(v) + 4, v, {"text-anchor": "end"});
    }
    // A line leaves the picture at its top; where the two meet, the later one changes.
    const clip = (g, v, w) => {
      const at = t => v + (w - v) * (t - g(v)) / (g(w) - g(v));
      return [g(v) > high ? at(high) : v, g(w) > high ? at(high) : w];
    };
    const line = (g, from, to, drawn) => {
      const [v, w] = clip(g, from, to);
      if (Math.min(g(from), g(to)) < high) ui.svg("path", {d: `M${PX(v)} ${PY(g(v))}L${PX(w)} ${PY(g(w))}`, fill: "none", ...drawn}, svg);
    };
    const both = {stroke: look.output, "stroke-width": 7, "stroke-opacity": .45}, how = k => ({stroke: roles[k], "stroke-width": 2.5, "stroke-dasharray": k ? "7 4" : "none"});
    const meet = Math.min(upto, Math.max(0, (f[1](0) - f[0](0)) / (pair.alone[0] + pair.alone[1])));
    if (meet > 0) line(f[1], 0, meet, both);
    if (meet < upto) line(f[0], meet, upto, both);
    f.forEach((g, k) => line(g, 0, upto, how(k)));
    pair.curve.filter(([v, t]) => v <= upto && t <= high).forEach(([v, t]) =>
      ui.svg("path", {d: `M${PX(v) - 4} ${PY(t)}h8m-4 -4v8`, stroke: look.ink, "stroke-width": 1.5}, svg));
    if (s <= upto && all <= high) ui.svg("circle", {cx: PX(s), cy: PY(all), r: 6, fill: look.output, stroke: look.ink}, svg);
    let x = left;
    [[pair.names[0], how(0)], [pair.names[1], how(1)], ["until both are done", both]].forEach(([said, lines]) => {
      ui.svg("path", {d: `M${x} ${base + 33}h22`, fill: "none", ...lines}, svg);
      text(x + 27, base + 37, said, mute);
      x += 27 + 7 * said.length + 16;
    });
    if (pair.curve.length) text(left, base + 56, "lines: from the times alone; crosses: measured", mute);
    const waits = Math.abs(took[0] - took[1]) < most / 100 ? "Both end together." :
      s === 0 || s === 1 ? `The other one, ${pair.names[s === 0 ? 0 : 1]}, does nothing.` :
      `${pair.names[took[0] < took[1] ? 0 : 1]} waits ${ms(Math.abs(took[0] - took[1]))} for the other one.`;
    const gain = 1 - all / least;
    const compared = Math.abs(gain) < .005 ? "as long as the faster device alone" : gain > 0 ?
      `${Math.round(100 * gain)} % less than the faster device alone` : `${(all / least).toFixed(1)} times as long as the faster device alone`;
    Object.assign(ui.root.dataset, {pair: pair.label, percent, took: JSON.stringify(took), all, gain});
    ui.caption(`${waits} The job takes ${ms(all)}, ${compared}.`);
  };
}
