// A histogram of gradients over what a format can hold; a slider multiplies them by powers of two. data: sets (name, bars
// of [exponent, share]), formats (name, limits: zero, normal, over), low, high, most, zones, roles.
ui => {
  const {sets, formats, low, high, most, zones, roles} = ui.data, look = ui.look;
  let set = 0, format = 0, power = 0;
  if (sets.length > 1) ui.choice("gradients of", sets.map(s => s.name), i => { set = i; }, 0);
  ui.choice("format", formats.map(f => f.name), i => { format = i; }, 0);
  ui.slider("scale 2 to the", {min: 0, max: most, value: 0}, p => { power = p; });
  const raised = n => [...String(n)].map(c => "⁰¹²³⁴⁵⁶⁷⁸⁹"[c] || "⁻").join("");
  const zoneOf = (e, [zero, normal, over]) => e < zero ? 0 : e < normal ? 1 : e < over ? 2 : 3;
  ui.draw = () => {
    const {bars} = sets[set], {limits} = formats[format], W = Math.min(ui.width, 640), left = 10, top = 42, tall = 130, H = 254;
    const X = e => left + (Math.min(Math.max(e, low), high) - low) / (high - low) * (W - 2 * left);
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t);
    const edges = [low, ...limits, high];
    zones.forEach((zone, k) => {
      const wide = X(edges[k + 1]) - X(edges[k]);
      if (wide > 0) ui.box(X(edges[k]), top, wide, tall, {fill: look[roles[zone]], "fill-opacity": .16}, svg, k === 3);
    });
    const largest = Math.max(...bars.map(b => b[1])), shares = zones.map(() => 0);
    for (const [e, share] of bars) {
      const k = zoneOf(e + power, limits), h = share / largest * (tall - 10);
      shares[k] += share;
      ui.svg("rect", {x: X(e + power), y: top + tall - h, width: Math.max(0, X(e + power + 1) - X(e + power)), height: h,
        fill: k === 2 ? look.gradient : look.hazard, "fill-opacity": k === 2 ? 1 : .75, stroke: look.paper}, svg);
    }
    text(8, 16, `${sets[set].name} × ${(2 ** power).toLocaleString("en")} in ${formats[format].name}`, {"font-weight": "bold"});
    limits.forEach(e => {
      if (e < low || e > high) return;
      ui.svg("line", {x1: X(e), x2: X(e), y1: top - 6, y2: top + tall + 4, stroke: look.ink}, svg);
      text(X(e), top + tall + 18, `2${raised(e)}`, {"text-anchor": "middle"});
    });
    for (const e of [low, low + 20]) if (e < limits[0] - 4) text(X(e), top + tall + 18, `2${raised(e)}`, e === low ? {} : {"text-anchor": "middle"});
    text(left, top + tall + 38, "size of a gradient; bar: share of the gradients");
    const percent = v => `${(100 * v).toFixed(1)} %`;
    zones.forEach((zone, k) => {
      const x = 8 + k % 2 * W / 2, y = top + tall + 60 + Math.floor(k / 2) * 18;
      ui.svg("rect", {x, y: y - 10, width: 11, height: 11, fill: look[roles[zone]], "fill-opacity": .4, stroke: look.ink}, svg);
      text(x + 17, y, zone);
    });
    Object.assign(ui.root.dataset, {power, shares: JSON.stringify(shares), format: formats[format].name, set});
    ui.caption(`Scale ${(2 ** power).toLocaleString("en")}: ` + zones.map((z, k) => `${percent(shares[k])} ${z}`).join(", ") + ".");
  };
}
