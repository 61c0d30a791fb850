// One job on two devices: a slider gives the first one its share. data: pairs (label, names, alone in ms, fixed in ms,
// curve of [share, ms], loss: words), start (percent).
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
    const svg = ui.svg("svg", {width: W, height: 334, viewBox: `0 0 ${W} 334`, "aria-hidden": "true"}, ui.stage);
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
    // Below: the time against the share, both lines and what was measured.
    const top = 150, base = 290, low = 52, PX = v => low + v * (right - low), PY = v => base - v / most * (base - top);
    text(left, top - 8, `time until both are done, by ${pair.names[0]}'s share`, mute);
    [0, .25, .5, .75, 1].forEach(v => {
      ui.svg("line", {x1: PX(v), x2: PX(v), y1: top, y2: base, stroke: look.grid}, svg);
      text(PX(v), base + 16, `${100 * v} %`, {"text-anchor": v === 0 ? "start" : v === 1 ? "end" : "middle"});
    });
    ui.svg("line", {x1: low, x2: right, y1: base, y2: base, stroke: look.muted}, svg);
    [most, most / 2].forEach(v => text(low - 4, PY(v) + 4, `${Math.round(v)} ms`, {"text-anchor": "end"}));
    text(low - 4, base + 4, "0", {"text-anchor": "end"});
    const line = (k, f) => ui.svg("path", {d: `M${PX(0)} ${PY(f(0))}L${PX(1)} ${PY(f(1))}`, stroke: roles[k], "stroke-width": 2.5,
      fill: "none", "stroke-dasharray": k ? "7 4" : "none"}, svg);
    line(0, v => pair.fixed[0] + v * pair.alone[0]);
    line(1, v => pair.fixed[1] + (1 - v) * pair.alone[1]);
    pair.curve.forEach(([v, t]) => ui.svg("path", {d: `M${PX(v) - 4} ${PY(Math.min(t, most))}h8m-4 -4v8`, stroke: look.ink, "stroke-width": 1.5}, svg));
    ui.svg("circle", {cx: PX(s), cy: PY(all), r: 6, fill: look.output, stroke: look.ink}, svg);
    if (pair.curve.length) text(left, base + 36, "lines: from the times alone; crosses: measured", mute);
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
