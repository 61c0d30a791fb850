// A network as boxes to scale: choose a layer and see its shape, costs, receptive field, and an image's maps there.
// data: layers (`figures.volumes.Volume` each, with text, words, facts and says), at (chosen first), maps (null, or for each layer low, high, bytes in base64; the last one's values and answer), geometry.
// The boxes are laid out as by `figures.volumes.layout`.
ui => {
  const {layers, maps, geometry: g} = ui.data, look = ui.look, EDGE = 8, last = layers.length - 1;
  let at = ui.data.at;
  const to = i => { at = Math.max(0, Math.min(last, i)); };
  const names = ui.choice("layer", layers.map(v => v.name), to, at);
  const boxes = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Boxes of the network: arrow keys choose a layer",
    style: "padding:0"}, ui.stage);
  ui.keys(boxes, {ArrowLeft: () => to(at - 1), ArrowRight: () => to(at + 1), Home: () => to(0), End: () => to(last)});
  const facts = ui.html("table", {style: "border-collapse:collapse;margin:4px 8px;font-size:14px"}, ui.stage);
  const room = maps && ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:8px 16px;padding:4px 8px 8px;align-items:flex-start"}, ui.stage);
  const face = (pixels, scale) => Math.max(g.thin, pixels * scale), deep = (v, scale) => g.slant * g.depth * scale * v.maps;
  const foot = (v, scale) => face(v.columns, scale) + deep(v, scale), sum = list => list.reduce((a, b) => a + b, 0);
  const label = v => Math.max(g.letter * v.name.length, g.letter * v.text.length + (v.text.includes("@") ? g.sign : 0));
  const layout = width => {
    let scale, slots;
    for (let k = 160; k >= 10; k--) {
      scale = k / 20;
      slots = layers.map(v => Math.max(foot(v, scale), label(v)));
      if (sum(slots) + g.gap * last <= width) break;
    }
    const up = Math.max(...layers.map(v => face(v.rows, scale) / 2 + deep(v, scale)));
    const down = Math.max(...layers.map(v => face(v.rows, scale) / 2));
    const spare = Math.max(0, width - sum(slots) - g.gap * last) / layers.length;
    let x = 0;
    const places = layers.map((v, i) => {
      const place = [EDGE + x + (spare + slots[i] - foot(v, scale)) / 2, 6 + up - face(v.rows, scale) / 2];
      x += slots[i] + spare + g.gap;
      return place;
    });
    return {scale, height: 6 + up + down + 8 + g.labels, places, width: Math.max(width, x - g.gap)};
  };
  const values = maps && maps.map(m => Uint8Array.from(atob(m.bytes), c => c.charCodeAt(0)));
  const number = v => `${v}`.replace("-", "−");

  const drawBoxes = () => {
    const {scale, height, places, width} = layout(ui.width - 2 * EDGE), wide = width + 2 * EDGE;
    boxes.replaceChildren();
    const svg = ui.svg("svg", {width: wide, height, viewBox: `0 0 ${wide} ${height}`, "aria-hidden": "true"}, boxes);
    layers.forEach((v, i) => {
      const [x, y] = places[i], w = face(v.columns, scale), h = face(v.rows, scale), d = deep(v, scale), on = i === at;
      const fill = on ? look.output : look.data, stroke = {stroke: on ? look.ink : look.muted, "stroke-width": on && h > g.thin ? 2 : 1};
      const polygon = (points, opacity) => {
        ui.svg("polygon", {points: points.join(" "), fill: look.paper}, svg);
        ui.svg("polygon", {points: points.join(" "), fill, "fill-opacity": opacity, ...stroke}, svg);
      };
      polygon([[x, y], [x + d, y - d], [x + w + d, y - d], [x + w, y]], .35);
      polygon([[x + w, y], [x + w + d, y - d], [x + w + d, y + h - d], [x + w, y + h]], .5);
      polygon([[x, y], [x + w, y], [x + w, y + h], [x, y + h]], .2);
      [v.name, v.text].forEach((text, k) => ui.svg("text", {x: x + foot(v, scale) / 2, y: height - g.labels + 14 + 15 * k,
        "text-anchor": "middle", "font-weight": on && !k ? "bold" : null}, svg, text));
    });
    for (let i = 1; i <= last; i++) {
      const [top, left, rows, columns] = layers[i].window, [x0, y0] = places[i - 1], [x1, y1] = places[i], on = i === at;
      const line = {stroke: on ? look.ink : look.muted, "stroke-width": on ? 1.5 : .7, fill: "none", "pointer-events": "none"};
      const x = x0 + left * scale, y = y0 + top * scale, w = face(columns, scale), h = face(rows, scale);
      const end = [x1 + face(1, scale) / 2 + layers[i].unit[1] * scale, y1 + face(1, scale) / 2 + layers[i].unit[0] * scale];
      ui.svg("rect", {x, y, width: w, height: h, ...line}, svg);
      ui.svg("path", {d: `M${x + w} ${y}L${end}L${x + w} ${y + h}`, ...line}, svg);
    }
    const [top, left, rows, columns] = layers[at].seen, [x0, y0] = places[0];
    ui.svg("rect", {x: x0 + left * scale, y: y0 + top * scale, width: columns * scale, height: rows * scale, fill: "none",
      stroke: look.ink, "stroke-width": 2, "stroke-dasharray": "4 3", "pointer-events": "none"}, svg);
    layers.forEach((v, i) => {
      const [x] = places[i], w = Math.max(24, foot(v, scale) + g.gap), hit = ui.svg("rect", {x: Math.max(0, x - g.gap / 2),
        y: 0, width: w, height, fill: "transparent", "data-layer": i, style: "cursor:pointer"}, svg);
      hit.addEventListener("click", () => { to(i); ui.draw(); });
    });
    ui.root.dataset.places = JSON.stringify(places.map(([x, y]) => [x - EDGE, y]));
    ui.root.dataset.scale = scale;
  };

  const drawFacts = v => {
    facts.replaceChildren();
    for (const [name, text] of v.facts) {
      const line = ui.html("tr", {}, facts);
      ui.html("th", {scope: "row", style: "text-align:left;font-weight:normal;padding:1px 12px 1px 0"}, line, name);
      ui.html("td", {style: "padding:1px 0;font-weight:bold"}, line, text);
    }
  };

  // Numbers of some maps as one canvas: grey from white (low) to black (high), or a colour image of three maps.
  const canvas = (i, columns, size, gap, colour, parent, label) => {
    const v = layers[i], maps_ = colour ? 1 : v.maps, rows = Math.ceil(maps_ / columns), n = v.rows * v.columns;
    const w = columns * (v.columns * size + gap) - gap, h = rows * (v.rows * size + gap) - gap;
    const node = ui.html("canvas", {width: w, height: h, role: "img", "aria-label": label,
      style: `display:block;width:${w}px;height:${h}px;image-rendering:pixelated`}, parent), pen = node.getContext("2d");
    const spot = m => [(m % columns) * (v.columns * size + gap), Math.floor(m / columns) * (v.rows * size + gap)];
    for (let m = 0; m < maps_; m++) {
      const [x, y] = spot(m);
      for (let r = 0; r < v.rows; r++) for (let c = 0; c < v.columns; c++) {
        const k = r * v.columns + c, q = values[i];
        pen.fillStyle = colour ? `rgb(${q[k]},${q[n + k]},${q[2 * n + k]})` : `rgb(${Array(3).fill(255 - q[m * n + k])})`;
        pen.fillRect(x + c * size, y + r * size, size, size);
      }
      pen.strokeStyle = look.idle;
      pen.strokeRect(x + .5, y + .5, v.columns * size - 1, v.rows * size - 1);
    }
    return {pen, spot};
  };
  const frame = (pen, x, y, w, h) => {
    pen.lineWidth = 4; pen.strokeStyle = look.paper; pen.strokeRect(x, y, w, h);
    pen.lineWidth = 2; pen.strokeStyle = look.output; pen.strokeRect(x, y, w, h);
  };

  const drawMaps = v => {
    room.replaceChildren();
    const part = (title, wide = "100%") => {
      const block = ui.html("div", {style: `max-width:${wide}`}, room);
      ui.html("p", {style: "margin:0 0 3px"}, block, title);
      return block;
    };
    const first = layers[0], zoom = Math.max(1, Math.floor(128 / first.columns)), [top, left, rows, columns] = v.seen;
    const colour = first.maps === 3;
    const says = at ? `the frame: what one number of ${v.name} sees` : "the image";
    const input = canvas(0, 1, zoom, 0, colour, part(says, "150px"), `The image, with a frame around ${rows} x ${columns} pixels`);
    if (at) frame(input.pen, left * zoom + 1, top * zoom + 1, columns * zoom - 2, rows * zoom - 2);
    if (!at) return;
    const m = maps[at], wide = ui.width - 2 * EDGE - (ui.width < 520 ? 0 : 150 + 32);
    if (at === last) {
      const block = part(`the ${v.maps} numbers; the answer is number ${m.answer}`);
      const line = ui.html("div", {style: "display:flex;flex-wrap:wrap;gap:4px;max-width:340px"}, block);
      m.values.forEach((value, k) => {
        const cell = ui.html("span", {style: `border:${k === m.answer ? `3px solid ${look.ink}` : `1px solid ${look.idle}`};` +
          `padding:2px 5px;min-width:44px;font-weight:${k === m.answer ? "bold" : "normal"}`}, line);
        ui.html("span", {style: `color:${look.muted}`}, cell, `${k}: `);
        ui.html("span", {}, cell, number(value));
      });
      return;
    }
    const single = v.rows * v.columns === 1, gap = single ? 1 : 6;
    let size = single ? 14 : Math.max(1, Math.min(4, Math.floor(84 / v.columns)));
    const fit = () => Math.max(1, Math.min(v.maps, Math.floor((wide + gap) / (v.columns * size + gap))));
    if (!single) while (size > 1 && fit() < Math.min(v.maps, 4)) size--;
    const most = single ? Math.min(20, fit()) : fit();
    const block = part(`the ${v.words} of this image: white ${number(m.low)}, black ${number(m.high)}`);
    const drawn = canvas(at, most, size, gap, false, block, `${v.words} at ${v.name}, grey from white ${m.low} to black ${m.high}`);
    const [x, y] = drawn.spot(0);
    frame(drawn.pen, x + v.unit[1] * size, y + v.unit[0] * size, Math.max(3, size), Math.max(3, size));
  };

  ui.draw = () => {
    const v = layers[at];
    names.set(at);
    drawBoxes();
    drawFacts(v);
    if (maps) drawMaps(v);
    Object.assign(ui.root.dataset, {at, name: v.name, shape: v.text, seen: v.seen.join(" ")});
    ui.caption(v.says);
  };
}
