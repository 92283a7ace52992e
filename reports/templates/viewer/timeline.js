// The time line: how many messages went each way when, where something is marked, and what the list shows. It can be zoomed.

// The least span that fills it, in milliseconds.
const LEAST_SPAN = 10;

const timeline = (session, go) => {
  const { first, last } = session.times;
  const canvas = make("canvas", { role: "img", "aria-label": `Messages over ${seconds(last - first)}; the list below has each of them` });
  const said = make("output", { class: "faint" });
  let view = [first, last];
  let seen = [0, 0];
  let chosen;
  let drag;
  const timed = session.rows.filter((row) => row.time !== undefined && row.is !== "fold");
  const width = () => canvas.clientWidth || 1;
  const x = (time) => ((time - view[0]) / (view[1] - view[0])) * width();
  const time = (at) => view[0] + (at / width()) * (view[1] - view[0]);

  const [top, high] = [16, 84];
  const foot = high - 16;
  const middle = (top + foot) / 2;
  // A pen for a canvas of this width on this screen, and the colours of the page.
  const penOf = (of, wide) => {
    const ratio = window.devicePixelRatio || 1;
    [of.width, of.height] = [wide * ratio, high * ratio];
    const pen = of.getContext("2d");
    pen.scale(ratio, ratio);
    return pen;
  };
  const colour = (name) => getComputedStyle(canvas).getPropertyValue(name);

  // The messages of the span, drawn when the span changes, and not whenever the list moves.
  const still = document.createElement("canvas");
  const drawStill = () => {
    const wide = width();
    const pen = penOf(still, wide);
    const cell = 3;
    const cells = Math.ceil(wide / cell);
    const [up, down, marks] = [new Uint32Array(cells), new Uint32Array(cells), new Uint8Array(cells)];
    for (const row of timed) {
      const at = Math.floor(x(row.time) / cell);
      if (!(at >= 0 && at < cells)) continue;
      if (row.from === 0) up[at] += 1;
      else if (row.from !== undefined) down[at] += 1;
      if (row.tone) marks[at] = Math.max(marks[at], row.tone === "bad" ? 2 : 1);
    }
    const most = Math.max(1, ...up, ...down);
    const tall = (count) => (count === 0 ? 0 : 2 + (Math.log1p(count) / Math.log1p(most)) * (middle - top - 9));
    const bars = (counts, name, above) => {
      pen.fillStyle = colour(name);
      counts.forEach((count, at) => pen.fillRect(at * cell, above ? middle - tall(count) : middle + 1, cell - 1, tall(count)));
    };
    bars(up, "--client", true);
    bars(down, "--server", false);
    pen.strokeStyle = colour("--line");
    pen.strokeRect(0, middle + 0.5, wide, 0);
    // A cross for what is wrong, and a bar for what is worth a look: they differ in shape.
    const tones = [undefined, colour("--known"), colour("--bad")];
    pen.lineWidth = 1.5;
    marks.forEach((mark, at) => {
      if (!mark) return;
      const centre = at * cell + 1;
      pen.strokeStyle = tones[mark];
      pen.beginPath();
      if (mark === 2) {
        pen.moveTo(centre - 3, top + 1); pen.lineTo(centre + 3, top + 7);
        pen.moveTo(centre + 3, top + 1); pen.lineTo(centre - 3, top + 7);
      } else {
        pen.moveTo(centre, top + 1); pen.lineTo(centre, top + 7);
      }
      pen.stroke();
    });
    pen.fillStyle = colour("--faint");
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "bottom";
    const ticks = Math.max(2, Math.min(6, Math.floor(wide / 110)));
    for (let tick = 0; tick < ticks; tick++) {
      const at = (tick / (ticks - 1)) * wide;
      pen.textAlign = tick === 0 ? "left" : tick === ticks - 1 ? "right" : "center";
      pen.fillText(seconds(Math.round(time(at))), at, high - 1);
    }
    pen.textAlign = "left";
    pen.textBaseline = "top";
    pen.fillText("▲ from client  ▼ from server  ✗ wrong  | worth a look", 0, 1);
  };

  // What the list shows now, what is chosen, and what is being marked with the pointer, around the still picture.
  const draw = () => {
    const wide = width();
    const pen = penOf(canvas, wide);
    pen.fillStyle = colour("--soft");
    pen.fillRect(x(seen[0]), top, Math.max(2, x(seen[1]) - x(seen[0])), foot - top);
    pen.drawImage(still, 0, 0, wide, high);
    if (chosen !== undefined) {
      pen.fillStyle = colour("--link");
      pen.fillRect(x(chosen) - 1, top, 2, foot - top);
    }
    if (drag) {
      pen.strokeStyle = colour("--link");
      pen.strokeRect(Math.min(drag.from, drag.to), top, Math.abs(drag.to - drag.from), foot - top);
    }
  };
  let [waiting, stale] = [0, true];
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => {
      if (stale) drawStill();
      stale = false;
      draw();
    });
  };
  const anew = () => {
    stale = true;
    later();
  };

  const zoom = (from, to) => {
    const least = Math.min(LEAST_SPAN, last - first);
    const half = Math.max(to - from, least) / 2;
    const middle = Math.min(Math.max((from + to) / 2, first + half), last - half);
    view = to - from >= last - first ? [first, last] : [Math.max(first, middle - half), Math.min(last, middle + half)];
    const zoomed = view[0] > first || view[1] < last;
    said.textContent = zoomed ? `${seconds(Math.round(view[0]))} to ${seconds(Math.round(view[1]))}` : "";
    go.zoomed(zoomed ? view : undefined);
    anew();
  };
  const scale = (factor, around = (view[0] + view[1]) / 2) =>
    zoom(around - (around - view[0]) * factor, around + (view[1] - around) * factor);
  const move = (part) => {
    const by = (view[1] - view[0]) * part;
    zoom(view[0] + by, view[1] + by);
  };

  // The row nearest to a moment; times need not be in order.
  const nearest = (moment) => {
    let best;
    for (const row of timed) if (!best || Math.abs(row.time - moment) < Math.abs(best.time - moment)) best = row;
    return best;
  };
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    scale(event.deltaY > 0 ? 1.25 : 0.8, time(event.offsetX));
  }, { passive: false });
  canvas.addEventListener("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    drag = { from: event.offsetX, to: event.offsetX };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!drag) return;
    drag.to = event.offsetX;
    later();
  });
  canvas.addEventListener("pointerup", () => {
    if (!drag) return;
    const [from, to] = [Math.min(drag.from, drag.to), Math.max(drag.from, drag.to)];
    drag = undefined;
    if (to - from > 5) zoom(time(from), time(to));
    else go.row(nearest(time(from)).index);
  });
  canvas.addEventListener("pointercancel", () => { drag = undefined; later(); });
  new ResizeObserver(anew).observe(canvas);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", anew);

  const button = (label, does, act) => make("button", { type: "button", title: does, "aria-label": does, click: act }, label);
  const element = make("section", { class: "timeline", "aria-label": "Time line" }, canvas,
    make("div", { class: "bar" },
      button("+", "Zoom in", () => scale(0.5)), button("−", "Zoom out", () => scale(2)),
      button("◀", "Earlier", () => move(-0.5)), button("▶", "Later", () => move(0.5)),
      make("button", { type: "button", click: () => zoom(first, last) }, "Whole session"), said));
  return {
    element,
    show(from, to, at) {
      [seen, chosen] = [[from, to], at];
      later();
    },
    reset: () => zoom(first, last),
  };
};
