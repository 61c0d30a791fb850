// A convolution with several maps: choose a pixel, a weight or an output, and see which numbers make up its sum.
// data: x (B, C, H, W), w (M, C, K_h, K_w), dy (B, M, H_out, W_out) as nested lists, kind and at (chosen first).
// Terms and sums as `figures.map_gradients`.
ui => {
  const {x, w, dy} = ui.data, look = ui.look, arrays = {x, w, dy}, KINDS = ["x", "w", "dy"], LETTERS = "abcdefghijklmnopqrstuvwxyz";
  const shape = a => [a.length, a[0].length, a[0][0].length, a[0][0][0].length];
  const [B, C, H, W] = shape(x), [M, , Kh, Kw] = shape(w), [, , Ho, Wo] = shape(dy);
  const value = (name, [i, j, h, v]) => arrays[name][i][j][h][v];
  const number = v => `${+v.toPrecision(3)}`.replace("-", "−"), factor = v => v < 0 ? `(${number(v)})` : number(v);
  const role = {x: look.data, w: look.weight, dy: look.gradient}, axes = {x: "nc", w: "mc", dy: "nm"};
  const factors = {x: ["dy", "w"], w: ["dy", "x"], dy: ["x", "w"]}, group = {x: "m", w: "n", dy: "c"};
  const sum = {x: "dx", w: "dw", dy: "y"}, over = {x: "output map", w: "image", dy: "input map"};
  let kind = ui.data.kind;
  const at = {x: [0, 0, 0, 0], w: [0, 0, 0, 0], dy: [0, 0, 0, 0]};
  at[kind] = ui.data.at;
  const kinds = ui.choice("choose", ["a pixel", "a weight", "an output"], i => { kind = KINDS[i]; }, KINDS.indexOf(kind));
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:10px 16px;padding:8px;align-items:flex-start"}, ui.stage);
  const named = {x: "Input maps x", w: "Masks w", dy: "Gradients dy of the outputs"}, parts = {};
  for (const name of KINDS) {
    parts[name] = ui.html("div", {tabindex: 0, role: "group", "aria-label": `${named[name]}: arrow keys choose a number`}, room);
    const [rows, columns, h, v] = shape(arrays[name]);
    // Arrow keys go through all maps as if they were one sheet.
    const to = (row, column) => {
      kind = name;
      row = Math.max(0, Math.min(rows * h - 1, row));
      column = Math.max(0, Math.min(columns * v - 1, column));
      at[name] = [Math.floor(row / h), Math.floor(column / v), row % h, column % v];
    };
    const by = (down, right) => () => { const [i, j, r, c] = at[name]; to(i * h + r + down, j * v + c + right); };
    ui.keys(parts[name], {ArrowLeft: by(0, -1), ArrowRight: by(0, 1), ArrowUp: by(-1, 0), ArrowDown: by(1, 0),
      Home: () => to(0, 0), End: () => to(rows * h, columns * v)});
  }
  const sums = ui.html("div", {style: "margin:0 8px 8px;overflow-wrap:anywhere"}, ui.stage);
  // [group, place of the first factor, place of the second], in the order of the outputs.
  const terms = () => {
    const found = [], [i, j, r, c] = at[kind];
    if (kind === "w") for (let n = 0; n < B; n++) for (let h = 0; h < Ho; h++) for (let v = 0; v < Wo; v++)
      found.push([n, [n, i, h, v], [n, j, h + r, v + c]]);
    if (kind === "dy") for (let k = 0; k < C; k++) for (let p = 0; p < Kh; p++) for (let q = 0; q < Kw; q++)
      found.push([k, [i, k, r + p, c + q], [j, k, p, q]]);
    if (kind === "x") for (let m = 0; m < M; m++) for (let h = 0; h < Ho; h++) for (let v = 0; v < Wo; v++)
      if (r - h >= 0 && r - h < Kh && c - v >= 0 && c - v < Kw) found.push([m, [i, m, h, v], [m, j, r - h, c - v]]);
    return found;
  };
  ui.draw = () => {
    kinds.set(KINDS.indexOf(kind));
    const LEFT = 40, TOP = 36, GAP = 8, all = terms(), [one, two] = factors[kind];
    const marks = {x: {}, w: {}, dy: {}};
    all.forEach(([, a, b], k) => { marks[one][a] = marks[two][b] = LETTERS[k] || "·"; });
    const most = Math.max(...KINDS.map(name => shape(arrays[name])[1] * shape(arrays[name])[3]));
    const cell = Math.max(24, Math.min(36, Math.floor((ui.width - 26 - LEFT - 3 * GAP) / most)));
    for (const name of KINDS) {
      const [rows, columns, h, v] = shape(arrays[name]), title = `${name} (${shape(arrays[name]).join(", ")})`;
      const width = Math.max(LEFT + columns * (v * cell + GAP), title.length * 8), height = TOP + rows * (h * cell + GAP);
      parts[name].replaceChildren();
      const svg = ui.svg("svg", {width, height, viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true"}, parts[name]);
      const text = (a, b, t, more) => ui.svg("text", {x: a, y: b, "pointer-events": "none", ...more}, svg, t);
      text(0, 13, title, {"font-weight": "bold"});
      const mute = {style: `fill:${look.muted}`};
      for (let j = 0; j < columns; j++) text(LEFT + j * (v * cell + GAP), 30, `${axes[name][1]} = ${j}`, mute);
      for (let i = 0; i < rows; i++) text(0, TOP + i * (h * cell + GAP) + h * cell / 2 + 4, `${axes[name][0]} = ${i}`, mute);
      let frame = null;
      for (let i = 0; i < rows; i++) for (let j = 0; j < columns; j++) for (let r = 0; r < h; r++) for (let c = 0; c < v; c++) {
        const place = [i, j, r, c], letter = marks[name][place], chosen = name === kind && `${place}` === `${at[kind]}`;
        const X = LEFT + j * (v * cell + GAP) + c * cell, Y = TOP + i * (h * cell + GAP) + r * cell;
        const box = ui.box(X, Y, cell, cell, {fill: letter ? role[name] : look.paper, "fill-opacity": letter ? .4 : 1,
          stroke: look.idle, "data-place": place.join(" "), "data-mark": letter || null}, svg);
        box.style.cursor = "pointer";
        box.addEventListener("click", () => { kind = name; at[name] = place; ui.draw(); });
        text(X + cell / 2 + (letter ? 4 : 0), Y + cell - 8, number(value(name, place)), {"text-anchor": "middle",
          ...(letter || chosen ? {"font-weight": "bold"} : mute)});
        if (letter) text(X + 3, Y + 11, letter);
        if (chosen) frame = [X, Y];
      }
      if (frame) ui.box(...frame, cell, cell, {fill: "none", stroke: look.ink, "stroke-width": 3, "pointer-events": "none"}, svg);
    }
    const name = `${sum[kind]}[${at[kind].join(", ")}]`, byGroup = new Map();
    for (const [g, a, b] of all) byGroup.set(g, [...(byGroup.get(g) || []), [value(one, a), value(two, b)]]);
    sums.replaceChildren();
    const rule = {x: "sum over m, p, q of dy[n, m, h − p, v − q] · w[m, c, p, q]",
      w: "sum over n, h, v of dy[n, m, h, v] · x[n, c, h + p, v + q]",
      dy: "sum over c, p, q of x[n, c, h + p, v + q] · w[m, c, p, q]"}[kind];
    ui.html("p", {style: "margin:0 0 4px"}, sums, `${name} = ${rule}`);
    const parted = [];
    for (const [g, pairs] of byGroup) {
      const part = pairs.reduce((s, [a, b]) => s + a * b, 0);
      parted.push(part);
      ui.html("p", {style: "margin:0;padding-left:1em"}, sums, `${group[kind]} = ${g}: ` +
        pairs.map(([a, b], k) => `${k ? factor(a) : number(a)}·${factor(b)}`).join(" + ") + ` = ${number(part)}`);
    }
    const total = parted.reduce((s, v) => s + v, 0), own = value("dy", at.dy);
    ui.html("p", {style: "margin:4px 0 0;font-weight:bold"}, sums, `${name} = ` +
      `${parted.map((v, k) => k ? factor(v) : number(v)).join(" + ")} = ${number(total)}`);
    Object.assign(ui.root.dataset, {kind, chosen: at[kind].join(" "), total, parts: JSON.stringify(parted),
      terms: JSON.stringify(all)});
    const count = `${all.length} product${all.length === 1 ? "" : "s"}, ${parted.length} ${over[kind]}${parted.length === 1 ? "" : "s"}`;
    ui.caption(`${name} = ${number(total)}: ${count}. ` + (kind === "dy" ?
      `Backward, its dy of ${number(own)} sends ${number(own)} times the weight to each marked pixel, and ${number(own)} times the ` +
      "pixel to each marked weight." : `Cells with the same letter are multiplied; added up for each ${over[kind]}, then over all.`));
  };
}
