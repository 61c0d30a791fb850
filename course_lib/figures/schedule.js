// Timelines of warps on one scheduler; the slider sets their number.
// data: head, model, needed, compute, latency, first, shares (busy share for 1, 2, ... warps), slots, runs (for each
// number of warps a text for each warp: w waits, i issues, r ready, each with its slots), static (numbers to try).
ui => {
  const {head, model, needed, shares, slots, runs, first, static: tries} = ui.data, look = ui.look;
  let n = first, slot = 0;
  const slider = ui.slider("warps", {min: 1, max: runs.length, value: n}, v => { n = v; });
  tries.forEach(k => ui.button(`${k} warp${k > 1 ? "s" : ""}`, () => { n = k; slider.set(k); }));
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Time: left and right move the clock"}, ui.stage);
  const move = d => { slot = Math.max(0, Math.min(slots - 1, slot + d)); };
  ui.keys(pad, {
    ArrowLeft: () => move(-5), ArrowRight: () => move(5), Home: () => move(-slots), End: () => move(slots),
  });
  const percent = share => `${share < .1 ? Math.round(1000 * share) / 10 : Math.round(100 * share)} %`;
  const parse = text => [...text.matchAll(/([wir])(\d+)/g)].map(m => [m[1], +m[2]]);
  ui.draw = () => {
    const W = ui.width, high = n > 24 ? 8 : n > 10 ? 11 : 15, left = 30, span = W - left - 10, top = 46;
    const H = top + n * high + 44, X = s => left + s / slots * span;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mute = {style: `fill:${look.muted}`};
    const key = (x, fill, opacity, t, hatched) => {
      ui.box(x, 6, 12, 12, {fill, "fill-opacity": opacity, stroke: look.idle}, svg, hatched);
      text(x + 17, 16, t);
    };
    key(left, look.thread, 1, "issues");
    key(left + 76, look.paper, 1, "ready, not chosen");
    key(left + 214, look.idle, .15, "waits for memory", true);
    let chosen = "nobody: all wait", ready = 0, waiting = 0;
    runs[n - 1].forEach((row, w) => {
      let at = 0;
      const y = top + w * high;
      if (high > 10 || w % 8 === 0) text(left - 6, y + high - 2, w, {...mute, "text-anchor": "end"});
      for (const [state, length] of parse(row)) {
        const wide = Math.max(.8, X(at + length) - X(at));
        ui.box(X(at), y, wide, high - 2, state === "i" ? {fill: look.thread} : state === "r" ?
          {fill: look.paper, stroke: look.idle, "stroke-width": .7} : {fill: look.idle, "fill-opacity": .15}, svg, state === "w");
        if (slot >= at && slot < at + length) {
          if (state === "i") chosen = `warp ${w}`;
          ready += state === "r";
          waiting += state === "w";
        }
        at += length;
      }
    });
    ui.svg("line", {x1: X(slot + .5), x2: X(slot + .5), y1: top - 6, y2: top + n * high, stroke: look.ink, "stroke-width": 2}, svg);
    text(Math.min(X(slot) + 4, W - 90), top - 10, `clock ${slot}`);
    const y = top + n * high + 6;
    ui.box(left, y, span, 12, {fill: look.paper, stroke: look.idle}, svg, 1);
    ui.box(left, y, span * shares[n - 1], 12, {fill: look.thread, stroke: look.idle}, svg);
    text(left, y + 28, `${percent(shares[n - 1])} of the issue slots are used`, {"font-weight": "bold"});
    pad.onpointerdown = event => {
      const box = svg.getBoundingClientRect();
      slot = Math.max(0, Math.min(slots - 1, Math.floor((event.clientX - box.left - left) / span * slots)));
      ui.draw();
    };
    Object.assign(ui.root.dataset, {warps: n, share: shares[n - 1], slot});
    ui.caption(`${n} warp${n > 1 ? "s" : ""}: ${percent(shares[n - 1])} of the slots are used. At clock ${slot} ` +
      `${chosen === "nobody: all wait" ? "no warp issues: all wait" : `${chosen} issues`}, ${ready} more could, ${waiting} wait. ` +
      `${head}: ${needed} warps are enough. ${model}`);
  };
}
