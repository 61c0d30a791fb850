(key, frames) => {
  const script = document.currentScript;
  const css = `
[data-stepper] .course-controls{display:flex;align-items:center;gap:6px;max-width:640px;margin:4px 0}
[data-stepper] .course-controls button{width:32px;height:32px;padding:0;border:1px solid #8a8a8a;border-radius:6px;background:transparent;color:inherit;cursor:pointer;display:inline-flex;align-items:center;justify-content:center}
[data-stepper] .course-controls button:hover{background:rgba(86,180,233,.25)}
[data-stepper] .course-controls button[aria-disabled=true]{opacity:.35;cursor:default;background:transparent}
[data-stepper] .course-controls :focus-visible{outline:3px solid #56B4E9;outline-offset:2px}
[data-stepper] .course-controls input{flex:1;min-width:80px;margin:0 6px;accent-color:#0072B2}
[data-stepper] .course-count{min-width:8em;font-variant-numeric:tabular-nums;text-align:right}
@media print{[data-stepper] .course-controls{display:none}}`;
  const icons = {first: "M5 3v10M13 3l-6 5 6 5", previous: "M11 3l-6 5 6 5", next: "M5 3l6 5-6 5", last: "M11 3v10M3 3l6 5-6 5"};
  const make = (tag, attributes, parent) => {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    return parent.appendChild(node);
  };
  const mount = root => {
    if (root.courseMounted) return;
    root.courseMounted = true;
    root.querySelectorAll(".course-controls").forEach(old => old.remove());
    const figure = root.querySelector("figure"), img = figure.querySelector("img"), caption = figure.querySelector("figcaption");
    // JupyterLab listens to keys before we do; this attribute keeps its shortcuts off our controls.
    const bar = make("div", {"class": "course-controls", "data-lm-suppress-shortcuts": "true"}, root);
    root.insertBefore(bar, figure);
    make("style", {}, bar).textContent = css;
    let now = 0;
    const button = (name, label, target) => {
      const node = make("button", {type: "button", "aria-label": label, title: label}, bar);
      node.innerHTML = `<svg width="16" height="16" fill="none" stroke="currentColor" stroke-width="2" aria-hidden="true"><path d="${icons[name]}"/></svg>`;
      node.addEventListener("click", () => go(target()));
      return node;
    };
    const last = frames.length - 1;
    const back = [button("first", "First step", () => 0), button("previous", "Previous step", () => now - 1)];
    const range = make("input", {type: "range", min: 0, max: last, step: 1, value: 0, "aria-label": "Step"}, bar);
    const forth = [button("next", "Next step", () => now + 1), button("last", "Last step", () => last)];
    const count = make("span", {"class": "course-count"}, bar);
    caption.setAttribute("aria-live", "polite");
    range.addEventListener("input", () => go(+range.value));
    const go = step => {
      now = Math.max(0, Math.min(last, step));
      const frame = frames[now], text = `step ${now + 1} of ${frames.length}`;
      img.src = frame.src;
      img.alt = frame.alt;
      caption.textContent = frame.caption;
      count.textContent = text;
      range.value = now;
      range.setAttribute("aria-valuetext", text);
      back.forEach(node => node.setAttribute("aria-disabled", now === 0));
      forth.forEach(node => node.setAttribute("aria-disabled", now === last));
    };
    go(0);
  };
  const find = tries => {
    const own = script && script.closest("[data-stepper]");
    const roots = own ? [own] : [...document.querySelectorAll(`[data-stepper="${key}"]`)];
    roots.forEach(mount);
    // Evaluated before the element is on the page: look again a little later.
    if (!roots.length && tries) setTimeout(find, 100, tries - 1);
  };
  find(50);
}
