// Commands of a queue over time, one lane for each chain. data: queues (name, bars of label, lane, start, end in ms,
// arrows of [from, to], right: words), lanes, most.
ui => {
  const {queues, lanes, most} = ui.data, look = ui.look;
  let at = 0;
  if (queues.length > 1) ui.choice("", queues.map(q => q.name), i => { at = i; }, 0);
  ui.draw = () => {
    const queue = queues[at], W = Math.min(ui.width, 640), left = 66, X = v => left + v / most * (W - left - 12), high = 34;
    const H = 16 + lanes.length * high + 40, end = Math.max(...queue.bars.map(b => b.end));
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mid = {"text-anchor": "middle"};
    const base = 12 + lanes.length * high, tick = [1, 2, 5, 10, 20, 50, 100, 200].find(v => most / v <= (W < 500 ? 5 : 8)) || 500;
    for (let v = 0; v <= most; v += tick) {
      ui.svg("line", {x1: X(v), x2: X(v), y1: 8, y2: base, stroke: look.grid}, svg);
      text(X(v), base + 16, v, mid);
    }
    text(8, base + 32, "milliseconds since the first was queued", {style: `fill:${look.muted}`});
    lanes.forEach((lane, k) => text(4, 14 + k * high + 16, `chain ${lane}`));
    queue.bars.forEach(b => {
      const shared = queue.bars.some(o => o.lane === b.lane && o.early), bad = b.early;
      const tall = shared ? 15 : 26, y = 12 + lanes.indexOf(b.lane) * high + (bad ? 15 : 0);
      ui.box(X(b.start), y, Math.max(1, X(b.end) - X(b.start)), tall, {fill: bad ? look.hazard : b.label.endsWith("1") ? look.thread : look.data,
        "fill-opacity": .45, stroke: look.ink}, svg, bad);
      text((X(b.start) + X(b.end)) / 2, y + tall / 2 + 4, b.label, {...mid, "font-weight": "bold"});
    });
    ui.svg("line", {x1: X(end), x2: X(end), y1: 6, y2: base, stroke: look.ink, "stroke-width": 2}, svg);
    Object.assign(ui.root.dataset, {queue: queue.name, end, wrong: queue.wrong});
    ui.caption(queue.says);
  };
}
