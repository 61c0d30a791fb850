// An NDRange: every work-item of a two-dimensional launch, in its work-group, and what its ids are.
// data: columns, rows (of the array), group (work-items of a group along x and y), most, sides.
ui => {
  const {most, sides} = ui.data, look = ui.look;
  let {columns, rows} = ui.data, [lx, ly] = ui.data.group, x = columns - 1, y = rows - 1;
  ui.slider("columns", {min: 1, max: most, value: columns}, v => { columns = v; });
  ui.slider("rows", {min: 1, max: most, value: rows}, v => { rows = v; });
  ui.choice("local size x", sides.map(String), i => { lx = sides[i]; }, sides.indexOf(lx));
  ui.choice("y", sides.map(String), i => { ly = sides[i]; }, sides.indexOf(ly));
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Work-items: arrow keys choose one"}, ui.stage);
  const told = ui.html("div", {style: "margin:6px 8px;min-height:10.5em;overflow-x:auto"}, ui.stage);
  const up = (n, unit) => Math.ceil(n / unit) * unit;
  const go = (dx, dy) => { x += dx; y += dy; };
  ui.keys(pad, {ArrowLeft: () => go(-1, 0), ArrowRight: () => go(1, 0), ArrowUp: () => go(0, -1), ArrowDown: () => go(0, 1),
    Home: () => go(-99, -99), End: () => go(99, 99)});
  ui.draw = () => {
    const gx = up(columns, lx), gy = up(rows, ly);
    x = Math.max(0, Math.min(gx - 1, x));
    y = Math.max(0, Math.min(gy - 1, y));
    const W = Math.min(ui.width, 560), left = 26, cell = Math.min(30, Math.floor((W - left - 4) / gx)), H = 22 + gy * cell + 6;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, pad);
    const mute = {style: `fill:${look.muted}`}, every = Math.ceil(20 / cell);
    ui.svg("text", {x: 2, y: 14, ...mute}, svg, "y\\x");
    for (let i = 0; i < gx; i += every) ui.svg("text", {x: left + (i + .5) * cell, y: 14, "text-anchor": "middle", ...mute}, svg, i);
    for (let j = 0; j < gy; j++) {
      if (j % every === 0) ui.svg("text", {x: left - 5, y: 22 + (j + .5) * cell + 4, "text-anchor": "end", ...mute}, svg, j);
      for (let i = 0; i < gx; i++) {
        const no = i >= columns || j >= rows, odd = (Math.floor(i / lx) + Math.floor(j / ly)) % 2;
        const own = Math.floor(i / lx) === Math.floor(x / lx) && Math.floor(j / ly) === Math.floor(y / ly);
        const node = ui.box(left + i * cell, 22 + j * cell, cell - 1, cell - 1, {fill: no ? look.idle : look.thread,
          "fill-opacity": no ? .12 : own ? .85 : odd ? .45 : .2, stroke: look.idle, "stroke-width": .6}, svg, no);
        node.style.cursor = "pointer";
        node.addEventListener("click", () => { x = i; y = j; ui.draw(); });
      }
    }
    const frame = {fill: "none", stroke: look.ink, "pointer-events": "none"};
    for (let j = 0; j < gy; j += ly) for (let i = 0; i < gx; i += lx)
      ui.box(left + i * cell - .5, 22 + j * cell - .5, lx * cell, ly * cell, {...frame, "stroke-width": 1.3}, svg);
    ui.box(left + x * cell - .5, 22 + y * cell - .5, cell, cell, {...frame, "stroke-width": 3}, svg);
    const groups = [Math.floor(x / lx), Math.floor(y / ly)], locals = [x % lx, y % ly], idle = x >= columns || y >= rows;
    told.replaceChildren();
    const table = ui.html("table", {style: "border-collapse:collapse;font-size:13px"}, told);
    const row = cells => {
      const tr = ui.html("tr", {}, table);
      cells.forEach((c, k) => ui.html(k ? "td" : "th", {style: `padding:1px 10px 1px 0;text-align:${k ? "right" : "left"};` +
        (k ? "" : "font-weight:normal;font-family:monospace"), ...(k ? {} : {scope: "row"})}, tr, c));
    };
    row(["", "x", "y"]);
    row(["get_global_size", `${gx}`, `${gy}`]);
    row(["get_local_size", `${lx}`, `${ly}`]);
    row(["get_group_id", `${groups[0]}`, `${groups[1]}`]);
    row(["get_local_id", `${locals[0]}`, `${locals[1]}`]);
    row(["get_global_id", `${groups[0]} × ${lx} + ${locals[0]} = ${x}`, `${groups[1]} × ${ly} + ${locals[1]} = ${y}`]);
    const n = gx * gy - columns * rows;
    Object.assign(ui.root.dataset, {global: JSON.stringify([x, y]), group: JSON.stringify(groups), local: JSON.stringify(locals),
      size: JSON.stringify([gx, gy]), groups: gx / lx * (gy / ly), idle: n, works: !idle});
    ui.caption(`${gx} × ${gy} work-items in ${gx / lx * (gy / ly)} work-groups for ${columns * rows} numbers; ${n ? `${n} have none` : "all have one"}. ` +
      (idle ? "This one has none: the guard keeps it out." : `This one has number ${y} × ${columns} + ${x} = ${y * columns + x} of the buffer.`));
  };
}
