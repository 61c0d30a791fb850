// A step debugger: source, lanes as columns, variables and accesses as rows, the block's shared memory as a grid.
//
// ui.data has the document of a trace (course_lib/simt/trace/document.py), `say` (a sentence for each step), `watch`
// (names that come first), `at` (the step to begin with) and `means` (what the letters of lanes mean).
ui => {
  const d = ui.data, look = ui.look, steps = d.steps, last = steps.length - 1;
  const unpack = v => !v ? [] : Array.isArray(v) ? v : Array.from({length: v.run[2]}, (_, k) => v.run[0] + k * v.run[1]);
  const all = Array.from({length: d.threads}, (_, k) => k);
  const running = "ab";
  let now = d.at, warp = 0, shows = 0;
  const full = v => (v === null || v === undefined ? "" : String(v).replace("-", "\u2212"));
  const isThere = v => v !== undefined && v !== null && v !== "";
  const short = (v, digits = 4) => {
    if (typeof v !== "number" || Number.isInteger(v)) return full(v);
    const text = Math.abs(v) >= 1e5 || Math.abs(v) < 1e-3 ? v.toExponential(1) : String(+v.toPrecision(digits));
    return text.replace("-", "\u2212");
  };

  // What the variables hold after each step, by call; and which of them differ between lanes at some time.
  const differs = new Set(), names = [], states = [];
  {
    const held = {};
    const set = (call, changes) => {
      const moved = {};
      for (const name in changes) {
        const c = changes[name], who = c.who ? unpack(c.who) : all, of = c.of || 0;
        const values = of ? who.map((_, i) => c.v.slice(i * of, (i + 1) * of).map(v => v === null ? "?" : short(v)).join(" "))
          : unpack(c.v);
        const old = held[call][name] || new Array(d.threads).fill(undefined);
        held[call][name] = old.slice();
        who.forEach((lane, i) => { held[call][name][lane] = values[i]; });
        moved[name] = new Set(who);
        const next = held[call][name];
        if (next.some(v => v !== next[0] && !(Number.isNaN(v) && Number.isNaN(next[0])))) differs.add(name);
        if (!names.includes(name)) names.push(name);
      }
      return moved;
    };
    for (const step of steps) {
      if (step.frame < 0) { states.push([{}, {}]); continue; }
      if (!held[step.frame]) {
        held[step.frame] = {};
        set(step.frame, d.frames[step.frame].start);
      }
      const moved = set(step.frame, step.set || {});
      states.push([{...held[step.frame]}, moved]);
    }
  }
  names.sort((a, b) => (d.watch.includes(b) - d.watch.includes(a)) || 0);
  const hidden = new Set(d.watch.length ? names.filter(n => differs.has(n) && !d.watch.includes(n)) : []);
  const functionOf = step => step.frame < 0 ? d.kernel : d.frames[step.frame].function;
  const wrong = {}, walked = {};
  for (const step of steps) {
    const f = functionOf(step);
    (walked[f] = walked[f] || new Set()).add(step.line);
    for (const found of step.found || []) (wrong[f] = wrong[f] || new Set()).add(found.line || step.line);
  }

  // Controls.
  const go = to => { now = Math.max(0, Math.min(last, to)); };
  const letters = k => steps[k].state.slice(32 * warp, 32 * warp + 32);
  const runs = k => [...letters(k)].map(c => running.includes(c) ? "1" : "0").join("");
  const nextChange = () => {
    for (let k = now + 1; k <= last; k++) if (runs(k) !== runs(k - 1)) return k;
    return -1;
  };
  const nextFinding = () => {
    for (let k = now + 1; k <= last; k++) if ((steps[k].found || []).length) return k;
    return -1;
  };
  const first = ui.button("First", () => go(0)), previous = ui.button("Previous", () => go(now - 1));
  const next = ui.button("Next", () => go(now + 1)), end = ui.button("Last", () => go(last));
  const slider = ui.slider("Step", {min: 0, max: last, value: now, say: v => `${v + 1} of ${last + 1}`}, go);
  const change = ui.button("Next change of lanes", () => go(nextChange()));
  const finding = ui.button("Next finding", () => go(nextFinding()));
  if (d.warps.length > 1) ui.choice("Warp", d.warps.map(String), i => { warp = i; });
  const shared = d.arrays.map((a, i) => i).filter(i => d.arrays[i].space === "shared");
  if (shared.length) ui.choice("Shared memory shows", ["lanes", "values"], i => { shows = i; });
  const rows = names.filter(n => differs.has(n));
  if (rows.length > 1) {
    const bar = ui.html("div", {"class": "course-live-bar", role: "group", "aria-label": "Variables to show"});
    ui.stage.before(bar);
    ui.html("span", {"aria-hidden": "true"}, bar, "Variables");
    for (const name of rows) {
      const button = ui.html("button", {type: "button", "aria-pressed": !hidden.has(name)}, bar, name);
      button.addEventListener("click", () => {
        hidden.has(name) ? hidden.delete(name) : hidden.add(name);
        button.setAttribute("aria-pressed", !hidden.has(name));
        ui.draw();
      });
    }
  }
  // What happened stands above the picture, which can be long: nobody should have to scroll after each step.
  ui.stage.before(ui.root.querySelector(".course-live-caption"));
  ui.stage.tabIndex = 0;
  ui.stage.setAttribute("role", "group");
  ui.stage.setAttribute("aria-label", "The step; arrow keys go on and back");
  ui.keys(ui.root, {
    ArrowRight: () => go(now + 1), ArrowLeft: () => go(now - 1), Home: () => go(0), End: () => go(last),
  });
  ui.html("style", {}, ui.root, `
    .cd-code{font:13px/20px ui-monospace,"DejaVu Sans Mono",monospace;max-height:264px;overflow:auto;
      border-bottom:1px solid ${look.grid};padding:4px 0;position:relative}
    .cd-line{display:flex;white-space:pre;min-width:max-content;padding-right:8px}
    .cd-line span:first-child{width:5.5em;flex:none;text-align:right;padding-right:8px;color:${look.muted}}
    @media (max-width:520px){.cd-line{min-width:0}.cd-line span:first-child{width:3.5em}.cd-line span:last-child{white-space:pre-wrap;
      overflow-wrap:anywhere}}
    .cd-line.cd-now{background:${look.thread}44;box-shadow:inset 4px 0 ${look.data}}
    .cd-line.cd-now span:first-child{color:${look.ink};font-weight:bold}
    .cd-line.cd-never{color:${look.muted}}
    .cd-part{padding:6px 8px;overflow-x:auto}
    .cd-part p{margin:0 0 4px}
    .cd-note{border-left:4px solid ${look.hazard};padding:4px 8px;margin:6px 8px}
    .cd-lanes{border-collapse:separate!important;border-spacing:1px;margin:0 0 6px!important;table-layout:fixed!important;
      font-variant-numeric:tabular-nums;font-size:12px;border:0!important}
    .cd-lanes th,.cd-lanes td{padding:1px 0!important;text-align:center!important;border:0!important;overflow:hidden;
      white-space:nowrap;background:transparent;color:${look.ink};line-height:18px;max-width:none!important}
    .cd-lanes th:first-child{text-align:right!important;padding-right:6px!important;font-weight:normal;white-space:normal}
    .cd-lanes th:first-child b{font-family:ui-monospace,"DejaVu Sans Mono",monospace}
    .cd-lanes tr{background:transparent!important}
    .cd-lanes .cd-on{background:${look.thread};font-weight:bold}
    .cd-lanes .cd-off,.cd-key.cd-off{background:repeating-linear-gradient(135deg,${look.grid} 0 3px,${look.paper} 3px 6px);
      color:${look.muted}}
    .cd-lanes .cd-gone{background:${look.paper};color:${look.muted};box-shadow:inset 0 0 0 1px ${look.idle}}
    .cd-lanes .cd-bar{background:${look.paper};box-shadow:inset 0 0 0 2px ${look.data};font-weight:bold}
    .cd-lanes .cd-none{color:transparent}
    .cd-lanes td.cd-new{font-weight:bold;box-shadow:inset 0 -2px ${look.output}}
    .cd-lanes td.cd-old{color:${look.muted}}
    .cd-lanes td.cd-at{background:${look.grid}66}
    .cd-lanes td.cd-bad,.cd-lanes th.cd-bad{box-shadow:inset 0 0 0 2px ${look.hazard}}
    .cd-same{color:${look.ink};margin:0 0 6px;font-family:ui-monospace,"DejaVu Sans Mono",monospace}
    .cd-same span{display:inline-block;margin-right:14px}
    .cd-same .cd-fresh{font-weight:bold;box-shadow:inset 0 -2px ${look.output}}
    .cd-key{display:inline-block;min-width:18px;padding:0 3px;text-align:center;margin-right:4px}
    .cd-legend{font-size:12px;color:${look.muted}}
    .cd-legend span{margin-right:10px;white-space:nowrap}`);

  const signs = {a: ["cd-on", ""], b: ["cd-bar", "\u2016"], x: ["cd-gone", "\u2715"], p: ["cd-off", "\u2026"], "-": ["cd-none", ""]};
  const sign = letter => signs[letter] || ["cd-off", ""];

  const code = (step, f) => {
    const box = ui.html("div", {"class": "cd-code"}, ui.stage);
    if (f !== d.kernel) ui.html("div", {"class": "cd-line"}, box, `      in ${f}, called by ${d.kernel}:`);
    let current = null;
    for (const [number, text] of d.lines[f]) {
      const here = number === step.line, bad = wrong[f] && wrong[f].has(number);
      const known = walked[f] && walked[f].has(number);
      const line = ui.html("div", {"class": `cd-line${here ? " cd-now" : ""}${known ? "" : " cd-never"}`}, box);
      if (here) { current = line; line.setAttribute("aria-current", "step"); }
      ui.html("span", {title: bad ? "a finding in this line" : null}, line, `${bad ? "\u26a0 " : ""}${here ? "\u25b6 " : ""}${number}`);
      ui.html("span", {}, line, text);
    }
    if (current) box.scrollTop = Math.max(0, 20 * Math.round((current.offsetTop - box.clientHeight / 2) / 20));
  };

  const ruler = document.createElement("canvas").getContext("2d");
  const widthOf = (text, weight = "") => {
    ruler.font = `${weight} 12px ${getComputedStyle(ui.stage).fontFamily}`;
    return ruler.measureText(text).width;
  };

  // Rows of the lane table: [label, cells (text or ""), class of each cell].
  const accessRows = step => {
    const found = [];
    for (const t of step.touch || []) {
      const a = d.arrays[t.a], who = unpack(t.who), at = unpack(t.at), values = t.v ? unpack(t.v) : null;
      const cells = {}, held = {};
      who.forEach((lane, i) => {
        cells[lane] = lane in cells ? cells[lane] + " \u2026" : place(a, at[i]);
        held[lane] = lane in held ? held[lane] : values ? values[i] : "";
      });
      const verb = {load: "reads", store: "writes", atomic: "atomic"}[t.way];
      found.push([`${verb} `, a.name, "[ ]", cells, (step.found || []).some(f => f.array === a.name) ? "cd-at cd-hot" : "cd-at"]);
      if (values) found.push([t.way === "atomic" ? "old number" : "value", "", "", held, ""]);
    }
    return found;
  };
  const threadOf = lane => { // as cuda.threadIdx, as far as the block has axes
    const [x, y, z] = d.block, n = 32 * d.warps[0] + lane;
    const index = [n % x, Math.floor(n / x) % y, Math.floor(n / (x * y))].slice(0, z > 1 ? 3 : y > 1 ? 2 : 1);
    return index.length > 1 ? `(${index.join(", ")})` : index[0];
  };
  const place = (a, flat) => {
    const index = [];
    for (let k = a.shape.length - 1; k >= 0; k--) { index.unshift(flat % a.shape[k]); flat = Math.floor(flat / a.shape[k]); }
    return index.join(",");
  };

  const lanes = (step, letter) => {
    const part = ui.html("div", {"class": "cd-part"}, ui.stage);
    const [held, moved] = states[now];
    const same = Object.keys(held).filter(n => !differs.has(n));
    if (same.length) {
      const line = ui.html("p", {"class": "cd-same"}, part);
      for (const name of same) ui.html("span", {"class": moved[name] ? "cd-fresh" : null}, line, `${name} = ${short(held[name].find(v => v !== undefined))}`);
    }
    const table = [];
    for (const name of names) if (held[name] && differs.has(name) && !hidden.has(name)) {
      const cells = {}, kinds = {};
      all.forEach(lane => {
        cells[lane] = held[name][lane];
        if (moved[name] && moved[name].has(lane)) kinds[lane] = "cd-new";
        else if (!running.includes(letter(lane))) kinds[lane] = "cd-old";
      });
      table.push(["", name, "", cells, kinds]);
    }
    table.push(...accessRows(step));
    const bad = new Set((step.found || []).flatMap(f => [f.lane, f.other]).filter(v => v !== null && v !== undefined));
    const base = 32 * warp;
    // As many lanes to a row as fit, with as many digits as fit; the whole number is the cell's title.
    const label = Math.max(40, ...table.map(([a, b, c]) => Math.ceil(widthOf(a + c) + 7.3 * b.length + 9)));
    const widest = digits => {
      let longest = 16;
      for (const [, , , cells, kinds] of table) for (let k = base; k < base + 32; k++) {
        if (isThere(cells[k])) longest = Math.max(longest, widthOf(short(cells[k], digits), typeof kinds === "string" ? "" : "bold"));
      }
      return Math.ceil(longest + 5);
    };
    const two = Math.max(40, ...table.map(([a, b, c]) => Math.ceil(Math.max(widthOf(a), widthOf(c) + 7.3 * b.length) + 9)));
    const ways = [[32, 4, label], [16, 4, label], [16, 3, label], [16, 2, label], [8, 4, label], [8, 3, label], [8, 4, two],
      [8, 3, two], [8, 2, two], [4, 4, two]];  // a narrow page: labels go over two lines
    const roomOf = (n, first) => Math.floor((ui.width - 17 - first) / n) - 1;
    const [across, digits, first] = ways.find(([n, most, first]) => widest(most) <= roomOf(n, first)) || [8, 2, two];
    const cell = Math.max(widest(digits), Math.min(60, roomOf(across, first)));
    for (let from = base; from < base + 32; from += across) {
      const t = ui.html("table", {"class": "cd-lanes", style: `width:${first + across * (cell + 1)}px!important`}, part);
      const head = ui.html("tr", {}, t);
      ui.html("th", {scope: "row", style: `width:${first}px`}, head, "lane");
      for (let k = from; k < from + across; k++) {
        const [kind, mark] = sign(letter(k));
        ui.html("th", {scope: "col", "class": kind + (bad.has(k) ? " cd-bad" : ""), style: `width:${cell}px`,
          title: `lane ${k - base}, thread ${threadOf(k)}: ${d.means[letter(k)]}`}, head, mark || String(k - base));
      }
      for (const [a, b, c, cells, kinds] of table) {
        if (typeof kinds === "string" && !all.slice(from, from + across).some(k => cells[k] !== undefined)) continue;
        const row = ui.html("tr", {}, t), th = ui.html("th", {scope: "row"}, row, a);
        if (b) ui.html("b", {}, th, b);
        if (c) th.append(c);
        for (let k = from; k < from + across; k++) {
          const kind = typeof kinds === "string" ? (isThere(cells[k]) ? kinds : "") : kinds[k] || "";
          const [shown, all] = [short(cells[k], digits), full(cells[k])];
          ui.html("td", {"class": kind + (kind.includes("cd-hot") && bad.has(k) ? " cd-bad" : ""), title: shown === all ? null : all,
            "aria-label": shown === all ? null : all}, row, shown);
        }
      }
    }
    legend(part, new Set(letters(now)));
  };
  const legend = (part, used) => {
    const line = ui.html("p", {"class": "cd-legend cd-lanes"}, part);
    const entry = (kind, mark, text) => {
      const span = ui.html("span", {}, line);
      ui.html("i", {"class": `cd-key ${kind}`, style: "font-style:normal"}, span, mark);
      span.append(text);
    };
    if (used.has("a")) entry("cd-on", "7", "active");
    if ([...used].some(c => sign(c)[0] === "cd-off")) entry("cd-off", "7", "switched off for now");
    if (used.has("b")) entry("cd-bar", "\u2016", "at the barrier");
    if (used.has("x")) entry("cd-gone", "\u2715", "has left the kernel");
  };

  // The shared memory of the block, as it is after the step.
  const memory = step => {
    const base = 32 * warp, firstThread = 32 * d.warps[warp];
    for (const number of shared) {
      const a = d.arrays[number], size = a.shape.reduce((x, y) => x * y, 1);
      const values = new Map(), fresh = new Map(), reads = new Map(), writes = new Map();
      for (let k = 0; k <= now; k++) for (const c of steps[k].shared || []) if (c.a === number) {
        const at = unpack(c.at), v = unpack(c.v), by = unpack(c.by);
        at.forEach((e, i) => { values.set(e, v[i]); if (k === now) fresh.set(e, by[i]); });
      }
      for (const t of step.touch || []) if (t.a === number) {
        const at = unpack(t.at), who = unpack(t.who);
        at.forEach((e, i) => {
          if (who[i] < base || who[i] >= base + 32) return;
          const into = t.way === "load" ? reads : writes;
          into.set(e, [...(into.get(e) || []), who[i] - base]);
        });
      }
      if (!values.size && !reads.size) continue;
      const columns = a.shape.length > 1 ? a.shape[a.shape.length - 1] : Math.min(ui.width < 640 ? 16 : 32, size), rows = Math.ceil(size / columns);
      const bad = new Set();
      for (const f of step.found || []) if (f.array === a.name && f.index) bad.add(f.index.reduce((n, v, k) => n * a.shape[k] + v, 0));
      let longest = 2;
      if (shows) for (const v of values.values()) longest = Math.max(longest, short(v).length);
      const h = 19, left = 26, top = 18, fits = Math.min(28, Math.floor((ui.width - 20 - left) / columns));
      const w = Math.max(19, fits, Math.ceil(6.8 * longest + 4));
      const part = ui.html("div", {"class": "cd-part"}, ui.stage);
      const said = ui.html("p", {}, part);
      ui.html("b", {}, said, a.name);
      const wide = rows > 1 && a.shape.length < 2 ? `, ${columns} elements a row` : "";
      said.append(` (${a.shape.join(", ")}) in the shared memory of the block${wide}`);
      const scroll = ui.html("div", {style: "overflow-x:auto"}, part);
      const svg = ui.svg("svg", {width: left + columns * w + 2, height: top + rows * h + 2, role: "img",
        "aria-label": `${a.name}: ${reads.size} elements read and ${writes.size} written by this warp in this step`}, scroll);
      const text = (x, y, s, more = {}) => ui.svg("text", {x, y, style: "font-size:11px", "text-anchor": "middle", ...more}, svg, s);
      for (let c = 0; c < columns; c += columns > 16 ? 4 : 1) text(left + (c + 0.5) * w, 12, c, {fill: look.muted});
      for (let r = 0; r < rows; r += rows > 16 ? 4 : 1) text(left - 5, top + r * h + 13, a.shape.length > 1 ? r : r * columns, {"text-anchor": "end", fill: look.muted});
      for (let e = 0; e < size; e++) {
        const x = left + e % columns * w, y = top + Math.floor(e / columns) * h, there = values.has(e);
        const read = reads.get(e), wrote = writes.get(e), other = fresh.has(e) && !wrote;
        const fill = wrote ? look.output + "55" : other ? look.output + "26" : there ? look.thread + "22" : look.paper;
        const cell = ui.svg("rect", {x: x + .5, y: y + .5, width: w - 1, height: h - 1, fill, stroke: look.grid}, svg);
        const told = [read ? `read by lane ${read.join(", ")}` : "", wrote ? `written by lane ${wrote.join(", ")}` : "",
          other ? `written by thread ${fresh.get(e)}` : ""].filter(Boolean).join("; ");
        ui.svg("title", {}, cell, `${a.name}[${place(a, e)}] = ${there ? full(values.get(e)) : "never written"}${told ? "; " + told : ""}`);
        const ring = wrote ? 3 : 1.5; // of a read, inside of the frame of a write
        if (wrote) ui.svg("rect", {x: x + 1, y: y + 1, width: w - 2, height: h - 2, fill: "none", stroke: look.output, "stroke-width": 2}, svg);
        if (read) ui.svg("rect", {x: x + ring, y: y + ring, width: w - 2 * ring, height: h - 2 * ring, fill: "none",
          stroke: look.data, "stroke-width": 1.2, "stroke-dasharray": "3 2", rx: 3}, svg);
        if (bad.has(e)) ui.svg("rect", {x, y, width: w, height: h, fill: "none", stroke: look.hazard, "stroke-width": 3}, svg);
        const who = read || wrote, shown = shows ? (there ? short(values.get(e)) : "") : who ? (who.length > 1 ? who.length + "\u00d7" : who[0]) : other ? "\u00b7" : "";
        if (shown !== "") text(x + w / 2, y + 13.5, shown);
      }
      const line = ui.html("p", {"class": "cd-legend"}, part);
      const entry = (style, s) => { const span = ui.html("span", {}, line); ui.html("i", {"class": "cd-key", style}, span, "\u00a0"); span.append(s); };
      const by = touched => shows ? "" : [...touched.values()].some(who => who.length > 1) ? ", by so many lanes" : ", by this lane";
      if (reads.size) entry(`border:1.5px dashed ${look.data};border-radius:4px`, `read now${by(reads)}`);
      if (writes.size) entry(`border:2px solid ${look.output}`, `written now${by(writes)}`);
      if ([...fresh.keys()].some(e => !writes.has(e))) entry(`background:${look.output}26`, "written by other warps");
      if (bad.size) entry(`border:3px solid ${look.hazard}`, "the element of the finding");
      if (!reads.size && !writes.size) ui.html("span", {}, line, "This warp does not touch it in this step.");
    }
  };

  ui.draw = () => {
    const step = steps[now], f = functionOf(step);
    const inner = ui.stage.querySelector(".cd-code"), scrolled = inner ? inner.scrollLeft : 0;
    const focused = inner && inner === document.activeElement;
    ui.stage.textContent = "";
    code(step, f);
    const box = ui.stage.querySelector(".cd-code");
    box.scrollLeft = scrolled;
    if (box.scrollHeight > box.clientHeight || box.scrollWidth > box.clientWidth) { // keys must reach the rest
      for (const [name, value] of [["tabindex", 0], ["role", "group"], ["aria-label", "The kernel's source"]]) box.setAttribute(name, value);
      if (focused) box.focus({preventScroll: true});
    }
    const letter = lane => step.state[lane] || "-";
    for (const found of step.found || []) {
      const note = ui.html("div", {"class": "cd-note"}, ui.stage);
      ui.html("b", {}, note, `\u26a0 ${found.kind[0].toUpperCase()}${found.kind.slice(1)}. `);
      note.append(found.fix || found.message);
    }
    lanes(step, letter);
    memory(step);
    slider.set(now);
    for (const [button, off] of [[first, now === 0], [previous, now === 0], [next, now === last], [end, now === last],
      [change, nextChange() < 0], [finding, nextFinding() < 0]]) button.setAttribute("aria-disabled", off);
    ui.caption(`Step ${now + 1} of ${last + 1}, ${d.say[now]}`);
  };
}
