// Who holds which element of A, B and C: data: maps (name, a, b, c: matrices of 8 lane + 2 register + part), first, lane.
ui => {
  const {maps, first} = ui.data, look = ui.look, letters = ["a", "b", "c"];
  let at = first, lane = ui.data.lane;
  ui.choice("", maps.map(m => m.name), i => { at = i; }, first);
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Lanes: left and right choose one"}, ui.stage);
  const step = by => () => { lane = (lane + by + 32) % 32; };
  ui.keys(pad, {ArrowLeft: step(-1), ArrowRight: step(1), ArrowUp: step(-4), ArrowDown: step(4), Home: () => { lane = 0; },
    End: () => { lane = 31; }});
  // What is drawn anew below a mouse at rest must not choose: only a mouse that has moved does.
  let seen = "";
  for (const what of ["pointermove", "click"]) pad.addEventListener(what, event => {
    const now = `${event.clientX} ${event.clientY}`, holder = event.target.dataset && event.target.dataset.holder;
    if (holder === undefined || (what === "pointermove" && now === seen)) return;
    seen = now;
    if (+holder !== lane) { lane = +holder; ui.draw(); }
  });
  const roles = {a: "data", b: "weight", c: "output"}, titles = {a: "A", b: "B", c: "C and D"};
  ui.draw = () => {
    const map = maps[at], depth = map.a[0].length, left = 26, gap = 26, W = Math.min(ui.width, 640);
    const cell = Math.max(8, Math.min(22, Math.floor((W - left - gap - 8) / (depth + 8)))), top = 38;
    const x0 = left + cell * depth + gap, y0 = top + cell * depth + 44, wide = x0 + 8 * cell + 8, high = y0 + 16 * cell + 8;
    const places = {a: [left, y0], b: [x0, top], c: [x0, y0]}, own = {};
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: wide, height: high, viewBox: `0 0 ${wide} ${high}`, "aria-hidden": "true"}, pad);
    for (const letter of letters) {
      const [x, y] = places[letter], colour = look[roles[letter]];
      own[letter] = [];
      ui.svg("text", {x, y: y - 22, "font-weight": "bold"}, svg, titles[letter]);
      // Every fourth row and column has its number; C's rows are A's, and its columns B's.
      const mute = {style: `fill:${look.muted}`};
      map[letter].forEach((row, i) => {
        if (i % 4 === 0 && letter !== "c") ui.svg("text", {x: x - 5, y: y + cell * i + cell / 2 + 4, "text-anchor": "end", ...mute}, svg, i);
      });
      map[letter][0].forEach((who, j) => {
        if (j % 4 === 0) ui.svg("text", {x: x + cell * (j + .5), y: y - 6, "text-anchor": "middle", ...mute}, svg, j);
      });
      map[letter].forEach((row, i) => row.forEach((who, j) => {
        const mine = who >> 3 === lane, register = who >> 1 & 3;
        if (mine) own[letter].push([register, who & 1, i, j]);
        const box = ui.svg("rect", {x: x + cell * j, y: y + cell * i, width: cell, height: cell, fill: colour,
          "fill-opacity": mine ? .9 : (who >> 5) % 2 ? .26 : .1, stroke: mine ? look.ink : look.grid,
          "stroke-width": mine ? 2 : 1}, svg);
        box.style.cursor = "pointer";
        box.dataset.holder = who >> 3;
        if (mine && cell >= 11) ui.svg("text", {x: x + cell * (j + .5), y: y + cell * i + cell / 2 + 4, "text-anchor": "middle",
          style: `fill:${look.ink};font-weight:bold`, "pointer-events": "none"}, svg, register);
      }));
    }
    const told = letter => {
      const found = {};
      own[letter].sort((p, q) => p[0] - q[0] || p[1] - q[1]).forEach(([r, , i, j]) => {
        (found[r] = found[r] || []).push(`${letter === "c" ? "C" : letter.toUpperCase()}[${i}, ${j}]`);
      });
      return Object.entries(found).map(([r, elements]) => `${letter}[${r}] = ${elements.join(", ")}`).join("; ");
    };
    ui.root.dataset.lane = lane;
    ui.root.dataset.kind = at;
    ui.root.dataset.own = JSON.stringify(own);
    ui.caption(`Lane ${lane}: ${told("a")}. ${told("b")}. ${told("c")}. Numbers in cells: the lane's register.`);
  };
}
