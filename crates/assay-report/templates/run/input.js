// Mouse, fingers and keys.

const DRAG_PIXELS_MIN = 4, TYPING_MS = 120, NEAR_PIXELS = 4, LOOK_BACK = 64;

function listen(viewer) {
  const { form, root, canvas } = viewer;
  const acts = {
    in: () => zoom(viewer, 1 / 2), out: () => zoom(viewer, 2),
    left: () => pan(viewer, -0.4), right: () => pan(viewer, 0.4),
    whole: () => show(viewer, 0, viewer.trial.duration),
    before: () => jump(viewer, -1), next: () => jump(viewer, 1),
    up: () => scrollLanes(viewer, -1), down: () => scrollLanes(viewer, 1),
    later: () => step(viewer, 1), earlier: () => step(viewer, -1), none: () => choose(viewer, -1),
  };
  for (const button of root.querySelectorAll("[data-do]")) {
    button.addEventListener("click", () => viewer.trial && acts[button.dataset.do]());
  }
  const keys = { "+": "in", "=": "in", "-": "out", "_": "out", ArrowLeft: "left",
    ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", 0: "whole", Home: "whole", n: "next",
    p: "before", ".": "later", ",": "earlier", Escape: "none" };
  canvas.lanes.addEventListener("keydown", (event) => {
    const act = keys[event.key];
    if (!act || !viewer.trial || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    acts[act]();
  });
  let typing = 0;
  const later = () => {
    clearTimeout(typing);
    typing = setTimeout(() => viewer.trial && refilter(viewer), TYPING_MS);
  };
  form.addEventListener("input", later);
  form.addEventListener("reset", later);
  form.addEventListener("submit", (event) => event.preventDefault());
  for (const each of [canvas.lanes, canvas.latency, canvas.rate]) {
    wheel(viewer, each);
    pointers(viewer, each);
  }
  strip(viewer);
}

function scrollLanes(viewer, by) {
  viewer.view.top += by;
  redraw(viewer);
}

// The next operation in time that passes the filter.
function step(viewer, by) {
  const { trial, mask, view, lanes } = viewer;
  let i = viewer.selected < 0
    ? lowerBound(trial.start, view.from, 0, trial.n) - (by > 0 ? 1 : 0) : viewer.selected;
  do i += by; while (i >= 0 && i < trial.n && !mask[i]);
  if (i < 0 || i >= trial.n) return;
  choose(viewer, i);
  const layout = laneLayout(lanes), lane = lanes.lane[i];
  if (lane < view.top || lane >= view.top + layout.rows) view.top = lane - (layout.rows >> 1);
  if (trial.start[i] < view.from || trial.start[i] > view.to) {
    const half = (view.to - view.from) / 2;
    show(viewer, trial.start[i] - half, trial.start[i] + half);
  }
}

// A wheel over a page that scrolls must not be caught by surprise: it zooms once the timeline was
// clicked into, or with the control key, which is also what a pinch on a touchpad sends.
function wheel(viewer, canvas) {
  canvas.addEventListener("wheel", (event) => {
    if (!viewer.trial) return;
    const { lanes } = viewer.canvas, ours = event.ctrlKey || document.activeElement === lanes;
    if (event.shiftKey && canvas === lanes && ours) {
      scrollLanes(viewer, Math.sign(event.deltaY || event.deltaX));
    } else if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan(viewer, event.deltaX / 800);
    } else if (ours) {
      const inner = canvas.clientWidth - LEFT - RIGHT;
      zoom(viewer, Math.exp(event.deltaY / 400), nsOf(viewer.view, inner, event.offsetX));
    } else {
      return;
    }
    event.preventDefault();
  }, { passive: false });
}

// One pointer moves, two stretch, a tap chooses.
function pointers(viewer, canvas) {
  const down = new Map();
  let moved = 0;
  canvas.addEventListener("pointerdown", (event) => {
    down.set(event.pointerId, event.offsetX);
    canvas.setPointerCapture(event.pointerId);
    moved = down.size > 1 ? DRAG_PIXELS_MIN : 0;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!viewer.trial) return;
    if (!down.has(event.pointerId)) return hover(viewer, canvas, event);
    const before = down.get(event.pointerId), inner = canvas.clientWidth - LEFT - RIGHT;
    const others = [...down].filter(([id]) => id !== event.pointerId).map(([, x]) => x);
    moved += Math.abs(event.offsetX - before);
    if (moved < DRAG_PIXELS_MIN) return;
    viewer.tip.hidden = true;
    down.set(event.pointerId, event.offsetX);
    if (others.length === 0) return pan(viewer, (before - event.offsetX) / inner);
    const [was, is] = [Math.abs(before - others[0]), Math.abs(event.offsetX - others[0])];
    if (was > 5 && is > 5) zoom(viewer, was / is, nsOf(viewer.view, inner, others[0]));
  });
  const up = (event) => {
    if (!down.delete(event.pointerId) || !viewer.trial) return;
    if (event.type === "pointerup" && moved < DRAG_PIXELS_MIN && canvas === viewer.canvas.lanes) {
      canvas.focus({ preventScroll: true });
      choose(viewer, opAt(viewer, event.offsetX, event.offsetY));
    }
  };
  canvas.addEventListener("pointerup", up);
  canvas.addEventListener("pointercancel", up);
  canvas.addEventListener("pointerleave", () => { viewer.tip.hidden = true; });
}

// The operation at a place on the lanes, or -1.
function opAt(viewer, x, y) {
  const { trial, lanes, view, mask } = viewer, layout = laneLayout(lanes);
  const row = Math.floor((y - HEAD) / layout.height), lane = view.top + row;
  if (row < 0 || row >= layout.rows || x < LEFT) return -1;
  const inner = viewer.canvas.lanes.clientWidth - LEFT - RIGHT, ns = nsOf(view, inner, x);
  const near = NEAR_PIXELS * (view.to - view.from) / inner;
  let [low, high] = [lanes.from[lane], lanes.from[lane + 1]];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (trial.start[lanes.ops[middle]] <= ns + near) low = middle + 1; else high = middle;
  }
  for (let at = low - 1; at >= Math.max(lanes.from[lane], low - LOOK_BACK); at--) {
    const i = lanes.ops[at];
    if (mask[i] && lanes.shown[i] >= ns - near) return i;
  }
  return -1;
}

function hover(viewer, canvas, event) {
  const { tip } = viewer;
  if (canvas !== viewer.canvas.lanes || event.pointerType === "touch") return;
  const op = opAt(viewer, event.offsetX, event.offsetY);
  tip.hidden = op < 0;
  if (op < 0) return;
  tip.textContent = fields(viewer, op).map(([name, value]) => `${name}: ${value}`).join("\n");
  const left = Math.min(event.offsetX + 14, canvas.clientWidth - tip.offsetWidth - 4);
  tip.style.left = `${Math.max(0, left)}px`;
  tip.style.top = `${event.offsetY + 16}px`;
}

function strip(viewer) {
  const canvas = viewer.canvas.strip;
  const move = (event) => {
    if (!viewer.trial || !(event.buttons & 1)) return;
    const { trial, view } = viewer, inner = canvas.clientWidth - LEFT - RIGHT;
    const at = (event.offsetX - LEFT) / inner * trial.duration, half = (view.to - view.from) / 2;
    show(viewer, at - half, at + half);
  };
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    move(event);
  });
  canvas.addEventListener("pointermove", move);
}
