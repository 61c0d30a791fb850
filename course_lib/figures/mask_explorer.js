// A mask to type, applied to an image at once; the output that is pointed at shows its window and its sum.
// data: images (name, pixels in hundredths, whether 1 is ink), masks (for each of sizes, by name), strides, first, at. Sums as `figures.masks`.
ui => {
  const {images, masks, sizes, strides, first} = ui.data, look = ui.look, names = [...Object.keys(masks[0]), "your own"];
  const OWN = names.length - 1, signed = (v, digits = 2) => String(+v.toFixed(digits) || 0).replace("-", "−");
  let image = 0, size = 0, preset = names.indexOf(first), stride = 1, padding = true, [h, v] = ui.data.at, own, y, drawn = "";
  const K = () => sizes[size], pad = () => padding ? (K() - 1) / 2 : 0, grid = fill => Array.from({length: K()}, fill);
  const framed = (mask, n) => {
    const shift = (mask.length - n) / 2;
    return Array.from({length: n}, (_, p) => Array.from({length: n}, (_, q) => (mask[p + shift] || [])[q + shift] ?? 0));
  };
  own = framed([[1]], K());
  let mask = masks[size][first];
  ui.choice("image", images.map(one => one.name), i => { image = i; }, image);
  const kind = ui.choice("mask", names, i => { preset = i; load(); }, preset);
  ui.choice("size", sizes.map(k => `${k} × ${k}`), i => {
    size = i;
    own = framed(own, K());
    load();
  }, size);
  ui.choice("stride", strides.map(String), i => { stride = strides[i]; }, 0);
  ui.choice("padding", ["none", "zeros"], i => { padding = i === 1; }, 1);
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:14px;padding:8px;align-items:flex-start"}, ui.stage);
  const sheet = label => {
    const box = ui.html("div", {tabindex: 0, role: "group", "aria-label": label}, room);
    const title = ui.html("div", {style: "font-weight:bold;margin-bottom:4px"}, box);
    const frame = ui.html("div", {style: "position:relative;touch-action:manipulation"}, box);
    const canvas = ui.html("canvas", {style: "display:block;image-rendering:pixelated;cursor:crosshair"}, frame);
    const over = ui.svg("svg", {style: "position:absolute;left:0;top:0;pointer-events:none;overflow:visible"}, frame);
    return {box, title, frame, canvas, over};
  };
  const left = sheet("Image: arrow keys move the window"), right = sheet("Output: arrow keys choose a number");
  const cards = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:14px;align-items:flex-start"}, room);
  const card = () => {
    const box = ui.html("div", {}, cards);
    return [ui.html("div", {style: "font-weight:bold;margin-bottom:4px"}, box), ui.html("div", {}, box)];
  };
  const [maskTitle, maskBox] = card(), [windowTitle, windowBox] = card(), [productTitle, productBox] = card();
  const scale = ui.html("p", {style: "margin:0 8px 4px"}, ui.stage);
  const sum = ui.html("p", {style: "margin:0 8px 8px;overflow-wrap:anywhere"}, ui.stage);
  const read = text => {
    const plain = text.trim().replace(/[−–]/g, "-").replace(",", "."), [a, b] = plain.split("/");
    const number = t => t !== undefined && /^[+-]?(\d+\.?\d*|\.\d+)$/.test(t.trim()) ? Number(t) : NaN;
    const value = plain.includes("/") ? number(a) / number(b) : number(a);
    return Math.abs(value) <= 999 && plain.split("/").length < 3 ? value : NaN;
  };
  let cells = [], wrong = [];
  const typed = () => {
    wrong = [];
    own = grid((_, p) => grid((_, q) => {
      const node = cells[p][q], value = read(node.value), bad = Number.isNaN(value);
      node.setAttribute("aria-invalid", bad);
      node.style.borderStyle = bad ? "dashed" : "solid";
      node.style.borderColor = bad ? look.hazard : look.weight;
      if (bad) wrong.push(`row ${p}, column ${q}`);
      return bad ? 0 : value;
    }));
    mask = own;
    preset = OWN;
    kind.set(OWN);
    ui.draw();
  };
  const load = () => {
    mask = preset === OWN ? own : masks[size][names[preset]];
    wrong = [];
    maskBox.replaceChildren();
    maskBox.style.cssText = `display:grid;grid-template-columns:repeat(${K()},46px);gap:2px`;
    cells = grid((_, p) => grid((_, q) => {
      const node = ui.html("input", {type: "text", autocomplete: "off", "aria-label": `weight, row ${p}, column ${q}`,
        style: `width:46px;height:34px;box-sizing:border-box;text-align:center;font-family:inherit;font-size:12px;border:1.5px solid ${look.weight};` +
          `border-radius:3px;background:${look.paper};color:${look.ink};padding:0`}, maskBox);
      node.value = signed(mask[p][q], 4).replace("0.1111", "1/9");
      node.addEventListener("input", typed);
      node.addEventListener("focus", () => node.select());
      return node;
    }));
  };
  load();
  const convolve = () => {
    const x = images[image].pixels, [H, W, P] = [x.length, x[0].length, pad()], out = n => 1 + Math.floor((n - K() + 2 * P) / stride);
    return Array.from({length: out(H)}, (_, r) => Array.from({length: out(W)}, (_, c) => {
      let total = 0;
      for (let p = 0; p < K(); p++) for (let q = 0; q < K(); q++) {
        const row = x[r * stride + p - P];
        if (row) total += (row[c * stride + q - P] ?? 0) / 100 * mask[p][q];
      }
      return total;
    }));
  };
  const within = (value, n) => Math.max(0, Math.min(n - 1, value));
  const choose = (r, c) => { h = within(r, y.length); v = within(c, y[0].length); };
  const arrows = {ArrowLeft: () => choose(h, v - 1), ArrowRight: () => choose(h, v + 1), ArrowUp: () => choose(h - 1, v),
    ArrowDown: () => choose(h + 1, v), Home: () => choose(0, 0), End: () => choose(1e3, 1e3)};
  ui.keys(left.box, arrows);
  ui.keys(right.box, arrows);
  const place = (event, one, rows, columns) => {
    const box = one.canvas.getBoundingClientRect();
    return [Math.floor((event.clientY - box.top) / box.height * rows), Math.floor((event.clientX - box.left) / box.width * columns)];
  };
  ["pointermove", "pointerdown"].forEach(kind => {
    right.canvas.addEventListener(kind, event => { choose(...place(event, right, y.length, y[0].length)); ui.draw(); });
    left.canvas.addEventListener(kind, event => {
      const P = pad(), x = images[image].pixels, at = place(event, left, x.length + 2 * P, x[0].length + 2 * P);
      choose(...at.map(n => Math.round((n - (K() - 1) / 2) / stride)));
      ui.draw();
    });
  });
  const paint = (one, values, low, high, side) => {
    const [rows, columns] = [values.length, values[0].length], wide = side, high_ = Math.round(side * rows / columns);
    Object.assign(one.canvas, {width: columns, height: rows});
    one.canvas.style.width = `${wide}px`;
    one.canvas.style.height = `${high_}px`;
    const context = one.canvas.getContext("2d"), bytes = context.createImageData(columns, rows);
    values.flat().forEach((value, k) => {
      const grey = Math.round(255 * (value - low) / (high - low || 1));
      bytes.data.set([grey, grey, grey, 255], 4 * k);
    });
    context.putImageData(bytes, 0, 0);
    one.over.setAttribute("width", wide);
    one.over.setAttribute("height", high_);
    one.unit = wide / columns;
  };
  const mark = (one, r, c, n, role) => {
    one.over.replaceChildren();
    const u = one.unit, place = {x: c * u, y: r * u, width: n * u, height: n * u, fill: "none"};
    ui.svg("rect", {...place, stroke: look.paper, "stroke-width": 4}, one.over);
    ui.svg("rect", {...place, stroke: look[role], "stroke-width": 2}, one.over);
  };
  const numbers = (box, values, role) => {
    const wide = 46, n = K();
    box.replaceChildren();
    const svg = ui.svg("svg", {width: n * wide + 2, height: n * 36 + 2, "aria-hidden": "true"}, box);
    values.forEach((row, p) => row.forEach((value, q) => {
      ui.box(1 + q * wide, 1 + p * 36, wide, 34, {fill: look[role], "fill-opacity": .2, stroke: look.idle}, svg, value === null);
      ui.svg("text", {x: 1 + (q + .5) * wide, y: p * 36 + 22, "text-anchor": "middle"}, svg, value === null ? "0" : signed(value));
    }));
  };
  ui.draw = () => {
    const x = images[image].pixels, P = pad(), n = K();
    const side = Math.floor(ui.width < 520 ? Math.min(300, ui.width - 20) : Math.min(300, (ui.width - 34) / 2));
    const key = JSON.stringify([image, size, stride, padding, mask, side]);
    if (key !== drawn) {
      drawn = key;
      y = convolve();
      const all = y.flat(), most = Math.max(...all.map(Math.abs)) || 1, low = Math.min(...all) < 0 ? -most : 0;
      const row = Array(x[0].length + 2 * P).fill(0), rows = Array(P).fill(row);
      const ink = images[image].ink, ends = (one, other) => ink ? [other, one] : [one, other];  // ink is dark, light is light
      paint(left, [...rows, ...x.map(r => [...Array(P).fill(0), ...r, ...Array(P).fill(0)]), ...rows], ...ends(0, 100), side);
      paint(right, y, ...ends(low, most), side);
      left.title.textContent = `x (${x.length}, ${x[0].length})` + (P ? `, framed by zeros, ${P} wide` : "");
      right.title.textContent = `y (${y.length}, ${y[0].length})`;
      const [least, largest] = ink ? ["white", "black"] : ["black", "white"];
      scale.textContent = `Image: ${least} is 0, ${largest} is 1. Output: ` + (low ?
        `${least} is ${signed(-most)}, middle grey is 0, ${largest} is ${signed(most)}.` : `${least} is 0, ${largest} is ${signed(most)}; no sum is negative.`);
      ui.root.sums = y;
    }
    choose(h, v);
    mark(left, h * stride, v * stride, n, "data");
    mark(right, h, v, 1, "output");
    const seen = grid((_, p) => grid((_, q) => (x[h * stride + p - P] || [])[v * stride + q - P] ?? null));
    const part = seen.map(row => row.map(value => value === null ? null : value / 100));
    const products = part.map((row, p) => row.map((value, q) => value === null ? null : value * mask[p][q]));
    maskTitle.textContent = "mask w, to type into";
    windowTitle.textContent = "window of x";
    productTitle.textContent = "products";
    numbers(windowBox, part, "data");
    numbers(productBox, products, "output");
    const outside = part.flat().filter(value => value === null).length, bad = wrong.length;
    sum.textContent = `The ${n * n} products add up to y[${h}, ${v}] = ${signed(y[h][v], 3)}.` +
      (outside ? ` Hatched: ${outside} of the ${n * n} are zeros of the padding.` : "");
    Object.assign(ui.root.dataset, {image: images[image].name, mask: names[preset], size: n, stride, pad: P, chosen: `${h} ${v}`,
      sum: y[h][v], shape: `${y.length} ${y[0].length}`, wrong: wrong.length});
    ui.caption(bad ? `No number in ${wrong.join("; ")}: counted as 0. Write 2, −0.5 or 1/9.` :
      `${images[image].name[0].toUpperCase()}${images[image].name.slice(1)}, mask "${names[preset]}", stride ${stride}: y[${h}, ${v}] = ` +
      `${signed(y[h][v], 3)}, from the window that begins at row ${h * stride - P}, column ${v * stride - P} of the image.`);
  };
}
