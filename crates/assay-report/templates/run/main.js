// Starts the timelines when the reader comes near them, and the few buttons of the page.

const viewers = new Map([...document.querySelectorAll("[data-viewer]")]
  .map((root) => [root.dataset.viewer, makeViewer(root)]));

const near = new IntersectionObserver((entries) => {
  for (const entry of entries) {
    if (entry.isIntersecting) open(viewers.get(entry.target.dataset.viewer));
  }
}, { rootMargin: "300px" });

const resized = new ResizeObserver((entries) => {
  for (const entry of entries) redraw(viewers.get(entry.target.dataset.viewer));
});

const narrow = matchMedia("(max-width: 46rem)").matches;
for (const { root } of viewers.values()) {
  root.querySelector(".filter").open = !narrow;
  near.observe(root);
  resized.observe(root);
}

for (const query of ["(prefers-color-scheme: dark)", "print"]) {
  matchMedia(query).addEventListener("change", () => viewers.forEach((viewer) => {
    if (viewer.trial) draw(viewer);
  }));
}

for (const button of document.querySelectorAll("[data-jump]")) {
  button.addEventListener("click", async () => {
    const viewer = viewers.get(button.dataset.jump);
    await open(viewer);
    if (viewer.trial.marks.length === 0) await load(viewer, firstTab(viewer));
    viewer.root.scrollIntoView({ block: "start" });
    viewer.mark = -1;
    jump(viewer, 1);
    viewer.canvas.lanes.focus({ preventScroll: true });
  });
}

for (const button of document.querySelectorAll("[data-copy]")) {
  button.addEventListener("click", async () => {
    const text = button.parentElement.querySelector("pre");
    try {
      await navigator.clipboard.writeText(text.textContent);
      button.textContent = "Copied";
    } catch {
      getSelection().selectAllChildren(text);
      button.textContent = "Selected";
    }
  });
}

// Paper cannot be unfolded.
let unfolded = [];
addEventListener("beforeprint", () => {
  unfolded = [...document.querySelectorAll("details:not([open])")];
  unfolded.forEach((each) => { each.open = true; });
});
addEventListener("afterprint", () => unfolded.forEach((each) => { each.open = false; }));

document.documentElement.dataset.script = "ready";
