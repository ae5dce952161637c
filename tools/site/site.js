// What pages do: the theme is changed, and names are found as one types them, in a list below the search
// field and above what a search of the texts finds. Pages from disk may not fetch; scripts are loaded.
"use strict";

(function () {
  const root = document.currentScript.src.replace(/_static\/site\.js.*$/, "");
  const MOST = 14;
  let names = null;  // {name, page, kind, whole, last}: the latter two as they are compared

  // Small letters without "_" and spaces: MatMul, mat_mul and "mat mul" are one.
  const squashed = (text) => text.toLowerCase().replace(/[_\s]/g, "");

  function load(then) {
    if (names) return then();
    const script = document.createElement("script");
    script.src = root + "_static/names.js";
    script.onload = () => {
      names = window.RHEOS_NAMES.map(([name, page, kind]) => ({
        name, page, kind, whole: squashed(name),
        last: squashed(name.replace(/^rheos_/i, "").split(/[. ]/).pop()),
      }));
      then();
    };
    document.head.append(script);
  }

  // How well a name fits, less is better; undefined: not at all.
  function distance(one, asked, inPython) {
    if (inPython && !one.whole.startsWith("rheos.")) return undefined;
    if (one.whole === asked || one.whole === "rheos." + asked) return 0;
    if (one.last === asked) return 1;
    if (one.whole.endsWith("." + asked)) return 2;
    if (one.last.startsWith(asked)) return 3;
    if (one.last.includes(asked)) return 4;
    return one.whole.includes(asked) ? 5 : undefined;
  }

  function found(words) {
    const name = words.trim();
    const inPython = name.startsWith("tf.");
    const asked = squashed(name.replace(/^tf\.compat\.v1\./, "rheos.v1.").replace(/^tf\./, ""));
    if (asked.length < 2) return [];
    const rows = [];
    for (const one of names) {
      const far = distance(one, asked, inPython);
      if (far === undefined) continue;
      const inside = /\.(v1|raw_ops|backend|experimental)\./.test(one.name);
      const aside = inside + one.kind.endsWith("member");
      rows.push([far, aside, one.name.length, one]);
    }
    rows.sort((a, b) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return rows.map((row) => row[3]);
  }

  function item(one) {
    const link = document.createElement("a");
    link.href = root + one.page;
    const kind = document.createElement("span");
    kind.textContent = one.kind;
    link.append(one.name, kind);
    return link;
  }

  function attach(field) {
    const list = document.createElement("div");
    list.className = "found-names";
    list.hidden = true;
    document.body.append(list);
    let chosen = -1;

    function choose(at) {
      const links = list.children;
      if (links[chosen]) links[chosen].classList.remove("chosen");
      chosen = (at + links.length + 1) % (links.length + 1);  // one beyond the last: none
      if (links[chosen]) links[chosen].classList.add("chosen");
    }

    function show() {
      const rows = found(field.value).slice(0, MOST);
      const box = field.getBoundingClientRect();
      list.replaceChildren(...rows.map(item));
      list.style.left = box.left + "px";
      list.style.top = box.bottom + "px";
      list.hidden = rows.length === 0;
      chosen = -1;
    }

    field.setAttribute("autocomplete", "off");
    field.addEventListener("focus", () => load(show));
    field.addEventListener("input", () => load(show));
    field.addEventListener("blur", () => setTimeout(() => { list.hidden = true; }, 200));
    field.addEventListener("keydown", (event) => {
      if (event.key === "Escape") list.hidden = true;
      if (list.hidden) return;
      if (event.key === "ArrowDown") choose(chosen + 1);
      else if (event.key === "ArrowUp") choose(chosen < 0 ? list.children.length - 1 : chosen - 1);
      else if (event.key === "Enter" && list.children[chosen]) list.children[chosen].click();
      else return;
      event.preventDefault();
    });
  }

  // The page of a search begins with the names.
  function showAbove(results) {
    const words = new URLSearchParams(window.location.search).get("q");
    if (!words) return;
    document.querySelectorAll("input[name=q]").forEach((field) => { field.value = words; });
    load(() => {
      const rows = found(words).slice(0, MOST);
      if (rows.length === 0) return;
      const list = document.createElement("div");
      list.className = "names-above";
      const title = document.createElement("h2");
      title.textContent = "Names";
      list.append(title, ...rows.map(item));
      results.before(list);
    });
  }

  // The theme's own script is a module, which browsers load over a network alone; and its sheet, as
  // Debian has it, leaves open what "auto" looks like in the dark.
  function themeOf() {
    const dark = window.matchMedia("(prefers-color-scheme: dark)").matches;
    return localStorage.getItem("theme") || (dark ? "dark" : "light");
  }

  function changeTheme() {
    localStorage.setItem("theme", themeOf() === "dark" ? "light" : "dark");
    document.body.dataset.theme = themeOf();
  }

  // A long list of pages shows the one that is read.
  function showCurrent() {
    const box = document.querySelector(".sidebar-scroll");
    const current = document.querySelector(".sidebar-tree .current > a.reference");
    if (!box || !current) return;
    const beyond = current.getBoundingClientRect().bottom - box.getBoundingClientRect().bottom;
    if (beyond > 0) box.scrollTop += beyond + box.clientHeight / 2;
  }

  document.body.dataset.theme = themeOf();
  document.addEventListener("DOMContentLoaded", () => {
    document.documentElement.classList.remove("no-js");
    for (const button of document.getElementsByClassName("theme-toggle")) {
      button.addEventListener("click", changeTheme);
    }
    document.querySelectorAll("input[name=q]").forEach(attach);
    showCurrent();
    const results = document.getElementById("search-results");
    if (results) showAbove(results);
  });
})();
