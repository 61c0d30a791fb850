// Makes buttons of a prediction's choices, and keeps folded what answers it until the reader has chosen.
// Called with the prediction's key, its choices as HTML, the place of the right one, how many folds it opens, its look.
(key, choices, right, reveals, look) => {
  const script = document.currentScript;
  const css = `
    .course-predict [role=radiogroup]{display:flex;flex-direction:column;gap:6px;max-width:640px;margin:4px 0}
    .course-predict button,.course-cover{font:inherit;font-size:14px;line-height:1.4;color:inherit;cursor:pointer;
      background:transparent;border:1px solid ${look.edge};border-radius:6px;min-height:36px;padding:6px 12px}
    .course-predict [role=radio]{text-align:left;display:flex;flex-wrap:wrap;justify-content:space-between;gap:0 12px}
    .course-predict button:hover,.course-cover:hover{background:${look.hover}44}
    .course-predict [aria-disabled=true]{cursor:default}
    .course-predict [aria-disabled=true]:hover{background:transparent}
    .course-predict [data-mark=right]{border:3px solid ${look.right}}
    .course-predict [data-mark=wrong]{border:3px dashed ${look.wrong}}
    .course-predict [data-mark] b{white-space:nowrap}
    .course-predict-live button:focus-visible,.jp-Cell button.course-cover:focus-visible{outline:3px solid ${look.accent};outline-offset:2px}
    .course-predict [hidden]{display:none}
    .course-predict [role=status]{font-size:14px;line-height:1.4;min-height:1.4em;margin:6px 0}
    .course-cover{display:block;margin:4px 0}
    .jp-NotebookPanel .course-cover{margin-left:var(--jp-cell-prompt-width)}
    .course-covered,.course-predict-print{display:none}
    .jp-NotebookPanel .jp-OutputPlaceholder .jp-PlaceholderText{display:none}
    @media print{.course-predict button:not([role=radio]),.course-cover{display:none}
      .course-covered,.course-predict-print{display:block}}`;
  const make = (tag, attributes, parent, html = "") => {
    const node = document.createElement(tag);
    for (const name in attributes) node.setAttribute(name, attributes[name]);
    node.innerHTML = html;
    return parent.appendChild(node);
  };
  const opened = new WeakSet();
  const uncover = area => {
    opened.add(area);
    if (!area.classList.contains("course-covered")) return;
    area.classList.remove("course-covered");
    area.previousElementSibling.remove();
  };
  const cover = area => {
    if (opened.has(area) || area.classList.contains("course-covered")) return;
    area.classList.add("course-covered");
    const button = make("button", {type: "button", "class": "course-cover"}, area.parentNode,
      "Folded until you have chosen above. Show it anyway");
    area.parentNode.insertBefore(button, area);
    button.addEventListener("click", () => uncover(area));
  };
  // A fold is {open, close}. JupyterLab says nowhere on the page which cell has which tag: there, every output after
  // the question counts, and the lesson's rules see to it that the next ones are the folded ones.
  // The title of a fold often tells what is in it: it is shown when the fold is. A saved page keeps it as data.
  const unveil = node => {
    if (node.dataset.title === undefined) return;
    node.querySelector("summary").innerHTML = node.dataset.title;
    delete node.dataset.title;
  };
  const veil = node => {
    if (node.open || opened.has(node) || node.courseVeiled || !node.matches(".reveal")) return;
    const summary = node.querySelector("summary");
    node.courseVeiled = true;
    node.dataset.title = node.dataset.title ?? summary.innerHTML;
    summary.textContent = "Folded until you have chosen above";
    node.addEventListener("toggle", () => { opened.add(node); unveil(node); }, {once: true});
  };
  const details = node => ({
    open: () => { opened.add(node); unveil(node); node.open = true; },
    close: () => veil(node),
  });
  const covered = area => ({open: () => uncover(area), close: () => cover(area)});
  const labFold = cell => ({
    open: () => {
      const placeholder = cell.querySelector(".jp-OutputPlaceholder .jp-Placeholder-content");
      if (placeholder) placeholder.click();
      const area = cell.querySelector(".jp-Cell-outputArea");
      if (area) uncover(area);
    },
    close: () => {
      const area = cell.querySelector(".jp-Cell-outputArea");
      if (!area || !area.childElementCount) return;
      // JupyterLab writes an error as it writes a warning. Who made it must see it.
      if (area.querySelector("[data-mime-type$=stderr]")) uncover(area);
      else cover(area);
    },
  });
  const foldsInLab = (panel, own) => {
    const found = [], at = "data-windowed-list-index";
    for (let n = +own.getAttribute(at) + 1; found.length < reveals; n++) {
      const cell = panel.querySelector(`.jp-Cell[${at}="${n}"]`);
      // The last one; or not on the page yet, where Lab leaves out what is out of view; or prose not yet set.
      if (!cell || cell.matches(".jp-MarkdownCell") && !cell.querySelector(".jp-MarkdownOutput > *")) break;
      if (cell.querySelector("[data-predict]")) break;
      if (cell.matches(".jp-CodeCell:not(.jp-mod-noOutputs)")) found.push(labFold(cell));
      cell.querySelectorAll("details.reveal").forEach(node => found.push(details(node)));
    }
    return found.slice(0, reveals);
  };
  const foldsOnPage = root => {
    const every = "details.reveal, details.hide, .celltag_hide-output .jp-Cell-outputArea";
    const after = [...document.querySelectorAll(every)].filter(node =>
      root.compareDocumentPosition(node) & Node.DOCUMENT_POSITION_FOLLOWING &&
      !node.classList.contains("above-input"));  // that one hides code
    return after.slice(0, reveals).map(node => node.tagName === "DETAILS" ? details(node) : covered(node));
  };
  const printAll = () => {
    let shut = [];
    addEventListener("beforeprint", () => {
      shut = [...document.querySelectorAll("details:not([open])")];
      shut.forEach(node => { node.open = true; });
    });
    addEventListener("afterprint", () => shut.forEach(node => { node.open = false; }));
  };
  const mount = root => {
    if (root.courseMounted) return;
    root.courseMounted = true;
    // A page that was saved from the browser already contains the buttons, without their listeners.
    root.querySelectorAll(".course-predict-live").forEach(old => old.remove());
    const fixed = root.querySelector(".course-predict-static");
    fixed.hidden = true;
    const live = make("div", {"class": "course-predict-live"}, root);
    fixed.after(live);  // before the script: the browser has read it when a saved page comes to the script again
    make("style", {}, live).textContent = css;
    const group = make("div", {role: "radiogroup", "aria-label": "Your prediction"}, live);
    const radios = choices.map((html, i) => make("button",
      {type: "button", role: "radio", "aria-checked": false, tabindex: i ? -1 : 0}, group, `<span>${html}</span>`));
    const give = make("button", {type: "button"}, live, "Show me");
    const status = make("p", {role: "status", tabindex: -1}, live);
    make("p", {"class": "course-predict-print"}, live, `Answer: ${choices[right]}`);
    const panel = root.closest(".jp-NotebookPanel"), own = root.closest(".jp-Cell");
    const folds = () => panel ? foldsInLab(panel, own) : foldsOnPage(root);
    let decided = false, last = 0;
    const follow = () => {
      const found = folds();
      if (found.length < last) return;
      found.slice(decided ? last : 0).forEach(fold => decided ? fold.open() : fold.close());
      if (decided) last = found.length;
    };
    const decide = chosen => {
      if (decided) return;
      decided = true;
      radios.forEach((radio, i) => {
        radio.setAttribute("aria-checked", i === chosen);
        radio.setAttribute("aria-disabled", true);
        const mark = i === right ? "right" : i === chosen ? "wrong" : "";
        if (!mark) return;
        radio.dataset.mark = mark;
        make("b", {}, radio, (mark === "right" ? "&#10003; right" : "&#10007; not this one")
          + (i === chosen ? ", your choice" : ""));
      });
      give.hidden = true;
      status.innerHTML = (chosen === right ? `You chose ${choices[right]}, and that is right.`
        : (chosen === null ? "" : `You chose ${choices[chosen]}. `) + `Right is ${choices[right]}.`)
        + " What was folded below is open.";
      if (chosen === null) status.focus();
      follow();
    };
    radios.forEach((radio, i) => radio.addEventListener("click", () => decide(i)));
    give.addEventListener("click", () => decide(null));
    const steps = {ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1};
    group.addEventListener("keydown", event => {
      if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();  // else the page scrolls
      const now = radios.indexOf(document.activeElement);
      const next = radios[(now + steps[event.key] + radios.length) % radios.length];
      radios.forEach(radio => { radio.tabIndex = radio === next ? 0 : -1; });
      next.focus();
    });
    // JupyterLab takes plain keys for its own commands: an arrow would leave for another cell.
    live.addEventListener("keydown", event => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey) event.stopPropagation();
    });
    if (panel) {
      // Running a cell unfolds its output, and cells out of view come to the page later: look at each change.
      let waiting = false;
      const watch = new MutationObserver(() => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => {
          waiting = false;
          if (root.isConnected || decided) follow();
          if (decided && last === reveals) watch.disconnect();
        });
      });
      watch.observe(panel, {childList: true, subtree: true});
    } else if (!window.coursePrints) {
      window.coursePrints = true;
      printAll();
    }
    if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", follow);
    else follow();
  };
  const find = tries => {
    const own = script && script.closest("[data-predict]");
    const roots = own ? [own] : [...document.querySelectorAll(`[data-predict="${key}"]`)];
    roots.forEach(mount);
    // Evaluated before its element is on the page: look again a little later.
    if (!roots.length && tries) setTimeout(find, 100, tries - 1);
  };
  find(50);
}
