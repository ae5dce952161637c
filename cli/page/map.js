// ---- The map: all that is drawn, small, with what the window shows of it
const MAP = { most: 130, deepest: 3, scale: 1 };

// The boxes inside a drawn one as a path, those that are open apart.
function outline(box, x, y, depth, paths) {
  for (const place of box.drawn.places) {
    const { size, isOpen, drawn } = place.box, left = x + place.x, top = y + place.y;
    const path = `M${left.toFixed(0)} ${top.toFixed(0)}h${size.width.toFixed(0)}v${size.height.toFixed(0)}h${(-size.width).toFixed(0)}z`;
    if (place.box === (VIEW.chosen && VIEW.chosen.box)) paths.chosen += path;
    paths[isOpen ? "open" : "closed"] += path;
    if (isOpen && depth < MAP.deepest) outline(place.box, left + (size.width - drawn.width) / 2, top + HEAD + PAD - 2, depth + 1, paths);
  }
}
function drawMap() {
  const map = $("map"), { width, height } = ROOT.drawn, paths = { open: "", closed: "", chosen: "" };
  MAP.scale = Math.min(MAP.most / width, MAP.most / height);
  map.setAttribute("viewBox", `0 0 ${width} ${height}`);
  map.style.width = `${Math.max(24, width * MAP.scale)}px`;
  map.style.height = `${Math.max(24, height * MAP.scale)}px`;
  map.replaceChildren();
  outline(ROOT, 0, 0, 0, paths);
  for (const kind in paths) make(map, "path", { class: "map-" + kind, d: paths[kind] });
  make(map, "rect", { class: "map-view" });
  moveMap();
}
// Where the window stands; the map hides while that is everything.
function moveMap() {
  const map = $("map"), frame = map.lastChild, view = $("drawing").getBoundingClientRect();
  if (!frame || !ROOT.drawn) return;
  const x = -VIEW.x / VIEW.zoom, y = -VIEW.y / VIEW.zoom, width = view.width / VIEW.zoom, height = view.height / VIEW.zoom;
  const sees = x <= 0 && y <= 0 && x + width >= ROOT.drawn.width && y + height >= ROOT.drawn.height;
  map.style.visibility = sees ? "hidden" : "visible";
  for (const [key, value] of Object.entries({ x, y, width, height })) frame.setAttribute(key, value.toFixed(0));
}
function listenToMap() {
  const map = $("map");
  const go = (event) => {
    if (!(event.buttons & 1)) return;
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(map.getScreenCTM().inverse());
    const view = $("drawing").getBoundingClientRect();
    VIEW.x = view.width / 2 - at.x * VIEW.zoom;
    VIEW.y = view.height / 2 - at.y * VIEW.zoom;
    move();
    event.preventDefault();
  };
  map.addEventListener("pointerdown", (event) => {
    map.setPointerCapture(event.pointerId);
    go(event);
  });
  map.addEventListener("pointermove", go);
}
