#include "src/report/page.hpp"

#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Colours in the dark, used for a choice and for the system's.
constexpr std::string_view kDark = R"css(
  color-scheme: dark;
  --page: #14181d; --panel: #1c2229; --ink: #e4e8ec; --soft: #a3afbb; --rule: #343d47;
  --accent: #7cc0f5; --mark: #382c0c; --mark-ink: #f4d58a; --mark-rule: #8f6d1c;
  --differs: #4a2d19; --right: #52d3a9; --wrong: #ff9a62;
  --series-0: #98a2ae; --series-1: #4aa8e8; --series-2: #f28a4a; --series-3: #35c49a;
  --series-4: #dd98bd; --series-5: #f0b83c; --series-6: #8accf2;
)css";

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light;
  --page: #ffffff; --panel: #f6f7f9; --ink: #1f2933; --soft: #586573; --rule: #d9dee4;
  --accent: #0b5f9e; --mark: #fff4d6; --mark-ink: #6b4a00; --mark-rule: #e3b341;
  --differs: #fde8d8; --right: #00704f; --wrong: #b4430a;
  --series-0: #6b7280; --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73;
  --series-4: #cc79a7; --series-5: #e69f00; --series-6: #56b4e9;
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main, header, footer { max-width: 1290px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 40px; }
h1 { font-size: 1.85rem; line-height: 1.2; margin: 0 0 6px; letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 56px 0 14px; letter-spacing: -0.01em; }
h3 { font-size: 1rem; margin: 0 0 4px; }
p { margin: 0 0 12px; max-width: 76ch; }
a { color: var(--accent); }
.subtitle { color: var(--soft); margin: 0; }
.top { display: flex; gap: 16px; align-items: flex-start; justify-content: space-between; }
.top > div { min-width: 0; }
nav { display: flex; flex-wrap: wrap; gap: 4px 18px; margin: 18px 0 0; padding: 10px 0; border-top: 1px solid var(--rule); border-bottom: 1px solid var(--rule); font-size: 0.92rem; }
nav a { text-decoration: none; }
nav a:hover { text-decoration: underline; }
button { font: inherit; color: inherit; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; border-radius: 3px; }
.plain { background: var(--panel); border: 1px solid var(--rule); border-radius: 7px; padding: 5px 12px; font-size: 0.88rem; cursor: pointer; white-space: nowrap; }
.plain:hover, .plain[aria-pressed="true"] { border-color: var(--accent); color: var(--accent); }
.marks { list-style: none; margin: 20px 0 0; padding: 0; display: grid; gap: 8px; }
.marks li { background: var(--mark); color: var(--mark-ink); border-left: 4px solid var(--mark-rule); padding: 9px 14px; border-radius: 4px; }
.highlights { display: grid; grid-template-columns: repeat(auto-fit, minmax(230px, 1fr)); gap: 16px; margin: 28px 0 0; }
.highlight { background: var(--panel); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px; }
.highlight .label { color: var(--soft); font-size: 0.9rem; overflow-wrap: anywhere; }
.highlight .value { font-size: 2.3rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.highlight .range { color: var(--soft); font-size: 0.95rem; font-weight: 400; letter-spacing: 0; display: block; }
.highlight .beside { font-size: 0.9rem; margin: 6px 0 0; padding: 0; list-style: none; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 10px; }
table { border-collapse: collapse; width: 100%; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 10px; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { background: var(--panel); font-weight: 600; border-bottom: 1px solid var(--rule); }
tbody tr + tr > * { border-top: 1px solid var(--rule); }
tbody tr:hover { background: var(--panel); }
.number { text-align: right; }
th button { background: none; border: 0; padding: 0; margin: 0; font-weight: 600; cursor: pointer; white-space: nowrap; }
th button::after { content: "\2195"; display: inline-block; width: 1em; text-align: center; color: var(--soft); opacity: 0.45; margin-left: 2px; font-size: 0.85em; }
th[aria-sort="ascending"] button::after { content: "\2191"; opacity: 1; color: var(--accent); }
th[aria-sort="descending"] button::after { content: "\2193"; opacity: 1; color: var(--accent); }
.notes { color: var(--soft); font-size: 0.88rem; padding-left: 18px; margin: 12px 0 0; max-width: 124ch; overflow-wrap: anywhere; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 500px), 1fr)); gap: 24px; align-items: start; }
figure { margin: 0; border: 1px solid var(--rule); border-radius: 10px; padding: 16px 16px 12px; min-width: 0; }
figure .drawing { overflow-x: auto; }
figure svg { display: block; width: 100%; min-width: 340px; max-width: 560px; height: auto; margin: 0 auto; }
figcaption { color: var(--soft); font-size: 0.88rem; margin-top: 4px; }
.filter { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 16px; }
.group { margin: 26px 0 10px; }
.group p { color: var(--soft); font-size: 0.92rem; margin: 0; }
.example { border: 1px solid var(--rule); border-radius: 10px; margin: 0 0 14px; padding: 14px 16px 12px; min-width: 0; }
.example > p { margin: 2px 0 10px; font-size: 1.02rem; overflow-wrap: anywhere; white-space: pre-wrap; max-width: 100ch; }
.example .meta { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; color: var(--soft); font-size: 0.85rem; }
.badge { border: 1px solid currentColor; border-radius: 99px; padding: 0 9px; font-size: 0.8rem; font-weight: 600; }
.badge.identical { color: var(--right); } .badge.differing, .badge.failed { color: var(--wrong); }
.example .scroll { border: 0; border-radius: 0; }
.example table { table-layout: fixed; min-width: 520px; font-size: 0.88rem; }
.example th, .example td { padding: 5px 12px 5px 0; white-space: normal; overflow-wrap: anywhere; }
.example tbody tr:hover { background: none; }
.example thead th { background: none; color: var(--soft); font-weight: 500; }
.example tbody th { font-weight: 500; }
.absent { color: var(--soft); }
mark { background: var(--differs); color: inherit; border-radius: 3px; padding: 1px 5px; margin-left: -5px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.right { color: var(--right); } .wrong { color: var(--wrong); }
.example > p.rest { color: var(--soft); font-size: 0.84rem; margin: 6px 0 0; max-width: 100ch; }
.legend mark { margin: 0; }
.legend { color: var(--soft); font-size: 0.88rem; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr)); gap: 24px 36px; }
.facts section { min-width: 0; }
dl { margin: 0; display: grid; grid-template-columns: minmax(90px, auto) minmax(0, 1fr); gap: 3px 16px; font-size: 0.9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: 0.85rem; padding-top: 48px; padding-bottom: 40px; }
.out { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }
@media (max-width: 560px) {
  body { font-size: 15px; }
  main, header, footer { padding-left: 14px; padding-right: 14px; }
  header { padding-top: 22px; }
  h1 { font-size: 1.45rem; }
  h2 { margin-top: 40px; }
  .highlight .value { font-size: 2rem; }
  figure { padding: 12px 10px 10px; }
  th, td { padding: 7px 9px; }
  .example { padding: 12px; }
  .example table { min-width: 0; font-size: 0.78rem; }
  .example th, .example td { padding: 4px 8px 4px 0; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
)css";

constexpr std::string_view kPrint = R"css(
@media print {
  :root, :root[data-theme="dark"] {
    color-scheme: light; --page: #fff; --panel: #fff; --ink: #000; --soft: #444; --rule: #bbb; --mark: #fff; --mark-ink: #000; }
  nav, .filter, #theme { display: none; }
  main, header, footer { max-width: none; padding: 0; }
  body { font-size: 10.5pt; }
  .scroll, figure .drawing { overflow: visible; }
  table { font-size: 7.5pt; } th, td { padding: 3px 5px; }
  th button::after { content: none; }
  .figures { grid-template-columns: 1fr 1fr; }
  figure svg { min-width: 0; }
  figure, .example, .highlight, tr { break-inside: avoid; }
  h2, h3 { break-after: avoid; }
}
)css";

constexpr std::string_view kScript = R"js(
(() => {
  "use strict";
  const root = document.documentElement;

  // Dark and light: what the reader chose, else what the system says.
  const button = document.getElementById("theme");
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  try { chosen = localStorage.getItem("pardec-theme"); } catch (error) { /* no storage here */ }
  const show = () => {
    const theme = chosen || (system.matches ? "dark" : "light");
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? "Light" : "Dark";
    button.setAttribute("aria-label", "Change to " + (theme === "dark" ? "light" : "dark") + " colours");
  };
  button.hidden = false;
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    try { localStorage.setItem("pardec-theme", chosen); } catch (error) { /* for this page only */ }
    show();
  });
  system.addEventListener("change", show);
  show();

  // Sorting by a column: numbers by value, what has none last, ties as they stood.
  const value = (row, column) => {
    const cell = row.cells[column];
    if (!cell) return null;
    if (cell.dataset.value === undefined) return cell.textContent === "-" ? null : cell.textContent;
    let parsed = JSON.parse(cell.dataset.value);
    while (Array.isArray(parsed)) parsed = parsed[0];
    return parsed;
  };
  const compare = (a, b) =>
    typeof a === "number" && typeof b === "number" ? a - b
      : String(a).localeCompare(String(b), undefined, { numeric: true });
  for (const table of document.querySelectorAll("table.sortable")) {
    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
      const up = head.getAttribute("aria-sort") === "descending"
        || (head.getAttribute("aria-sort") !== "ascending" && !head.classList.contains("number"));
      heads.forEach(other => other.setAttribute("aria-sort", "none"));
      head.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map(row => [value(row, column), row]);
      rows.sort(([a], [b]) => {
        if (a === null || b === null) return (a === null) - (b === null);
        return up ? compare(a, b) : compare(b, a);
      });
      body.append(...rows.map(([, row]) => row));
    }));
  }

  // Which examples are shown.
  const filters = [...document.querySelectorAll("[data-filter]")];
  for (const filter of filters) filter.addEventListener("click", () => {
    filters.forEach(other => other.setAttribute("aria-pressed", String(other === filter)));
    for (const example of document.querySelectorAll(".example"))
      example.hidden = filter.dataset.filter !== "all" && example.dataset.kind !== filter.dataset.filter;
  });
  root.dataset.ready = "yes";
})();
)js";

}  // namespace

std::string page_style() {
  return str(kStyle, ":root[data-theme=\"dark\"] {", kDark, "}\n",
             "@media (prefers-color-scheme: dark) { :root:not([data-theme]) {", kDark, "} }\n",
             kPrint);
}
std::string_view page_script() { return kScript; }

}  // namespace pardec
