// A job in pieces: read, compute, write, in one stream or in three, as `streams.simulate` plays it.
// data: pieces, times (microseconds of the three stages), most, slots, mostSlots, streams (0: one, 1: three), pinned, waits.
ui => {
  const {pieces, most, mostSlots} = ui.data, look = ui.look, times = [...ui.data.times], stages = ["read", "compute", "write"];
  let slots = ui.data.slots, three = ui.data.streams === 1, pinned = ui.data.pinned, waits = ui.data.waits, chosen = 0;
  ui.choice("streams", ["one", "three"], i => { three = i === 1; }, +three);
  ui.choice("memory", ["pinned", "pageable"], i => { pinned = i === 0; }, pinned ? 0 : 1);
  ui.choice("before a place is used again", ["wait", "do not wait"], i => { waits = i === 0; }, waits ? 0 : 1);
  stages.forEach((name, i) => ui.slider(name, {min: 1, max: most, value: times[i], say: v => `${v} µs`}, v => { times[i] = v; }));
  ui.slider("places", {min: 1, max: mostSlots, value: slots}, v => { slots = v; });
  const pad = ui.html("div", {tabindex: 0, role: "group", "aria-label": "Pieces: left and right choose one"}, ui.stage);
  const move = d => { chosen = Math.max(0, Math.min(pieces - 1, chosen + d)); };
  ui.keys(pad, {ArrowLeft: () => move(-1), ArrowRight: () => move(1), Home: () => move(-pieces), End: () => move(pieces)});
  const play = () => {
    const end = stages.map(() => []), begin = stages.map(() => []), at = (s, k) => k < 0 ? 0 : end[s][k];
    for (let k = 0; k < pieces; k++) for (let s = 0; s < 3; s++) {
      let when = s ? at(s - 1, k) : 0;
      if (!three || !pinned) when = s ? when : at(2, k - 1);  // the host waits for each copy, or one stream for its own work
      else {
        when = Math.max(when, at(s, k - 1));
        if (s === 0 && waits) when = Math.max(when, at(1, k - slots));
        if (s === 1) when = Math.max(when, at(2, k - slots));
      }
      begin[s][k] = when;
      end[s][k] = when + times[s];
    }
    // What a piece was computed from: what lay in its place, and what came there meanwhile.
    const from = k => {
      const mine = [...Array(pieces).keys()].filter(j => j % slots === k % slots);
      const before = mine.filter(j => end[0][j] <= begin[1][k]), found = new Set(before.length ? [Math.max(...before)] : []);
      mine.filter(j => end[0][j] > begin[1][k] && begin[0][j] < end[1][k]).forEach(j => found.add(j));
      return [...found].sort((a, b) => a - b);
    };
    const read = [...Array(pieces).keys()].map(from);
    return {begin, end, read, wrong: read.map((r, k) => r.length !== 1 || r[0] !== k), whole: Math.max(...end[2])};
  };
  ui.draw = () => {
    const run = play(), W = ui.width, left = 66, span = W - left - 14, scale = span / run.whole, row = 40;
    pad.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: 3 * row + 36, viewBox: `0 0 ${W} ${3 * row + 36}`, "aria-hidden": "true"}, pad);
    const text = (x, y, t, more = {}) => ui.svg("text", {x, y, ...more}, svg, t), roles = ["data", "thread", "output"];
    stages.forEach((name, s) => {
      text(6, s * row + 28, name);
      for (let k = 0; k < pieces; k++) {
        const x = left + run.begin[s][k] * scale, wide = times[s] * scale, bad = run.wrong[k] && s > 0;
        const box = ui.box(x, s * row + 8, wide, row - 10, {fill: look[bad ? "hazard" : roles[s]], "fill-opacity": .5,
          stroke: k === chosen ? look.ink : look.paper, "stroke-width": k === chosen ? 2.5 : 1}, svg, bad);
        box.style.cursor = "pointer";
        box.addEventListener("click", () => { chosen = k; ui.draw(); });
        const says = bad ? `(${k})` : `${k}`;
        if (wide > 8 * says.length) text(x + wide / 2, s * row + 28, says, {"text-anchor": "middle", "pointer-events": "none"});
      }
    });
    text(left, 3 * row + 22, "0", {style: `fill:${look.muted}`});
    text(W - 14, 3 * row + 22, `${run.whole} µs`, {"text-anchor": "end", style: `fill:${look.muted}`});
    const bad = run.wrong.filter(w => w).length, alone = pieces * Math.max(...times), sum = pieces * times.reduce((a, b) => a + b);
    Object.assign(ui.root.dataset, {numbers: JSON.stringify([run.whole, ...run.end[2]]), wrong: JSON.stringify(run.read), chosen});
    const b = run.begin.map(list => list[chosen]);
    const slowest = stages[times.indexOf(Math.max(...times))];
    const mine = run.wrong[chosen] ? `Piece ${chosen} is computed from the numbers of ${run.read[chosen].join(" and ") || "nobody"}.` :
      `Piece ${chosen} is read at ${b[0]}, computed at ${b[1]}, written at ${b[2]} µs.`;
    const why = !pinned ? "From pageable memory the host waits for each copy: nothing overlaps." :
      !three ? "In one stream nothing overlaps." : `One after another it would be ${sum} µs; ${slowest} alone needs ${alone}.`;
    const risk = !three || !pinned || waits ? "" : bad ? `A race: ${bad} of ${pieces} pieces are computed from wrong numbers. ` :
      "A race: nothing but these times keeps the numbers right. ";
    ui.caption(`${run.whole} µs. ${why} ${risk}${mine}`);
  };
}
