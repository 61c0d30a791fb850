// Two things that a style sheet cannot do.
(() => {
  // What scrolls sideways on a small screen must be reached by keyboard too.
  const reach = () => {
    // A formula within a line cannot be broken: one that is wider than the column scrolls by itself.
    for (const formula of document.querySelectorAll(".bd-article p > span.math, .bd-article li > span.math")) {
      const wide = formula.firstElementChild.getBoundingClientRect().width > formula.closest("p, li").clientWidth;
      formula.classList.toggle("course-scroll", wide);
    }
    for (const part of document.querySelectorAll(".course-scroll, .cell_output .text_html, .bd-article pre")) {
      if (part.scrollWidth > part.clientWidth + 1) part.tabIndex = 0;
      else part.removeAttribute("tabindex");
    }
  };
  addEventListener("load", reach);
  addEventListener("resize", reach);
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
