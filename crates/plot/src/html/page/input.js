// Pointer and keyboard input on a group of charts.

// A pointer that moves by at least this many pixels selects seconds.
const DRAG = 4;

// Hovering moves the cross-hair, dragging selects seconds to zoom in, a double click shows all again.
function followPointer(group) {
  const { box, view } = group;
  let start = null;
  const dragged = (event) => start !== null && Math.abs(event.clientX - start) >= DRAG;
  box.addEventListener("pointerdown", (event) => {
    if (event.button !== 0 || !event.target.closest("svg")) return;
    start = event.clientX;
    box.setPointerCapture(event.pointerId);
  });
  box.addEventListener("pointermove", (event) => {
    if (start === null && !event.target.closest("svg")) return;
    view.point(Math.floor(group.secondAt(event.clientX)));
    if (dragged(event)) group.select(...chosen(group, start, event.clientX));
  });
  box.addEventListener("pointerup", (event) => {
    const [from, to] = start === null ? [] : chosen(group, start, event.clientX);
    const meant = dragged(event);
    start = null;
    if (meant) view.look(from, to);
  });
  box.addEventListener("pointercancel", () => {
    start = null;
    group.select(view.from, view.from);
  });
  box.addEventListener("pointerleave", () => start === null && view.point(null));
  box.addEventListener("dblclick", (event) => event.target.closest("svg") && view.all());
}

// Returns the whole seconds between two horizontal positions.
function chosen(group, one, other) {
  const [from, to] = [one, other].sort((a, b) => a - b).map((place) => group.secondAt(place));
  return [Math.floor(from), Math.ceil(to)];
}

function followKeys({ box, view }) {
  const keys = {
    ArrowLeft: () => view.step(-1),
    ArrowRight: () => view.step(1),
    PageDown: () => view.step(-10),
    PageUp: () => view.step(10),
    Home: () => view.go(view.first),
    End: () => view.go(view.end - 1),
    "+": () => view.zoom(0.5),
    "=": () => view.zoom(0.5),
    "-": () => view.zoom(2),
    Escape: () => view.all(),
  };
  box.addEventListener("keydown", (event) => {
    if (event.target !== box || event.ctrlKey || event.metaKey || event.altKey || !keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
}
