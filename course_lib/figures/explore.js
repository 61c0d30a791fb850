// Makes an explorer's controls work by keyboard and speak. Called with the style element in its title, once per load.
title => {
  const box = title.closest(".course-explore");
  if (!box || box.courseMounted) return;
  box.courseMounted = true;
  // JupyterLab takes plain keys for its own commands: an arrow on a dropdown would leave for another cell.
  box.addEventListener("keydown", event => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey && !event.shiftKey) event.stopPropagation();
  });
  // ipywidgets gives a slider's handle no name; it stands in the label beside it.
  const name = () => {
    for (const row of box.querySelectorAll(".widget-inline-hbox")) {
      const label = row.querySelector(".widget-label").textContent;
      row.querySelectorAll(".noUi-handle").forEach(handle => handle.setAttribute("aria-label", label));
      row.querySelectorAll(".widget-readout").forEach(readout => {
        readout.setAttribute("role", "textbox");
        readout.setAttribute("aria-label", label + ", type a value");
      });
    }
    box.lastElementChild.setAttribute("aria-live", "polite");
  };
  name();
  setTimeout(name, 500);
  box.addEventListener("focusin", name);
}
