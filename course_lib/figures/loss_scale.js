// Histograms of all layers' gradients over what a format can hold; a slider multiplies them by one power of two. data:
// groups (name, sets: name, bars of [exponent, share]), formats (name, limits: zero, normal, over), low, high, most, zones, roles.
ui => {
  const {groups, formats, low, high, most, zones, roles} = ui.data, look = ui.look;
  let group = 0, format = 0, power = 0;
  if (groups.length > 1) ui.choice("gradients of", groups.map(g => g.name), i => { group = i; }, 0);
  ui.choice("format", formats.map(f => f.name), i => { format = i; }, 0);
  ui.slider("scale 2 to the", {min: 0, max: most, value: 0}, p => { power = p; });
  const raised = n => [...String(n)].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻").join("");
  const zoneOf = (e, [zero, normal, over]) => e < zero ? 0 : e < normal ? 1 : e < over ? 2 : 3;
  const lost = shares => zones.map((zone, k) => [k, shares[k], zone]).filter(([k, share]) => k !== 2 && share >= .0005);
  ui.draw = () => {
    const {sets, name} = groups[group], {limits} = formats[format], W = Math.min(ui.width, 640), left = 10, top = 30, row = 38, tall = 20;
    const bottom = top + row * sets.length, H = bottom + 88, scale = (2 ** power).toLocaleString("en");
    const X = e => left + (Math.min(Math.max(e, low), high) - low) / (high - low) * (W - 2 * left);
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const edges = [low, ...limits, high];
    zones.forEach((zone, k) => {
      const wide = X(edges[k + 1]) - X(edges[k]);
      if (wide > 0) ui.box(X(edges[k]), top, wide, bottom - top, {fill: look[roles[zone]], "fill-opacity": .16}, svg, k === 3);
    });
    text(8, 16, `Gradients of ${name} × ${scale} in ${formats[format].name}`, {"font-weight": "bold"});
    limits.forEach(e => {
      if (e < low || e > high) return;
      ui.svg("line", {x1: X(e), x2: X(e), y1: top - 4, y2: bottom + 4, stroke: look.ink}, svg);
      text(X(e), bottom + 18, `2${raised(e)}`, {"text-anchor": "middle"});
    });
    const all = sets.map((set, i) => {
      const base = top + row * (i + 1), largest = Math.max(...set.bars.map(b => b[1])), shares = zones.map(() => 0);
      for (const [e, share] of set.bars) {
        const k = zoneOf(e + power, limits), h = share / largest * tall;
        shares[k] += share;
        ui.svg("rect", {x: X(e + power), y: base - h, width: Math.max(0, X(e + power + 1) - X(e + power)), height: h,
          fill: look[roles[zones[k]]], stroke: look.paper}, svg);
      }
      ui.svg("line", {x1: left, x2: W - left, y1: base, y2: base, stroke: look.idle, "stroke-width": .7}, svg);
      const told = lost(shares).map(([, share, zone]) => `${(100 * share).toFixed(1)} % ${zone}`).join(", ");
      text(left + 2, base - row + 14, `${set.name}: ${told || "all digits"}`,
        {stroke: look.paper, "stroke-width": 3, "paint-order": "stroke"});
      return shares;
    });
    for (const e of [low, low + 20]) if (e < limits[0] - 4) text(X(e), bottom + 18, `2${raised(e)}`, e === low ? {} : {"text-anchor": "middle"});
    text(left, bottom + 38, "size of a gradient; bar: share of the layer's gradients");
    zones.forEach((zone, k) => {
      const x = 8 + k % 2 * W / 2, y = bottom + 58 + Math.floor(k / 2) * 18;
      ui.svg("rect", {x, y: y - 10, width: 11, height: 11, fill: look[roles[zone]], "fill-opacity": .4, stroke: look.ink}, svg);
      text(x + 17, y, zone);
    });
    Object.assign(ui.root.dataset, {power, shares: JSON.stringify(all), format: formats[format].name, group});
    const where = k => sets.filter((set, i) => all[i][k] >= .0005).map(set => set.name.replace("layer ", ""));
    const named = (k, some, none) => {
      const layers = where(k);
      return layers.length ? `${some} in layer${layers.length > 1 ? "s" : ""} ${layers.join(", ")}.` : none;
    };
    ui.caption(`Scale ${scale}, gradients of ${name}. ${named(0, "Some become zero", "None becomes zero.")} ` +
      named(3, "Some overflow", "None overflows."));
  };
}
