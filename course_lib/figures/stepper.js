// Adds the controls of a stepper. Called with the stepper's key, its frames, and the colours of its look.
(key, frames, look) => {
  const script = document.currentScript;
  const last = frames.length - 1;
  const icons = {
    first: "M4 3v10M13 3L7 8l6 5",
    previous: "M11 3L5 8l6 5",
    next: "M5 3l6 5-6 5",
    last: "M12 3v10M3 3l6 5-6 5",
  };
  const css = `
    .course-controls{display:flex;align-items:center;gap:6px;max-width:100%;margin:4px 0;font-size:14px}
    .course-controls button{width:32px;height:32px;padding:0;border:1px solid ${look.edge};border-radius:6px;
      background:transparent;color:inherit;cursor:pointer;display:inline-flex;align-items:center;justify-content:center}
    .course-controls button:hover{background:${look.hover}44}
    .course-controls button[aria-disabled=true]{opacity:.4;cursor:default;background:transparent}
    .course-controls :focus-visible{outline:3px solid ${look.accent};outline-offset:2px}
    .course-controls input{flex:1;min-width:60px;margin:0 8px;accent-color:${look.accent};cursor:pointer}
    .course-count{min-width:7.5em;text-align:right;font-variant-numeric:tabular-nums}
    .course-stepper figcaption{min-height:2.8em}
    @media print{.course-controls{display:none}}`;
  const make = (tag, attributes, parent) => {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    return parent.appendChild(node);
  };
  const mount = root => {
    if (root.courseMounted) return;
    root.courseMounted = true;
    // A page that was saved from the browser already contains controls, without their listeners.
    root.querySelectorAll(".course-controls").forEach(old => old.remove());
    const figure = root.querySelector("figure");
    const img = figure.querySelector("img");
    const caption = figure.querySelector("figcaption");
    const bar = make("div", {"class": "course-controls"}, root);
    // JupyterLab takes plain keys for its own commands: an arrow would leave for another cell.
    bar.addEventListener("keydown", event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey) event.stopPropagation();
    });
    root.insertBefore(bar, figure);
    bar.style.width = Math.max(420, img.getAttribute("width")) + "px";
    make("style", {}, bar).textContent = css;
    let now = 0;
    const button = (name, label, target) => {
      const node = make("button", {type: "button", "aria-label": label, title: label}, bar);
      node.innerHTML = `<svg width="16" height="16" fill="none" stroke="currentColor" stroke-width="2"
        stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d="${icons[name]}"/></svg>`;
      node.addEventListener("click", () => go(target()));
      return node;
    };
    const back = [button("first", "First step", () => 0), button("previous", "Previous step", () => now - 1)];
    const range = make("input", {type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step"}, bar);
    const forth = [button("next", "Next step", () => now + 1), button("last", "Last step", () => last)];
    const count = make("span", {"class": "course-count"}, bar);
    const go = step => {
      now = Math.max(0, Math.min(last, step));
      const frame = frames[now];
      const text = `step ${now + 1} of ${frames.length}`;
      img.src = frame.src;
      img.alt = frame.alt;
      caption.textContent = frame.caption;
      count.textContent = text;
      range.value = now;
      range.setAttribute("aria-valuetext", text);
      // Not the disabled attribute: it would take the keyboard's focus away at the ends.
      back.forEach(node => node.setAttribute("aria-disabled", now === 0));
      forth.forEach(node => node.setAttribute("aria-disabled", now === last));
    };
    range.addEventListener("input", () => go(+range.value));
    caption.setAttribute("aria-live", "polite");
    go(0);
  };
  const find = tries => {
    const own = script && script.closest("[data-stepper]");
    const roots = own ? [own] : [...document.querySelectorAll(`[data-stepper="${key}"]`)];
    roots.forEach(mount);
    // Evaluated before its element is on the page: look again a little later.
    if (!roots.length && tries) setTimeout(find, 100, tries - 1);
  };
  find(50);
}
