// What a style sheet cannot do.
(() => {
  const SCROLLERS = ".course-scroll, .cell_output .text_html, .bd-article pre, .cell_output .course-figure,"
    + " .course-report div[style*='overflow-x'], .course-comparison div[style*='overflow-x']";
  const SMALLEST = 11, PHONE = 720; // pixels: of letters in a picture, and how wide a page may be to count as small
  const LETTERS = 12, DOTS = 1.75; // of the course's plots: pixels, and dots stored for each (PNG_SCALE)
  // A picture whose letters would be too small on a small screen keeps its size and scrolls. Most stand larger on a wide
  // page than they were drawn, and their letters with them.
  const smallest = picture => {
    const plot = !picture.src.startsWith("data:image/svg+xml,");
    const sizes = plot ? [LETTERS * DOTS]
      : [...decodeURIComponent(picture.src).matchAll(/font-size[=:]\s*['"]?([\d.]+)/g)].map(found => +found[1]);
    // Infinity where nothing is written, and before the picture is there
    return picture.getAttribute("width") / picture.naturalWidth * Math.min(...sizes);
  };
  const legible = picture => {
    const natural = +picture.getAttribute("width") || picture.naturalWidth;
    const needed = Math.min(natural, natural * SMALLEST / smallest(picture));
    picture.style.minWidth = innerWidth < PHONE && needed ? `${Math.ceil(needed)}px` : "";
  };
  const legibleAll = () => document.querySelectorAll(".cell_output .course-figure img").forEach(legible);
  document.addEventListener("load", event => { // a stepper's next picture
    if (event.target.matches && event.target.matches(".cell_output .course-figure img")) { legible(event.target); reach(); }
  }, true);
  // Sentences in an output wrap, as in JupyterLab; what stands in columns (more than one space between) scrolls. Where
  // both stand together, a sentence too long for any page decides: of columns one sees that they go on, of it not.
  const wrap = () => {
    for (const output of document.querySelectorAll(".cell_output .output:not(.traceback) pre")) {
      const long = output.textContent.split("\n").filter(line => line.length > 40);
      const said = long.filter(line => !/\S {2,}\S/.test(line));
      output.classList.toggle("course-wrap", said.some(line => line.length > 80 || said.length === long.length));
    }
  };
  document.addEventListener("DOMContentLoaded", wrap);
  // What scrolls sideways on a small screen must be reached by keyboard too.
  const reach = () => {
    // A formula within a line cannot be broken: one that is wider than the column scrolls by itself.
    for (const formula of document.querySelectorAll(".bd-article p > span.math, .bd-article li > span.math")) {
      const wide = formula.firstElementChild.getBoundingClientRect().width > formula.closest("p, li").clientWidth;
      formula.classList.toggle("course-scroll", wide);
    }
    for (const part of document.querySelectorAll(SCROLLERS)) {
      if (part.scrollWidth > part.clientWidth + 1) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  for (const change of ["load", "resize"]) addEventListener(change, () => { legibleAll(); reach(); });
  document.addEventListener("toggle", reach, true);
  // On paper nothing can be opened: it is open.
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll(".bd-article details:not([open])")];
    for (const fold of opened) fold.open = true;
  });
  addEventListener("afterprint", () => {
    for (const fold of opened) fold.open = false;
  });
})();
