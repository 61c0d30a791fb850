// A map of digits: a click or an arrow key chooses one, which shows its saliency, its occlusion map and its reading.
// data: places (x, y) of all digits, their labels and answers; for the chosen ones permille and digits, written with
// one of 64 characters a number as `figures.digit_maps` does; first, size and stride of the square.
ui => {
  const {labels, answers, chosen, digits, permille, size, stride} = ui.data, look = ui.look;
  const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", N = 28, S = Math.round(Math.sqrt(digits[0].falls.length));
  const code = [...ALPHABET].reduce((all, c, i) => ({...all, [c]: i}), {}), read = text => [...text].map(c => code[c]);
  const FAR = 4095, all = read(ui.data.places), places = [...labels].map((_, i) => [0, 2].map(k => 64 * all[4 * i + k] + all[4 * i + k + 1]));
  const signed = text => read(text).map(v => (v - 31.5) / 31.5), ink = text => read(text).flatMap(v => [v >> 3, v & 7]).map(v => v / 7);
  const wrong = k => labels[chosen[k]] !== answers[chosen[k]], many = chosen.length;
  const percent = v => v >= 1000 ? "> 99.9 %" : `${(v / 10).toFixed(1)} %`;
  let at = ui.data.first;
  const step = by => () => { at = (at + by + many) % many; };
  ui.button("previous", step(-1));
  ui.button("next", step(1));
  const misread = [...chosen.keys()].filter(wrong);
  if (misread.length) ui.button("next misread", () => { at = misread.find(k => k > at) ?? misread[0]; });
  const room = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:10px 16px;padding:8px;align-items:flex-start"}, ui.stage);
  const map = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Map of digits: arrow keys choose a digit"}, room);
  const side = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:8px 12px;align-items:flex-start"}, room);
  const rgb = hex => [1, 3, 5].map(i => parseInt(hex.slice(i, i + 2), 16));
  const blend = (hex, share) => rgb(hex).map(c => Math.round(255 + (c - 255) * Math.min(1, share)));
  const card = () => {
    const box = ui.html("div", {}, side), title = ui.html("div", {style: "font-weight:bold"}, box);
    const frame = ui.html("div", {style: `position:relative;border:1px solid ${look.grid}`}, box);
    const canvas = ui.html("canvas", {style: "display:block;image-rendering:pixelated"}, frame);
    const over = ui.svg("svg", {style: "position:absolute;left:0;top:0;pointer-events:none", "aria-hidden": "true"}, frame);
    const below = ui.html("div", {style: "font-size:12px"}, box);
    return {box, title, frame, canvas, over, below};
  };
  const digit = card(), slopes = card(), falls = card(), reading = ui.html("div", {}, side);
  const place = k => places[chosen[k]];
  // The nearest digit on that side; one that lies off the direction counts as farther away.
  const towards = (dx, dy) => () => {
    const [x, y] = place(at), found = [...chosen.keys()].map(k => {
      const along = (place(k)[0] - x) * dx + (place(k)[1] - y) * dy, off = Math.abs((place(k)[0] - x) * dy + (place(k)[1] - y) * dx);
      return [along > 0 ? along + 2 * off : Infinity, k];
    }).sort((a, b) => a[0] - b[0])[0];
    if (found[0] < Infinity) at = found[1];
  };
  ui.keys(map, {ArrowLeft: towards(-1, 0), ArrowRight: towards(1, 0), ArrowUp: towards(0, 1), ArrowDown: towards(0, -1),
    Home: () => { at = 0; }, End: () => { at = many - 1; }});
  let shape = {};
  map.addEventListener("pointerdown", event => {
    const svg = map.querySelector("svg").getBoundingClientRect();
    const far = k => { const [x, y] = shape.put(place(k)); return Math.hypot(x - event.clientX + svg.left, y - event.clientY + svg.top); };
    at = [...chosen.keys()].reduce((best, k) => far(k) < far(best) ? k : best, 0);
    ui.draw();
  });
  const paint = (one, values, n, wide, more, less) => {
    Object.assign(one.canvas, {width: n, height: n});
    one.canvas.style.width = one.canvas.style.height = `${wide}px`;
    const context = one.canvas.getContext("2d"), bytes = context.createImageData(n, n);
    values.forEach((v, i) => bytes.data.set([...blend(v < 0 ? less : more, Math.abs(v)), 255], 4 * i));
    context.putImageData(bytes, 0, 0);
    one.over.replaceChildren();
    one.over.setAttribute("width", wide);
    one.over.setAttribute("height", wide);
    one.box.style.width = `${wide + 2}px`;
    let dashes = "";
    const u = wide / n;
    values.forEach((v, i) => { if (v < -.4) dashes += `M${(i % n + .2) * u} ${(Math.floor(i / n) + .5) * u}h${.6 * u}`; });
    if (dashes) ui.svg("path", {d: dashes, stroke: look.paper, "stroke-width": 1.2}, one.over);
  };
  // The border between ink and paper, drawn over both answers.
  const outline = (one, pixels, wide, left = 0, unit = wide / N) => {
    let d = "";
    const is = (r, c) => r >= 0 && c >= 0 && r < N && c < N && pixels[r * N + c] >= .5;
    for (let r = 0; r <= N; r++) for (let c = 0; c <= N; c++) {
      if (is(r, c) !== is(r - 1, c)) d += `M${left + c * unit} ${left + r * unit}h${unit}`;
      if (is(r, c) !== is(r, c - 1)) d += `M${left + c * unit} ${left + r * unit}v${unit}`;
    }
    ui.svg("path", {d, stroke: look.ink, "stroke-width": 1, fill: "none"}, one.over);
  };
  ui.draw = () => {
    const i = chosen[at], one = digits[at], narrow = ui.width < 560, wide = narrow ? Math.min(380, ui.width - 18) : Math.min(380, ui.width * .5);
    const tall = Math.round(wide * .9), EDGE = 14;
    shape.put = ([x, y]) => [EDGE + x / FAR * (wide - 2 * EDGE), tall - EDGE - y / FAR * (tall - 2 * EDGE)];
    map.replaceChildren();
    const svg = ui.svg("svg", {width: wide, height: tall, viewBox: `0 0 ${wide} ${tall}`, "aria-hidden": "true", style: "cursor:pointer"}, map);
    ui.svg("rect", {x: .5, y: .5, width: wide - 1, height: tall - 1, fill: look.paper, stroke: look.grid}, svg);
    const dots = places.map(p => shape.put(p).map(v => v.toFixed(1))).map(([x, y]) => `M${x} ${y}h0`).join("");
    ui.svg("path", {d: dots, stroke: look.idle, "stroke-width": 2.4, "stroke-linecap": "round", "stroke-opacity": .6}, svg);
    const point = (k, now) => {
      const [x, y] = shape.put(place(k)), more = {"data-digit": chosen[k]};
      if (now) ui.svg("circle", {cx: x, cy: y, r: 13, fill: look.thread, stroke: look.ink, "stroke-width": 2}, svg);
      if (wrong(k)) ui.svg("rect", {x: x - 7, y: y - 8, width: 14, height: 16, fill: look.paper, stroke: look.hazard, "stroke-width": 2.5}, svg);
      const halo = wrong(k) || now ? "" : `paint-order:stroke;stroke:${look.paper};stroke-width:3px;`;
      ui.svg("text", {x, y: y + 4.5, "text-anchor": "middle", "font-weight": now ? "bold" : null, style: halo, ...more}, svg, labels[chosen[k]]);
    };
    [...chosen.keys()].filter(k => k !== at).forEach(k => point(k, false));
    point(at, true);
    const room = ui.width - (narrow ? 0 : wide + 16) - 16, tile = Math.floor(Math.max(96, Math.min(170, narrow ? (room - 30) / 3 : (room - 18) / 2)));
    side.style.width = narrow ? "100%" : `${room}px`;
    const pixels = ink(one.ink), said = labels[i] === answers[i];
    digit.title.textContent = "digit";
    slopes.title.textContent = "saliency";
    falls.title.textContent = "occlusion";
    paint(digit, pixels, N, tile, look.ink, look.ink);
    paint(slopes, signed(one.slopes), N, tile, ...ui.data.signs);
    outline(slopes, pixels, tile);
    // A square's fall is drawn at its middle: the map begins size / 2 pixels inside of the image's rim of two.
    paint(falls, signed(one.falls), S, tile, ...ui.data.signs);
    const from = size / 2 - 2 - stride / 2, unit = tile / (S * stride);
    outline(falls, pixels, tile, -from * unit, unit);
    digit.below.textContent = `a ${labels[i]}`;
    slopes.below.textContent = `orange: ink here helps; purple, dash: harms`;
    falls.below.textContent = `orange: grey here costs; purple, dash: it helps`;
    reading.replaceChildren();
    const across = narrow ? 250 : Math.max(126, tile), most = across - 80;  // beside the bar its percentage has room
    const bars = ui.svg("svg", {width: across, height: 10 * 17 + 20, "aria-hidden": "true"}, reading);
    ui.svg("text", {x: 0, y: 13, "font-weight": "bold"}, bars, "reading");
    permille[at].forEach((v, k) => {
      const y = 20 + 17 * k, best = String(k) === answers[i];
      ui.svg("text", {x: 0, y: y + 12, "font-weight": best ? "bold" : null}, bars, String(k));
      ui.box(14, y + 2, Math.max(1, v / 1000 * most), 12, {fill: best ? look.output : look.idle}, bars);
      if (v > 4) ui.svg("text", {x: 20 + v / 1000 * most, y: y + 12}, bars, percent(v));
    });
    Object.assign(ui.root.dataset, {chosen: i, at, label: labels[i], answer: answers[i], share: one.share, fall: one.fall, agree: one.agree});
    const others = permille[at].map((v, k) => [v, k]).filter(([, k]) => String(k) !== answers[i]).sort((a, b) => b[0] - a[0])[0];
    ui.caption(`Test digit ${i}: a ${labels[i]}, read ${said ? "correctly " : ""}as ${answers[i]} with ${percent(permille[at][answers[i]])}` +
      `${others[0] ? `, next is ${others[1]} with ${percent(others[0])}` : ""}. Of its saliency ${one.share} % lies on ink. Covering the ` +
      `${size} × ${size} square that counts most lowers the score of "${answers[i]}" by ${one.fall}. What the slopes promise for each square and ` +
      `what covering it does have a correlation of ${one.agree.toFixed(2)}.`);
  };
}
