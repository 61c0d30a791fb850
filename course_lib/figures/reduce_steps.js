// An all-reduce, message by message. data: sizes, ways, said, plans {size: {way: [[source, to, part, adds], ...] by round}},
// stopped: the rank that can be stopped.
ui => {
  const {sizes, ways, said, plans, stopped} = ui.data, look = ui.look;
  let way = 0, size = sizes[0], at = 0, halted = false;
  const plan = () => plans[size][ways[way]];
  ui.choice("way", said, i => { way = i; move(-at); }, 0);
  if (sizes.length > 1) ui.choice("ranks", sizes.map(String), i => { size = sizes[i]; move(-at); }, 0);
  ui.choice(`rank ${stopped}`, ["works", "stops"], i => { halted = i === 1; move(-at); }, 0);
  const slider = ui.slider("step", {min: 0, max: Math.max(...sizes.map(n => 2 * n)) - 2, value: 0}, v => { at = Math.min(v, plan().length); slider.set(at); });
  const move = d => { at = Math.max(0, Math.min(plan().length, at + d)); slider.node.max = plan().length; slider.set(at); };
  ui.button("Next", () => move(1));
  ui.button("To the end", () => move(plan().length));
  slider.node.max = plan().length;
  ui.draw = () => {
    const n = size, W = Math.min(ui.width, 560), gap = 8, col = Math.min(104, Math.floor((W - 16 - (n - 1) * gap) / n));
    const cell = 20, top = 96, H = top + n * cell + 66, X = r => 8 + r * (col + gap);
    const held = Array.from({length: n}, (_, r) => Array(n).fill(1 << r)), sent = Array(n).fill(0);
    let messages = 0, now = [];
    const still = new Set();  // ranks that wait in vain
    plan().slice(0, at).forEach(round => {
      const before = held.map(parts => parts.slice()), silent = new Set(halted ? [...still, stopped] : []);
      now = round.filter(([s]) => !silent.has(s));
      round.forEach(([s, t]) => { if (silent.has(s) && t !== stopped) still.add(t); });
      now.forEach(([s, t, part, adds]) => {
        messages++;
        sent[s] += part < 0 ? n : 1;
        if (still.has(t) || halted && t === stopped) return;  // it lies in a buffer
        (part < 0 ? [...Array(n).keys()] : [part]).forEach(p => { held[t][p] = adds ? before[s][p] | held[t][p] : before[s][p]; });
      });
    });
    const ones = v => { let c = 0; for (; v; v &= v - 1) c++; return c; };
    ui.stage.replaceChildren();
    const svg = ui.svg("svg", {width: W, height: H, viewBox: `0 0 ${W} ${H}`, "aria-hidden": "true"}, ui.stage);
    const text = (x, y, t, extra = {}) => ui.svg("text", {x, y, ...extra}, svg, t), mid = {"text-anchor": "middle"}, mute = {style: `fill:${look.muted}`};
    // Messages as arcs above the columns.
    now.forEach(([s, t]) => {
      const a = X(s) + col / 2, b = X(t) + col / 2, far = Math.abs(s - t), high = Math.min(64, 14 + 8 * far), y = 72;
      const back = t < s, dx = back ? -4 : 4;
      ui.svg("path", {d: `M${a} ${y}C${a} ${y - high} ${b - dx} ${y - high} ${b - dx} ${y}`, stroke: back && now.length > 1 && far > 1 ? look.muted : look.gradient, "stroke-width": 2, fill: "none"}, svg);
      ui.svg("path", {d: `M${b - dx - 4} ${y - 6}L${b - dx} ${y + 1}L${b - dx + 4} ${y - 6}`, stroke: look.gradient, "stroke-width": 2, fill: "none"}, svg);
    });
    held.forEach((parts, r) => {
      const dead = halted && r === stopped, name = n > 6 ? r : `rank ${r}`;
      text(X(r) + col / 2, top - 8, dead ? `${name} ✗` : still.has(r) ? `${name} …` : name, {...mid, "font-weight": "bold"});
      parts.forEach((v, p) => {
        const c = ones(v), full = c === n, fresh = !dead && !still.has(r) && now.some(m => m[1] === r && (m[2] < 0 || m[2] === p));
        ui.box(X(r), top + p * cell, col, cell - 2, {fill: full ? look.output : look.data, "fill-opacity": full ? .65 : .08 + .5 * (c - 1) / n,
          stroke: fresh ? look.gradient : look.idle, "stroke-width": fresh ? 2.5 : 1}, svg, dead || still.has(r));
        text(X(r) + col / 2, top + p * cell + 14, c, {...mid, ...(full ? {"font-weight": "bold"} : {})});
      });
    });
    const base = top + n * cell + 16, busiest = Math.max(...sent), s = k => { const v = k / n; return Number.isInteger(v) ? `${v}` : v.toFixed(2); };
    text(8, base, "A column is a rank, a row a part of its array;", mute);
    text(8, base + 16, "a number says how many ranks are in the sum.", mute);
    text(8, base + 36, `busiest rank: has sent ${s(busiest)} S; all: ${messages} messages`, {"font-weight": "bold"});
    const done = held.every(parts => parts.every(v => ones(v) === n));
    const waits = [...still].sort((a, b) => a - b);
    Object.assign(ui.root.dataset, {waits: JSON.stringify(waits), way: ways[way], size: n, at, steps: plan().length, messages, busiest: busiest / n, done});
    const list = now.length === 1 ? `rank ${now[0][0]} sends all to rank ${now[0][1]}` : now.every(m => m[2] >= 0) && now.length ?
      "every rank hands a part to its right neighbour" : now.map(m => `${m[0]} to ${m[1]}`).join(", ");
    const what = now.length ? (now[0][3] ? ", which adds it" : ", which takes it") : "";
    ui.caption(at === 0 ? `${n} ranks, each with an array of S bytes in ${n} parts. Press Next.` :
      halted ? `Step ${at} of ${plan().length}: rank ${stopped} (✗) sends nothing. ${waits.length ? `In vain wait (…) ranks ${waits.join(", ")}.` : "Nobody has missed it yet."}` :
      done ? `Step ${at}, the last one: every rank has every sum.` : `Step ${at} of ${plan().length}: ${list}${what}.`);
  };
}
