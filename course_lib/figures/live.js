// The frame of a live figure: finds its element, offers controls and drawing, and lets `draw(ui)` do the rest.
//
// ui.data, ui.look        the figure's data, and colours by role ("data", "thread", "idle", ..., "ink", "paper", "grid")
// ui.button(label, act), ui.slider(label, {min, max, value, step, say}, act), ui.choice(label, [names], act, at)
//                         controls; `act` gets nothing, the number, or the place of the name; each is redrawn after it
// ui.keys(node, {ArrowLeft: act, ...})   keys of a part of the figure that takes the focus itself
// ui.stage                the element to draw into, white in every theme; ui.width its width in pixels
// ui.svg(tag, attributes, parent, text), ui.html(tag, attributes, parent, text)     make an element
// ui.box(x, y, width, height, attributes, parent, hatched)     an SVG rectangle; hatched is for what is idle
// ui.caption(text)        the sentence below, which a screen reader speaks after each change
// ui.draw = () => {...}   called first, after each control, and when the width changes; it empties the stage itself
(key, data, look, draw) => {
  const script = document.currentScript;
  const css = `
    .course-live-stage{background:${look.paper};color:${look.ink};border-radius:4px;overflow-x:auto;position:relative;
      line-height:1.35;font-size:13px;font-family:system-ui,sans-serif}
    .course-live-stage svg{display:block;max-width:none}
    .course-live-stage svg text{font-size:12px;fill:${look.ink}}
    .course-live-bar{display:flex;flex-wrap:wrap;align-items:center;gap:6px 10px;margin:4px 0;font-size:14px}
    .course-live-bar label{display:inline-flex;align-items:center;gap:6px;max-width:100%}
    .course-live-bar button{min-height:32px;padding:0 10px;border:1px solid ${look.idle};border-radius:6px;
      background:transparent;color:inherit;font:inherit;cursor:pointer}
    .course-live-bar button:hover,.course-live-bar button[aria-pressed=true]{background:${look.thread}44}
    .course-live-bar button[aria-pressed=true]{border-width:2px;font-weight:bold}
    .course-live-bar button[aria-disabled=true]{opacity:.4;cursor:default}
    .course-live-bar input[type=range]{width:150px;min-width:60px;accent-color:${look.data};cursor:pointer}
    .course-live-bar output{min-width:3em;white-space:nowrap;font-variant-numeric:tabular-nums}
    .course-live :focus-visible{outline:3px solid ${look.data};outline-offset:2px}
    .course-live figure[hidden]{display:none}
    .course-live-caption{font-size:14px;line-height:1.4;max-width:640px;margin:6px 0;min-height:2.8em}
    @media print{.course-live-bar{display:none}}`;
  const fill = (node, attributes, parent, text) => {
    for (const name in attributes) if (attributes[name] !== null) node.setAttribute(name, attributes[name]);
    if (text !== undefined) node.textContent = text;
    if (parent) parent.appendChild(node);
    return node;
  };
  const html = (tag, attributes, parent, text) => fill(document.createElement(tag), attributes, parent, text);
  const svg = (tag, attributes, parent, text) =>
    fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, parent, text);
  const mount = root => {
    if (root.courseMounted) return;
    root.courseMounted = true;
    // A page that was saved from the browser already contains what a script made, without its listeners.
    root.querySelectorAll(".course-live-bar,.course-live-stage,.course-live-caption,style").forEach(old => old.remove());
    const figure = root.querySelector("figure");
    html("style", {}, root, css);
    const bar = html("div", {"class": "course-live-bar"}, root);
    const stage = html("div", {"class": "course-live-stage"}, root);
    const below = html("p", {"class": "course-live-caption", "aria-live": "polite"}, root);
    // JupyterLab takes plain keys for its own commands: an arrow would leave for another cell.
    root.addEventListener("keydown", event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    const ui = {data, look, root, stage, html, svg, draw: () => {}};
    Object.defineProperty(ui, "width", {get: () => Math.max(240, Math.floor(stage.clientWidth) || 640)});
    ui.box = (x, y, width, height, attributes, parent, hatched) => {
      const node = svg("rect", {x, y, width, height, ...attributes}, parent);
      let d = "";
      for (let k = 4; hatched && k < width + height; k += 5) {
        const from = Math.max(0, k - height), to = Math.min(k, width);
        d += `M${x + from} ${y + k - from}L${x + to} ${y + k - to}`;
      }
      if (d) svg("path", {d, stroke: look.idle, "stroke-width": 1, fill: "none", "pointer-events": "none"}, parent);
      return node;
    };
    ui.caption = text => { if (below.textContent !== text) below.textContent = text; };
    ui.button = (label, act) => {
      const node = html("button", {type: "button"}, bar, label);
      node.addEventListener("click", () => {
        if (node.getAttribute("aria-disabled") === "true") return;
        act();
        ui.draw();
      });
      return node;
    };
    ui.slider = (label, {min, max, value, step = 1, say = String}, act) => {
      const row = html("label", {}, bar, label);
      const node = html("input", {type: "range", min, max, step, value}, row);
      const shown = html("output", {}, row);
      const set = v => {
        node.value = v;
        shown.textContent = say(+node.value);
        node.setAttribute("aria-valuetext", say(+node.value));
      };
      node.addEventListener("input", () => { set(+node.value); act(+node.value); ui.draw(); });
      set(value);
      return {node, set};
    };
    ui.choice = (label, names, act, at = 0) => {
      const group = html("span", {role: "group", "aria-label": label}, bar);
      if (label) html("span", {"aria-hidden": "true"}, group, label + " ");
      const nodes = names.map((name, i) => {
        const node = html("button", {type: "button", "aria-pressed": i === at}, group, name);
        node.addEventListener("click", () => { set(i); act(i); ui.draw(); });
        return node;
      });
      const set = i => nodes.forEach((node, j) => node.setAttribute("aria-pressed", i === j));
      return {nodes, set};
    };
    ui.keys = (node, acts) => node.addEventListener("keydown", event => {
      if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      acts[event.key]();
      ui.draw();
    });
    draw(ui);
    ui.draw();
    // In a page that is saved and opened again, what was made here has to stand before the script that removes it.
    root.querySelectorAll(":scope > script").forEach(own => root.appendChild(own));
    figure.hidden = true;  // kept for paper without colours, and for readers who save the page
    let before = ui.width;
    if (window.ResizeObserver) new ResizeObserver(() => {
      if (ui.width !== before) { before = ui.width; ui.draw(); }
    }).observe(stage);
  };
  const find = tries => {
    const own = script && script.closest("[data-live]");
    const roots = own ? [own] : [...document.querySelectorAll(`[data-live="${key}"]`)];
    roots.forEach(mount);
    // Evaluated before its element is on the page: look again a little later.
    if (!roots.length && tries) setTimeout(find, 100, tries - 1);
  };
  find(50);
}
