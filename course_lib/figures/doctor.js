// Six trainings one by one: the reader chooses what ails each, and is told why it is so or not.
// data: wards (name, says, hint), patients (name, training, validation), guessing, top.
ui => {
  const {wards, patients, guessing, top} = ui.data, look = ui.look;
  let at = 0;
  const found = patients.map(() => false), last = patients.map(() => "");
  const choice = ui.choice("", wards.map(w => w.name), i => {
    const right = wards[i].name === patients[at].name;
    if (!found[at]) {
      found[at] = right;
      last[at] = right ? `Right: ${wards[i].name}. ${wards[i].says}` : `Not ${wards[i].name}. ${wards[i].hint} Look again.`;
    }
  }, -1);
  choice.nodes.forEach(node => node.parentNode.style.cssText = "display:flex;flex-wrap:wrap;gap:6px");
  choice.nodes[0].parentNode.setAttribute("aria-label", "What ails it?");
  const back = ui.button("Previous patient", () => { at = Math.max(0, at - 1); });
  const next = ui.button("Next patient", () => { at = Math.min(patients.length - 1, at + 1); });
  ui.draw = () => {
    const p = patients[at], W = Math.min(ui.width, 640) - 4, H = 286, left = 34, right = W - 12, high = 26, low = H - 68;
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, role: "img",
      "aria-label": `Patient ${at + 1}: the training loss goes from ${p.training[0]} over ${p.training[5]} after 5 epochs to ` +
      `${p.training.at(-1)}, the validation loss from ${p.validation[0]} over ${p.validation[5]} to ${p.validation.at(-1)}.`}, ui.stage);
    const text = (x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, svg, t);
    const line = (a, b, c, d, more) => ui.svg("line", {x1: a, y1: b, x2: c, y2: d, ...more}, svg);
    const mute = {style: `fill:${look.muted}`}, n = p.training.length - 1;
    const X = k => left + k / n * (right - left), Y = v => low - Math.min(v, top) / top * (low - high);
    text(left, 14, `Patient ${at + 1} of ${patients.length}: loss`, {"font-weight": "bold"});
    for (let v = 0; v <= top; v++) {
      line(left, Y(v), right, Y(v), {stroke: look.grid});
      text(left - 8, Y(v) + 4, v, {"text-anchor": "end", ...mute});
    }
    for (const k of [0, n / 2, n]) text(X(k), low + 16, k, {"text-anchor": k === n ? "end" : "middle", ...mute});
    text((X(n / 2) + X(n)) / 2, low + 16, "epoch", {"text-anchor": "middle"});
    // a broad line, dashes upon it and dots upon them: three curves in one place can still be told apart
    const drawn = [["training", look.data, null, 5], ["validation", look.output, "9 9", 2.6]];
    drawn.forEach(([key, stroke, dash, wide], i) => {
      ui.svg("polyline", {points: p[key].map((v, k) => `${X(k)},${Y(v)}`).join(" "), fill: "none", stroke, "stroke-width": wide,
        "stroke-dasharray": dash}, svg);
      const x = left + i * 110;
      line(x, H - 28, x + 26, H - 28, {stroke, "stroke-width": wide, "stroke-dasharray": dash});
      text(x + 32, H - 24, key);
    });
    // over the curves, so that it is seen where they lie on it
    line(left, Y(guessing), right, Y(guessing), {stroke: look.ink, "stroke-dasharray": "2 3"});
    line(left, H - 12, left + 26, H - 12, {stroke: look.ink, "stroke-dasharray": "2 3"});
    text(left + 32, H - 8, "ln 10, the loss of guessing");
    if (p.training[0] > top) text(right, 14, `begins at ${Math.round(p.training[0])}`, {"text-anchor": "end"});
    const level = [...p.training, ...p.validation].every(v => Math.abs(v - guessing) < .03);
    if (level) text(right, Y(guessing) - 10, "both curves lie on the dotted line", {"text-anchor": "end"});
    const chosen = found[at] ? wards.findIndex(w => w.name === p.name) : -1, count = found.filter(Boolean).length;
    choice.set(chosen);
    back.setAttribute("aria-disabled", at === 0);
    next.setAttribute("aria-disabled", at === patients.length - 1);
    Object.assign(ui.root.dataset, {patient: at + 1, found: count, right: found[at]});
    ui.caption(`Patient ${at + 1} of ${patients.length}, ${count} found. ` + (last[at] || "What ails it? Choose a diagnosis."));
  };
}
