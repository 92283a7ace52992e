// The list with the diagram beside it: only the rows in view are in the page, however long the session is.

const SVG = "http://www.w3.org/2000/svg";
// A browser takes no element of any height; beyond this one pixel of the scroll bar is more than one of the list.
const TALLEST = 8_000_000;
const ASKS = ["request", "tool call"];

const shape = (tag, attributes) => {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
};

const sessionList = (session, go) => {
  const narrow = matchMedia("(max-width: 45rem)");
  const layer = make("div", { class: "layer", role: "listbox", tabindex: "0", "aria-label": "Messages", id: "rows" });
  const spacer = make("div", { class: "spacer" });
  const box = make("div", { class: "list" }, layer, spacer);
  const head = make("div", { class: "head", "aria-hidden": "true" });
  let left = [];
  let chosen = -1;
  let paper = false;

  const gutter = () => session.columns.length * 7 + 4;
  const laneAt = (lane, wide) => {
    const edge = narrow.matches ? 8 : 22;
    return gutter() + edge + (lane / Math.max(1, session.participants.length - 1)) * (wide - gutter() - 2 * edge);
  };
  const lanesWide = () => gutter() + (narrow.matches ? 36 : 75) * Math.min(6, session.participants.length);
  const high = () => (narrow.matches ? 44 : 28);

  // The lanes of a row, the exchanges that it lies in, and its arrow.
  const lanes = (row) => {
    const [wide, tall] = [lanesWide(), high()];
    const svg = shape("svg", { class: "lanes", width: wide, height: tall, "aria-hidden": "true" });
    const line = (x1, y1, x2, y2, name) => svg.append(shape("line", { x1, y1, x2, y2, class: name }));
    session.columns.forEach((column, at) => {
      const first = column.rows[row.index];
      if (first === 0) return;
      const [x, ends] = [at * 7 + 4, column.rows[row.index + 1] !== first];
      const own = row.band !== undefined && session.bands.get(row.band).first === first - 1;
      // An exchange whose head is folded begins with the message that it is folded into.
      const begins = first === row.index + 1 || (own && row.around && left.length < session.rows.length);
      line(x, begins ? tall / 2 : 0, x, ends ? tall / 2 : tall, "band");
      if (own) svg.append(shape("circle", { cx: x, cy: tall / 2, r: begins ? 3.5 : 2, class: "own" }));
    });
    session.participants.forEach((_, lane) => line(laneAt(lane, wide), 0, laneAt(lane, wide), tall, "lane"));
    if (row.from === undefined) {
      if (row.is === "note" && row.opens === undefined) svg.append(shape("circle", { cx: (laneAt(0, wide) + wide) / 2, cy: tall / 2, r: 3, class: "note" }));
      return svg;
    }
    const [from, to, y] = [laneAt(row.from, wide), laneAt(row.to, wide), tall / 2];
    const way = Math.sign(to - from);
    const wrong = row.is === "error" || row.isError;
    const name = ASKS.includes(row.is) ? "ask" : row.is === "notification" ? "tell" : "reply";
    line(from, y, to - way * 2, y, `${name}${wrong ? " wrong" : ""}`);
    const tip = to - way;
    svg.append(shape("path", { d: `M${tip - way * 8} ${y - 4}L${tip} ${y}L${tip - way * 8} ${y + 4}${name === "tell" ? "" : "Z"}`, class: `tip ${name}${wrong ? " wrong" : ""}` }));
    if (wrong) {
      const middle = (from + to) / 2;
      svg.append(shape("path", { d: `M${middle - 4} ${y - 4}l8 8m0 -8l-8 8`, class: "cross" }));
    }
    if ((row.flags || []).includes("never answered")) svg.append(shape("circle", { cx: tip - way * 15, cy: y, r: 4, class: "open" }));
    return svg;
  };

  const rowOf = (index, place) => {
    const row = session.rows[index];
    const what = make("span", { class: "what" }, ...row.marks.map(badge));
    if (row.number === undefined) what.append(make("span", { class: row.opens === undefined ? "said" : "said opens" }, onOneLine(words(row))));
    else {
      const answer = row.is === "result" || row.is === "error";
      if (answer || row.is === "tool call") what.append(make("span", { class: "kind" }, answer ? `${row.is} of` : "call"));
      what.append(make("b", {}, onOneLine(row.name || (answer ? "nothing" : row.is))));
      if (row.id !== undefined) what.append(make("span", { class: "id" }, `id ${onOneLine(row.id)}`));
      if (row.took !== undefined) what.append(make("span", { class: "took" }, span(row.took)));
      if (row.around) what.append(make("span", { class: "around" }, onOneLine(row.around)));
      what.append(make("span", { class: "detail" }, onOneLine(row.detail || "")));
    }
    const way = row.from === undefined ? "" : `${session.participants[row.from].name} to ${session.participants[row.to].name}`;
    return make("div", {
      class: ["row", row.tone, row.number === undefined && "aside"].filter(Boolean).join(" "), role: "option", id: `row-${index}`, "data-place": place,
      "aria-selected": String(place === chosen), "aria-posinset": place + 1, "aria-setsize": left.length,
    },
    make("span", { class: "number" }, row.number === undefined ? "" : String(row.number)),
    session.times || row.time !== undefined ? make("span", { class: "time" }, row.time === undefined ? "" : seconds(row.time)) : "",
    lanes(row), make("span", { class: "unseen" }, way), what);
  };

  // Where the list stands: the place of the first row in view, with its fraction.
  const view = () => box.clientHeight || 1;
  const all = () => left.length * high();
  const tall = () => Math.min(all(), TALLEST);
  const ratio = () => (all() > TALLEST ? (all() - view()) / (TALLEST - view()) : 1);
  const top = () => box.scrollTop * ratio();

  const draw = () => {
    if (paper) return;
    const from = Math.max(0, Math.floor(top() / high()) - 2);
    const to = Math.min(left.length, Math.ceil((top() + view()) / high()) + 2);
    const rows = [];
    for (let place = from; place < to; place++) rows.push(rowOf(left[place], place));
    // The first row stands where its place is, and the layer moves with the box.
    layer.style.transform = `translateY(${from * high() - top()}px)`;
    layer.replaceChildren(...rows);
    if (chosen >= from && chosen < to) layer.setAttribute("aria-activedescendant", `row-${left[chosen]}`);
    else layer.removeAttribute("aria-activedescendant");
    const timed = (start, end, step) => {
      for (let place = start; place !== end; place += step) {
        const { time } = session.rows[left[place]];
        if (time !== undefined) return time;
      }
      return undefined;
    };
    if (to > from) go.seen(timed(from, to, 1), timed(to - 1, from - 1, -1));
  };
  let waiting = 0;
  const later = () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(draw);
  };
  const sized = () => {
    spacer.style.height = `${tall()}px`;
    head.replaceChildren(make("span", { class: "number" }, "#"), session.times ? make("span", { class: "time" }, "time") : "",
      make("span", { class: "lanes" }, ...session.participants.map((it) => make("span", {}, onOneLine(it.name)))), make("span", {}, "message"));
    box.parentElement?.style.setProperty("--lanes", `${lanesWide()}px`);
    later();
  };
  const reveal = (place) => {
    const at = place * high();
    if (at < top() || at + high() > top() + view()) box.scrollTop = Math.max(0, at - view() / 3) / ratio();
  };
  const choose = (place, how) => {
    if (left.length === 0) return;
    chosen = Math.min(Math.max(place, 0), left.length - 1);
    const at = chosen * high();
    if (at < top()) box.scrollTop = at / ratio();
    else if (at + high() > top() + view()) box.scrollTop = (at + high() - view()) / ratio();
    later();
    go.chosen(left[chosen], how);
  };

  box.addEventListener("scroll", later, { passive: true });
  layer.addEventListener("click", (event) => {
    const row = event.target.closest("[data-place]");
    if (row) choose(Number(row.dataset.place), "click");
  });
  layer.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(view() / high()) - 1);
    const moves = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (moves[event.key] !== undefined) {
      event.preventDefault();
      const from = chosen < 0 ? Math.ceil(top() / high()) - (moves[event.key] > 0 ? 1 : 0) : chosen;
      choose(from + moves[event.key], "");
    } else if (event.key === "Enter" && chosen >= 0) {
      event.preventDefault();
      choose(chosen, "key");
    }
  });
  new ResizeObserver(later).observe(box);
  narrow.addEventListener("change", () => sized());

  return {
    element: make("div", { class: "side" }, head, box),
    focus: () => layer.focus({ preventScroll: true }),
    // Shows these rows, and keeps the chosen one where it is left.
    show(rows, index) {
      left = rows;
      chosen = index === undefined ? -1 : left.indexOf(index);
      if (chosen < 0) box.scrollTop = 0;
      sized();
      if (chosen >= 0) reveal(chosen);
    },
    reveal(index) {
      chosen = left.indexOf(index);
      if (chosen >= 0) reveal(chosen);
      later();
      return chosen >= 0;
    },
    // On paper the rows stand one below the other, up to a number.
    print(most) {
      paper = most > 0;
      if (paper) layer.replaceChildren(...left.slice(0, most).map(rowOf));
      else draw();
      return Math.max(0, left.length - most);
    },
  };
};
