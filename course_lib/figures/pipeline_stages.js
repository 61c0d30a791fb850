// A pipeline's stages over time. data: start (stages, micro-batches, order), most, orders, names, takes (forward, back).
ui => {
  const {start, most, orders, names, takes} = ui.data, look = ui.look;
  let [p, m, order] = start, slow = -1;
  ui.slider("stages", {min: 1, max: most[0], value: p}, v => { p = v; if (slow >= p) slow = -1; });
  ui.slider("micro-batches", {min: 1, max: most[1], value: m}, v => { m = v; });
  ui.choice("", names, i => { order = i; }, order);
  ui.button("slow the next stage down", () => { slow = slow + 1 < p ? slow + 1 : -1; });
  // What stage s does, in turn; then each task when its stage is free and its input is there.
  const tasks = s => {
    const ahead = orders[order] === "gpipe" ? m : Math.min(m, p - s), list = [];
    for (let k = 0; k < ahead; k++) list.push(["F", k]);
    for (let k = 0; k < m; k++) {
      list.push(["B", k]);
      if (ahead + k < m) list.push(["F", ahead + k]);
    }
    return list;
  };
  const run = () => {
    const lists = Array.from({length: p}, (_, s) => tasks(s)), next = lists.map(() => 0), free = lists.map(() => 0);
    const ends = {}, spans = [];
    for (let left = 2 * m * p; left;) for (let s = 0; s < p; s++) while (next[s] < lists[s].length) {
      const [kind, k] = lists[s][next[s]], from = kind === "F" ? s - 1 : s + 1, inside = from >= 0 && from < p;
      if (inside && !(`${kind}${k} ${from}` in ends)) break;
      const begin = Math.max(free[s], inside ? ends[`${kind}${k} ${from}`] : 0);
      const end = begin + takes[kind === "F" ? 0 : 1] * (s === slow ? 2 : 1);
      free[s] = ends[`${kind}${k} ${s}`] = end;
      spans.push({s, kind, k, begin, end});
      next[s]++;
      left--;
    }
    return spans;
  };
  const keeps = s => {
    let now = 0, best = 0;
    tasks(s).forEach(([kind]) => { now += kind === "F" ? 1 : -1; best = Math.max(best, now); });
    return best;
  };
  ui.draw = () => {
    const spans = run(), all = Math.max(...spans.map(t => t.end)), W = Math.min(ui.width, 640), left = 58, high = 28;
    const busy = spans.reduce((sum, t) => sum + t.end - t.begin, 0), bubble = 1 - busy / (p * all);
    const H = 16 + p * high + 46, X = t => left + t / all * (W - left - 10);
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mute = {style: `fill:${look.muted}`};
    for (let s = 0; s < p; s++) {
      text(4, 10 + s * high + 15, `stage ${s}`, s === slow ? {"font-weight": "bold"} : {});
      ui.box(left, 10 + s * high, X(all) - left, high - 6, {fill: look.idle, "fill-opacity": .1, stroke: "none"}, svg, true);
    }
    spans.forEach(t => {
      const wide = X(t.end) - X(t.begin), y = 10 + t.s * high;
      ui.svg("rect", {x: X(t.begin), y, width: wide, height: high - 6, fill: look.paper}, svg);
      ui.box(X(t.begin), y, wide, high - 6, {fill: t.kind === "F" ? look.data : look.gradient, "fill-opacity": .5, stroke: look.ink}, svg);
      if (wide > (t.k > 9 ? 17 : 10)) text(X(t.begin) + wide / 2, y + 15, t.k, {"text-anchor": "middle"});
    });
    let x = 8;
    const y = 16 + p * high;
    [["forward", look.data, .5, false], ["back", look.gradient, .5, false], ["waits", look.idle, .1, true]].forEach(([name, fill, o, hatched]) => {
      ui.box(x, y, 14, 12, {fill, "fill-opacity": o, stroke: hatched ? look.idle : look.ink}, svg, hatched);
      text(x + 19, y + 10, name);
      x += 34 + 7 * name.length;
    });
    text(8, y + 32, `all of it: ${all} units; a forward pass takes 1`, mute);
    Object.assign(ui.root.dataset, {stages: p, micro: m, order: orders[order], slow, all, bubble, kept: keeps(0),
      begins: JSON.stringify(spans.slice().sort((a, b) => a.s - b.s || a.begin - b.begin).map(t => t.begin))});
    const why = slow < 0 ? `(p - 1) / (m + p - 1) = ${p - 1} / ${m + p - 1}` : `stage ${slow} takes twice as long, and all wait for it`;
    ui.caption(`${p} ${p === 1 ? "stage" : "stages"}, ${m} ${m === 1 ? "micro-batch" : "micro-batches"}: ${all} units of time. Stages wait for ${
      Math.round(100 * bubble)} % of it: ${why}. Stage 0 keeps the activations of ${keeps(0)}.`);
  };
}
