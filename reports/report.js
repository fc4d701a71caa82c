(() => {
  "use strict";
  const $ = (s, r = document) => r.querySelector(s), $$ = (s, r = document) => [...r.querySelectorAll(s)];
  const root = document.documentElement;
  root.classList.add("js");
  const rows = $$(".st"), groups = $$(".group"), views = ["summary", "statements", "freedoms", "run"];
  const verdictOf = r => r.classList[1], sectionOf = r => r.parentElement.dataset.s;
  const q = $("#q"), level = $("#level"), section = $("#section"), count = $("#count");
  const boxes = $$("[name=verdict]"), chosen = () => boxes.filter(i => i.checked).map(i => i.value);
  let hay; // made on the first search

  // The filter, and its state in the address.
  function apply() {
    const words = q.value.toLowerCase().split(/\s+/).filter(Boolean), vs = chosen(), sec = section.value;
    if (words.length && !hay) hay = new Map(rows.map(r => [r, r.textContent.toLowerCase()]));
    const shown = new Set();
    let n = 0;
    for (const r of rows) {
      const own = sectionOf(r);
      r.hidden = !((!vs.length || vs.includes(verdictOf(r))) && (!level.value || r.dataset.l === level.value) &&
        (!sec || own === sec || own.startsWith(sec + "/")) && words.every(w => hay.get(r).includes(w)));
      if (!r.hidden) { n++; shown.add(r.parentElement); }
    }
    for (const g of groups) g.hidden = !shown.has(g);
    $(".none").hidden = n > 0;
    count.textContent = n === rows.length ? `${n} statements` : `${n} of ${rows.length} statements`;
  }
  function save() {
    const p = new URLSearchParams();
    if (q.value) p.set("q", q.value);
    if (chosen().length) p.set("verdict", chosen().join(","));
    if (level.value) p.set("level", level.value);
    if (section.value) p.set("section", section.value);
    const s = p.toString().replaceAll("%2C", ",").replaceAll("%2F", "/");
    history.replaceState(null, "", "#statements" + (s ? "?" + s : ""));
  }
  function clear() {
    q.value = level.value = section.value = "";
    for (const i of boxes) i.checked = false;
  }
  const change = () => { apply(); save(); };
  for (const e of [q, level, section, ...boxes]) e.addEventListener("input", change);
  for (const b of [$("#reset"), $("#reset2")]) b.addEventListener("click", e => { e.preventDefault(); clear(); change(); });
  $(".filters").addEventListener("submit", e => e.preventDefault());

  // Views and deep links.
  function show(v) {
    for (const s of $$("main > section")) s.classList.toggle("on", s.id === v);
    for (const a of $$("nav a")) a.getAttribute("href") === "#" + v ? a.setAttribute("aria-current", "page") : a.removeAttribute("aria-current");
  }
  function route() {
    const [id, query = ""] = decodeURIComponent(location.hash.slice(1)).split(/\?(.*)/s);
    const target = id.startsWith("s-") && document.getElementById(id);
    if (target) {
      clear(); apply(); show("statements");
      target.open = true;
      target.scrollIntoView({ block: "start", behavior: "instant" });
      $("summary", target).focus({ preventScroll: true });
      return;
    }
    const v = views.includes(id) ? id : "summary";
    if (v === "statements") {
      const p = new URLSearchParams(query), vs = (p.get("verdict") || "").split(",");
      q.value = p.get("q") || ""; level.value = p.get("level") || ""; section.value = p.get("section") || "";
      for (const i of boxes) i.checked = vs.includes(i.value);
      apply();
    }
    show(v);
    scrollTo({ top: 0, behavior: "instant" });
  }
  addEventListener("hashchange", route);

  // The exchange of packets as a diagram, drawn from the table beneath it.
  const SVG = "http://www.w3.org/2000/svg";
  function el(parent, name, attrs, text) {
    const e = document.createElementNS(SVG, name);
    for (const k in attrs) e.setAttribute(k, attrs[k]);
    if (text !== undefined) e.textContent = text;
    parent.append(e);
    return e;
  }
  function button(parent, name, text) {
    if ($("button", parent)) return;
    const b = document.createElement("button");
    b.type = "button";
    b.className = name;
    b.textContent = text;
    parent.append(b);
  }
  const short = (s, n) => s.length > n ? s.slice(0, n - 1) + "…" : s;
  function draw(check) {
    const table = $(".pk tbody", check);
    if (!table || $(".figs", check)) return;
    const max = 40, all = [...table.rows], events = all.slice(-max);
    const names = [...new Set(all.filter(r => r.className !== "gap").map(r => r.cells[1].textContent))];
    if (!names.length) return;
    const fig = document.createElement("div");
    fig.className = "figs";
    $(".two", check).append(fig);
    const lanes = [names[0], "Broker", ...names.slice(1)], step = 36, top = 44, left = 50, width = Math.max(660, left + lanes.length * 190);
    const x = i => left + 66 + i * (width - left - 132) / Math.max(lanes.length - 1, 1), h = top + events.length * step + 18;
    const svg = el(fig, "svg", { class: "seq", viewBox: `0 0 ${width} ${h}`, role: "img", "aria-label": "Sequence diagram; the table of packets has the same content" });
    lanes.forEach((name, i) => {
      el(svg, "line", { class: "life", x1: x(i), y1: 36, x2: x(i), y2: h - 6 });
      el(svg, "rect", { class: "lane", x: x(i) - 62, y: 4, width: 124, height: 30, rx: 6 });
      el(svg, "text", { class: "lname", x: x(i), y: 23 }, short(name, 18));
    });
    el(svg, "text", { class: "tms", x: left - 10, y: 30 }, "ms");
    events.forEach((r, i) => {
      const y = top + i * step + 24;
      if (r.className === "gap") {
        el(svg, "rect", { class: "gap", x: left, y: y - 14, width: width - left - 6, height: 24, rx: 4 });
        el(svg, "text", { class: "gapt", x: (width + left) / 2, y: y + 2 }, short([...r.cells].slice(1).map(c => c.textContent).filter(Boolean).join(": "), 90));
        return;
      }
      el(svg, "text", { class: "tms", x: left - 10, y: y + 4 }, r.cells[0].textContent);
      const client = x(lanes.indexOf(r.cells[1].textContent)), broker = x(1), out = r.className === "send";
      const a = out ? client : broker, b = out ? broker : client, d = b > a ? 1 : -1, g = el(svg, "g", { class: "ev " + r.className });
      el(g, "line", { x1: a, y1: y, x2: b - d * 8, y2: y });
      el(g, "path", { class: "head", d: `M${b - d * 2} ${y}l${-d * 9} -4.5v9z` });
      const [, type, rest] = r.cells[3].textContent.match(/^(\S*)(.*)$/s), label = el(g, "text", { class: "lab", x: (a + b) / 2, y: y - 5 });
      el(label, "tspan", { class: "ty" }, type);
      el(label, "tspan", {}, short(rest, Math.max(14, Math.abs(b - a) / 7 - type.length)));
    });
    if (all.length > max) {
      const p = document.createElement("p");
      p.className = "hint";
      p.textContent = `the last ${max} of ${all.length}`;
      fig.append(p);
    }
  }
  const drawAll = r => { if (r.open) for (const c of $$(".check", r)) { draw(c); button($(".two > div", c), "issue", "Copy as issue text"); } };
  for (const r of rows) { r.addEventListener("toggle", () => drawAll(r)); drawAll(r); }

  // Buttons.
  const theme = () => {
    const dark = root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
  };
  $("#theme").addEventListener("click", theme);
  const help = $("#help");
  $("#help-b").addEventListener("click", () => help.showModal());
  for (const c of $$(".cmd")) button(c, "copy", "Copy");
  async function copy(b, source, text) {
    try { await navigator.clipboard.writeText(text); b.textContent = "Copied"; }
    catch { getSelection().selectAllChildren(source); b.textContent = "Copy was blocked"; }
  }
  function issue(check) {
    const st = check.closest(".st"), txt = (s, r = check) => $(s, r)?.textContent.trim() ?? "";
    const packets = $$(".pk tbody tr", check).map(r => [...r.cells].slice(0, 4).map(c => c.textContent.trim()).join("  ") +
      ($("pre", r) ? "\n" + $("pre", r).textContent.replace(/^/gm, "        ") : "")).join("\n");
    const part = (name, s) => s ? `**${name}.** ${s}\n\n` : "";
    let fence = "```";
    const command = txt(".cmd code", st);
    while ((packets + command).includes(fence)) fence += "`";
    return `### ${txt(".par code", st)}: ${txt("summary .t", st)}\n\n` + part("Check", txt(".ckl b")) + part("Reason", txt(".why")) +
      part("Expected", txt(".exp p")) + part("Observed", txt(".obs p")) + `${fence}\n${command}\n\n${packets}\n${fence}\n`;
  }
  document.addEventListener("click", e => {
    if (e.target.matches(".copy")) copy(e.target, $("code", e.target.parentElement), $("code", e.target.parentElement).textContent);
    if (e.target.matches(".issue")) { const c = e.target.closest(".check"); copy(e.target, c, issue(c)); }
  });

  // Keyboard.
  addEventListener("keydown", e => {
    if (e.ctrlKey || e.metaKey || e.altKey || help.open) return;
    const typing = e.target.matches("input[type=search],select,textarea");
    if (e.key === "Escape" && typing) { q.value = ""; change(); e.target.blur(); return; }
    if (typing) return;
    const visible = rows.filter(r => !r.hidden), at = visible.indexOf(document.activeElement.closest?.(".st"));
    const go = r => { if (r) { show("statements"); $("summary", r).focus(); r.scrollIntoView({ block: "nearest" }); } };
    switch (e.key) {
      case "/": e.preventDefault(); show("statements"); save(); q.focus(); break;
      case "j": go(visible[at + 1]); break;
      case "k": go(visible[Math.max(0, at - 1)]); break;
      case "f": {
        const bad = r => ["fail", "error"].includes(verdictOf(r)), r = visible.find((r, i) => i > at && bad(r)) || visible.find(bad);
        if (r) { r.open = true; go(r); }
        break;
      }
      case "t": theme(); break;
      case "?": help.showModal(); break;
      case "1": case "2": case "3": case "4": location.hash = "#" + views[e.key - 1]; break;
    }
  });
  apply();
  route();
})();
