// A race: two threads and one element, in either order, and with a barrier between.
// data: element, who, does, lines (of the two threads), phase, scenes (name, order, barrier, says), words, beside.
ui => {
  const {element, who, does, lines, phase, scenes, words, beside} = ui.data, look = ui.look;
  let at = 0;
  const group = ui.choice("", scenes.map(s => s.name), i => { at = i; });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "The order of the two: left and right choose"}, ui.stage);
  const step = d => { at = (at + d + scenes.length) % scenes.length; group.set(at); };
  ui.keys(pad, {ArrowLeft: () => step(-1), ArrowRight: () => step(1)});
  ui.draw = () => {
    const scene = scenes[at], W = Math.min(ui.width, 620), fenced = !!scene.barrier;
    const H = 250 + 18 * words.length + (beside ? beside.height + 16 : 0);
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const mute = {style: `fill:${look.muted}`}, bold = {"font-weight": "bold"}, half = W / 2;
    const fit = (t, room) => t.length * 7 > room ? t.slice(0, Math.floor(room / 7) - 1) + "…" : t;
    const band = (y, h, label) => {
      ui.box(2, y, W - 4, h, {fill: look.idle, "fill-opacity": .15, rx: 4}, svg);
      text(8, y + 16, label, mute);
    };
    const passed = n => n === null ? "" : n === 0 ? "no barrier passed yet" : `${n} barrier${n > 1 ? "s" : ""} passed`;
    if (fenced) {
      band(2, 98, phase === null ? "first launch" : `first phase: ${passed(phase)}`);
      band(126, 98, phase === null ? "second launch" : `next phase: ${passed(phase + 1)}`);
      ui.svg("line", {x1: 2, x2: W - 2, y1: 113, y2: 113, stroke: look.ink, "stroke-width": 4}, svg);
      const label = text(half, 117, scene.barrier, {"text-anchor": "middle", "font-weight": "bold",
        style: `paint-order:stroke;stroke:${look.paper};stroke-width:8px`});
      label.dataset.barrier = 1;
    } else band(2, 222, phase === null ? "one launch" : `one phase: ${passed(phase)}`);
    const role = fenced ? look.output : look.hazard;
    scene.order.forEach((k, slot) => {
      const y = 26 + slot * 124, x = k ? half + 4 : 8, w = half - 12;
      ui.box(x, y, w, 56, {fill: look.paper, stroke: look.thread, "stroke-width": 1.5}, svg);
      text(x + 6, y + 16, fit(who[k], w - 8), bold);
      text(x + 6, y + 32, fit(`${does[k]} ${element}`, w - 8));
      text(x + 6, y + 48, `line ${lines[k]}`, mute);
      const mx = k ? x + 30 : x + w - 30, ex = k ? half + 30 : half - 30;
      const reads = does[k] === "reads", box = slot ? y - 8 : y + 64;
      // An arrow from the thread to the element where it writes, and back where it reads.
      const [x1, y1, x2, y2] = slot ? [mx, y, ex, y - 18] : [mx, y + 56, ex, y + 74];
      const p = reads ? [x2, y2, x1, y1] : [x1, y1, x2, y2], length = Math.hypot(p[2] - p[0], p[3] - p[1]);
      const ux = (p[2] - p[0]) / length, uy = (p[3] - p[1]) / length, bx = p[2] - 9 * ux, by = p[3] - 9 * uy;
      if (!fenced) {
        ui.svg("line", {x1: p[0], y1: p[1], x2: bx, y2: by, stroke: role, "stroke-width": 2.5}, svg);
        ui.svg("path", {d: `M${p[2]} ${p[3]}L${bx - 5 * uy} ${by + 5 * ux}L${bx + 5 * uy} ${by - 5 * ux}Z`, fill: role}, svg);
      } else text(k ? 10 : half + 4, y + 30, k ? "" : "first", mute), k && text(10, y + 30, "then", mute);
    });
    if (!fenced) {
      ui.box(half - 62, 100, 124, 26, {fill: look.hazard, "fill-opacity": .35, stroke: look.hazard}, svg);
      text(half, 117, fit(element, 112), {"text-anchor": "middle", ...bold});
    }
    let y = 244;
    words.forEach(word => { text(8, y, fit(word, W - 16)); y += 18; });
    if (beside) {
      text(8, y + 12, beside.rows[0], mute);
      [...beside.lines].sort((a, b) => a[4] - b[4]).forEach(([x1, y1, x2, y2, hot]) => ui.svg("line", {x1: x1 + 8, y1: y + y1,
        x2: x2 + 8, y2: y + y2, stroke: hot ? role : look.idle, "stroke-width": hot ? 3 : 1}, svg));
      beside.boxes.forEach(([x, top, t, hot]) => {
        const fill = hot ? role : t[0] === "[" ? look.paper : look.thread;
        ui.box(x + 8, y + top, 40, 18, {fill: look.paper}, svg);
        ui.box(x + 8, y + top, 40, 18, {fill, "fill-opacity": t[0] === "[" && !hot ? 1 : .4,
          stroke: hot ? role : look.idle, "stroke-width": hot ? 2 : 1}, svg);
        text(x + 28, y + top + 13, t.length > 6 ? t.slice(0, 5) + "…" : t, {"text-anchor": "middle"});
      });
      text(8, y + beside.height - 2, beside.rows[1], mute);
    }
    ui.root.dataset.scene = scene.name;
    ui.caption(scene.says[0].toUpperCase() + scene.says.slice(1));
  };
}
