// The tree of a reduction, level by level: which lane read which elements and wrote which.
//
// ui.data has `array`, `columns`, `filled`, `summary`, and `levels`: line, lanes, warps, split, raced, words and edges,
// each [lane, element written, [elements read]].
ui => {
  const d = ui.data, look = ui.look, last = d.levels.length;
  let shown = 1, from = 0;
  const WINDOW = 32, wide = d.columns > WINDOW;
  let all = true;
  const go = to => { shown = Math.max(0, Math.min(last, to)); };
  const first = ui.button("First", () => go(0)), previous = ui.button("Previous", () => go(shown - 1));
  const next = ui.button("Next", () => go(shown + 1)), end = ui.button("All", () => go(last));
  const slider = ui.slider("Level", {min: 0, max: last, value: shown, say: v => `${v} of ${last}`}, go);
  const show = !wide ? null : ui.choice("Show", [`all ${d.columns}`, `${WINDOW} elements`], i => { all = i === 0; });
  const place = wide ? ui.slider("from", {min: 0, max: d.columns - WINDOW, step: WINDOW / 2, value: 0,
    say: v => `${d.array}[${v}]`}, v => { from = v; all = false; show.set(1); }) : null;
  ui.keys(ui.root, {
    ArrowRight: () => go(shown + 1), ArrowLeft: () => go(shown - 1), Home: () => go(0), End: () => go(last),
  });
  ui.stage.tabIndex = 0;
  ui.stage.setAttribute("role", "group");
  ui.stage.setAttribute("aria-label", "The tree; arrow keys go on and back");
  ui.draw = () => {
    ui.stage.textContent = "";
    const count = all || !wide ? d.columns : WINDOW, base = all || !wide ? 0 : from;
    const narrow = ui.width < 520, right = narrow ? 8 : 220, left = 8, top = 36, row = narrow ? 64 : 44, below = narrow ? 27 : 7;
    const width = (ui.width - left - right) / count, box = Math.max(1.5, Math.min(20, width - 1));
    const numbers = width >= 17;
    const svg = ui.svg("svg", {width: ui.width, height: top + row * last + 18, role: "img",
      "aria-label": `${shown} of ${last} levels`}, ui.stage);
    const text = (x, y, s, more = {}) => ui.svg("text", {x, y, ...more}, svg, s);
    const x = e => left + (e - base + .5) * width;
    const inside = e => e >= base && e < base + count;
    text(left, 14, `${d.array}[${base}]`);
    text(ui.width - right, 14, `${d.array}[${base + count - 1}]`, {"text-anchor": "end"});
    for (const e of d.filled) if (inside(e)) ui.svg("rect", {x: x(e) - box / 2, y: top - 7, width: box, height: 14, fill: look.idle}, svg);
    d.levels.forEach((level, k) => {
      const y = top + row * (k + 1), here = k === shown - 1;
      if (k >= shown) { // still to come: where its results will stand
        for (const [, element] of level.edges) if (inside(element))
          ui.svg("rect", {x: x(element) - box / 2, y: y - 7, width: box, height: 14, fill: look.grid, "data-later": ""}, svg);
        return;
      }
      let lines = "", beyond = 0;
      const boxes = [];
      for (const [lane, element, sources] of level.edges) {
        for (const s of sources) if (inside(s) || inside(element)) lines += `M${x(s).toFixed(1)} ${y - row + (k ? below : 7)}L${x(element).toFixed(1)} ${y - 7}`;
        if (inside(element)) boxes.push([lane, element, sources]); else beyond++;
      }
      const colour = level.raced ? look.hazard : look.data;
      ui.svg("path", {d: lines, stroke: colour, "stroke-width": here ? 1.6 : .8, opacity: here ? 1 : .55, fill: "none",
        "stroke-dasharray": level.raced ? "4 3" : null}, svg);
      for (const [lane, element, sources] of boxes) {
        const node = ui.svg("rect", {x: x(element) - box / 2, y: y - 7, width: box, height: 14, fill: look.output,
          opacity: here ? 1 : .6}, svg);
        ui.svg("title", {}, node, `lane ${lane} (warp ${Math.floor(lane / 32)}): ${sources.map(s => `${d.array}[${s}]`).join(" + ")} into ${d.array}[${element}]`);
        if (numbers) text(x(element), y + 4.5, lane, {"text-anchor": "middle", fill: look.paper, style: "font-size:11px;font-weight:bold;fill:" + look.paper});
      }
      const words = `${level.lanes} lane${level.lanes > 1 ? "s" : ""}, ${level.warps} warp${level.warps > 1 ? "s" : ""}`
        + (level.raced ? ", race" : level.split ? ", idle lanes" : "");
      text(narrow ? left : ui.width - right + 12, narrow ? y + 22 : y + 4, words, here ? {style: "font-weight:bold"} : {});
    });
    slider.set(shown);
    if (place) place.set(from);
    for (const [button, off] of [[first, shown === 0], [previous, shown === 0], [next, shown === last], [end, shown === last]])
      button.setAttribute("aria-disabled", off);
    const level = shown ? d.levels[shown - 1].words : `Before the first level: ${d.filled.length} elements are filled.`;
    ui.caption(shown === last ? `${level} In all: ${d.summary}` : level);
  };
}
