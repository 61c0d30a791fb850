// A warp walks through its kernel: executed lines as rows, lanes as columns, revealed row by row.
//
// ui.data has `rows`, each [line, text, a letter for each lane, words], `means` (of the letters), `summary`, and how
// many rows there are `more`.
ui => {
  const {rows, means, summary, more} = ui.data, look = ui.look, last = rows.length;
  let shown = Math.min(1, last);
  const go = to => { shown = Math.max(1, Math.min(last, to)); };
  const active = row => [...row[2]].filter(c => c === "a" || c === "b").length;
  const there = row => [...row[2]].filter(c => c !== "-").length;
  const nextSplit = () => {
    for (let k = shown; k < last; k++) if (active(rows[k]) < there(rows[k])) return k + 1;
    return -1;
  };
  const first = ui.button("First", () => go(1)), previous = ui.button("Previous", () => go(shown - 1));
  const next = ui.button("Next", () => go(shown + 1)), end = ui.button("All", () => go(last));
  const split = ui.button("Next line with idle lanes", () => go(nextSplit()));
  const slider = ui.slider("Lines", {min: 1, max: last, value: shown, say: v => `${v} of ${last}`}, go);
  ui.keys(ui.root, {
    ArrowRight: () => go(shown + 1), ArrowLeft: () => go(shown - 1), Home: () => go(1), End: () => go(last),
  });
  ui.stage.before(ui.root.querySelector(".course-live-caption"));  // so that nobody has to scroll after each line
  ui.stage.tabIndex = 0;
  ui.stage.setAttribute("role", "group");
  ui.stage.setAttribute("aria-label", "The strip; arrow keys go on and back");
  ui.stage.style.maxHeight = "520px";
  ui.stage.style.overflowY = "auto";
  ui.draw = () => {
    ui.stage.textContent = "";
    const narrow = ui.width < 560, left = narrow ? 8 : Math.min(230, ui.width - 32 * 12 - 70), right = narrow ? 0 : 62;
    const cell = Math.max(10, Math.min(20, Math.floor((ui.width - left - right - 4) / 32)));
    const bar = narrow ? 18 : 0, h = 18 + bar, top = 34;
    const svg = ui.svg("svg", {width: left + 32 * cell + right + 4, height: top + rows.length * h + 6, role: "img",
      "aria-label": `${shown} of ${last} executed lines`}, ui.stage);
    const hatch = ui.svg("pattern", {id: `walk-${ui.root.dataset.live}`, width: 6, height: 6, patternUnits: "userSpaceOnUse"},
      ui.svg("defs", {}, svg));
    ui.svg("path", {d: "M0 6L6 0", stroke: look.idle}, hatch);
    const text = (x, y, s, more = {}) => ui.svg("text", {x, y, ...more}, svg, s);
    text(left + 16 * cell, 12, "lane", {"text-anchor": "middle", fill: look.muted});
    for (let k = 0; k < 32; k += 4) text(left + (k + .5) * cell, 28, k, {"text-anchor": "middle", fill: look.muted});
    let now = null;
    rows.forEach((row, i) => {
      const y = top + i * h, here = i === shown - 1;
      if (i >= shown) return;
      if (here) now = ui.svg("rect", {x: 0, y, width: left + 32 * cell + right, height: h, fill: look.thread + "33"}, svg);
      const room = narrow ? Math.floor(ui.width / 7.4) - 12 : Math.floor((left - 44) / 7.2);
      const code = row[1].length > room ? row[1].slice(0, room - 1) + "\u2026" : row[1];
      text(narrow ? 34 : 30, y + 13, row[0], {"text-anchor": "end", fill: look.muted});
      text(narrow ? 42 : 38, y + 13, code, here ? {style: "font-weight:bold"} : {});
      const count = `${active(row)} of ${there(row)}`;
      narrow ? text(left + 32 * cell, y + 13, count, {"text-anchor": "end", fill: look.muted}) : text(left + 32 * cell + 8, y + 13, count);
      [...row[2]].forEach((letter, k) => {
        if (letter === "-") return;
        const x = left + k * cell, at = y + bar + 1, tall = 16;
        const fill = letter === "a" ? look.thread : letter === "b" || letter === "x" ? look.paper : `url(#walk-${ui.root.dataset.live})`;
        const box = ui.svg("rect", {x: x + .5, y: at, width: cell - 1, height: tall, fill, stroke: letter === "b" ? look.data : look.grid}, svg);
        ui.svg("title", {}, box, `lane ${k}, line ${row[0]}: ${means[letter]}`);
        const mid = x + cell / 2;
        if (letter === "x") ui.svg("path", {d: `M${mid - 3} ${at + 5}l6 6m0-6l-6 6`, stroke: look.muted, fill: "none"}, svg);
        if (letter === "b") ui.svg("path", {d: `M${mid - 2} ${at + 3}v10m4 0v-10`, stroke: look.data, "stroke-width": 2, fill: "none"}, svg);
      });
    });
    if (now) {
      const y = +now.getAttribute("y"), stage = ui.stage;
      if (y + h > stage.scrollTop + stage.clientHeight || y < stage.scrollTop) stage.scrollTop = y - stage.clientHeight / 2;
    }
    slider.set(shown);
    for (const [button, off] of [[first, shown === 1], [previous, shown === 1], [next, shown === last], [end, shown === last],
      [split, nextSplit() < 0]]) button.setAttribute("aria-disabled", off);
    const idle = rows.slice(0, shown).reduce((sum, row) => sum + there(row) - active(row), 0);
    const slots = rows.slice(0, shown).reduce((sum, row) => sum + there(row), 0);
    const so_far = shown === last ? (more ? `${summary} The first ${last} are drawn.` : summary) : `So far ${idle} of ${slots} lane slots idle.`;
    ui.caption(`${rows[shown - 1][3][0].toUpperCase()}${rows[shown - 1][3].slice(1)} ${so_far}`);
  };
}
