#include "src/report/page.hpp"

#include "src/support/text.hpp"

namespace pardec {
namespace {

/// Colours in the dark, used for a choice and for the system's.
constexpr std::string_view kDark = R"css(
  color-scheme: dark;
  --page: #14181d; --panel: #1c2229; --ink: #e4e8ec; --soft: #a3afbb; --rule: #343d47;
  --accent: #7cc0f5; --mark: #382c0c; --mark-ink: #f4d58a; --mark-rule: #8f6d1c;
  --differs: #4a2d19; --right: #52d3a9; --wrong: #ff9a62; --shade: #00000080;
  --series-0: #98a2ae; --series-1: #4aa8e8; --series-2: #f28a4a; --series-3: #35c49a;
  --series-4: #dd98bd; --series-5: #f0b83c; --series-6: #8accf2; --series-7: #e07a9c;
  --series-8: #a79bf0; --series-9: #c9c95a; --series-10: #62c27a; --series-11: #dc86d2;
  --even: #24303c; --odd: #33293c;
)css";

constexpr std::string_view kStyle = R"css(
:root {
  color-scheme: light;
  --page: #ffffff; --panel: #f6f7f9; --ink: #1f2933; --soft: #586573; --rule: #d9dee4;
  --accent: #0b5f9e; --mark: #fff4d6; --mark-ink: #6b4a00; --mark-rule: #e3b341;
  --differs: #fde8d8; --right: #00704f; --wrong: #b4430a; --shade: #00000026;
  --series-0: #6b7280; --series-1: #0072b2; --series-2: #d55e00; --series-3: #009e73;
  --series-4: #cc79a7; --series-5: #e69f00; --series-6: #56b4e9; --series-7: #882255;
  --series-8: #332288; --series-9: #999933; --series-10: #117733; --series-11: #aa4499;
  --even: #e6f0fa; --odd: #f6ecdc;
}
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body {
  margin: 0; background: var(--page); color: var(--ink);
  font: 16px/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif;
}
main, header, footer { max-width: 1840px; margin: 0 auto; padding: 0 24px; }
header { padding-top: 40px; }
h1 { font-size: 1.85rem; line-height: 1.2; margin: 0 0 6px; letter-spacing: -0.015em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { font-size: 1.25rem; margin: 56px 0 14px; letter-spacing: -0.01em; }
h3 { font-size: 1rem; margin: 0 0 4px; }
h3.apart { margin: 36px 0 10px; max-width: 110ch; overflow-wrap: anywhere; }
p { margin: 0 0 12px; max-width: 76ch; }
a { color: var(--accent); }
.subtitle { color: var(--soft); margin: 0; max-width: 120ch; text-wrap: balance; }
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
.highlights { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 360px), 1fr)); gap: 16px; margin: 28px 0 0; }
.highlight { background: var(--panel); border: 1px solid var(--rule); border-radius: 10px; padding: 18px 20px; }
.highlight .label { color: var(--soft); font-size: 0.9rem; overflow-wrap: anywhere; }
.highlight .value { font-size: 2.3rem; line-height: 1.2; font-weight: 650; letter-spacing: -0.02em; font-variant-numeric: tabular-nums; }
.highlight .range { color: var(--soft); font-size: 0.95rem; font-weight: 400; letter-spacing: 0; display: block; }
.highlight .beside { font-size: 0.9rem; margin: 6px 0 0; padding: 0; list-style: none; }
.advice { margin: 20px 0 0; max-width: 110ch; }
.advice p { margin: 0; max-width: none; font-weight: 600; font-size: 1.08rem; overflow-wrap: anywhere; }
.advice .more { font-weight: 400; font-size: 0.95rem; color: var(--soft); }
.advice p + p:not(.more) { margin-top: 12px; }
.warnings h2 { font-size: 1rem; margin: 20px 0 8px; }
.warnings ol { margin: 0; padding: 10px 14px 10px 40px; background: var(--mark); color: var(--mark-ink); border-left: 4px solid var(--mark-rule); border-radius: 4px; overflow-wrap: anywhere; }
.warnings ul { margin: 2px 0 8px; padding-left: 20px; }
.warnings summary { cursor: pointer; }
.warnings li:target { outline: 2px solid var(--mark-rule); outline-offset: 3px; border-radius: 3px; }
.warn { text-decoration: none; margin-left: 5px; color: var(--wrong); }
.warn::before { content: "\26A0\FE0E"; }
.warn[data-count]::after { content: attr(data-count); font-size: .8em; margin-left: 1px; }
.scroll { overflow-x: auto; border: 1px solid var(--rule); border-radius: 10px; }
.scroll, figure .drawing {
  /* A shadow at an end says that there is more behind it. */
  background: linear-gradient(90deg, var(--page) 40%, transparent) left / 40px 100% no-repeat local,
    linear-gradient(270deg, var(--page) 40%, transparent) right / 40px 100% no-repeat local,
    linear-gradient(90deg, var(--shade), transparent) left / 14px 100% no-repeat scroll,
    linear-gradient(270deg, var(--shade), transparent) right / 14px 100% no-repeat scroll; }
table { border-collapse: separate; border-spacing: 0; width: 100%; font-size: 0.86rem; font-variant-numeric: tabular-nums; }
th, td { padding: 8px 9px; text-align: left; vertical-align: top; white-space: nowrap; }
thead th { font-weight: 600; border-bottom: 1px solid var(--rule); vertical-align: bottom; }
tbody tr + tr > * { border-top: 1px solid var(--rule); }
tbody tr:hover { background: color-mix(in srgb, var(--accent) 8%, transparent); }
.number { text-align: right; }
td.loose { white-space: normal; min-width: 16ch; }
th.arm, td.arm { position: sticky; left: 0; background: var(--page); z-index: 1; }
tbody tr:hover td.arm { background: var(--panel); }
td.wrapped { white-space: normal; min-width: 34ch; max-width: 70ch; overflow-wrap: anywhere; }
.prose td.wrapped { min-width: 24ch; }
th button { background: none; border: 0; padding: 0; margin: 0; font-weight: 600; cursor: pointer; text-align: inherit; white-space: normal; }
th button::after { content: "\00a0\2195"; color: var(--soft); opacity: 0.45; font-size: 0.85em; }
th[aria-sort="ascending"] button::after { content: "\00a0\2191"; opacity: 1; color: var(--accent); }
th[aria-sort="descending"] button::after { content: "\00a0\2193"; opacity: 1; color: var(--accent); }
.notes { color: var(--soft); font-size: 0.88rem; padding-left: 18px; margin: 12px 0 0; max-width: 124ch; overflow-wrap: anywhere; }
.figures { display: grid; gap: 24px; }
figure { margin: 0; border: 1px solid var(--rule); border-radius: 10px; padding: 16px 16px 12px; min-width: 0; display: flex; flex-direction: column; }
figure .drawing { overflow-x: auto; margin: auto 0; }
figure svg { display: block; max-width: 100%; height: auto; margin: 0 auto; }
figcaption { color: var(--soft); font-size: 0.88rem; margin-top: 4px; }
.filter { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 16px 0; font-size: 0.88rem; }
select { font: inherit; color: inherit; background: var(--panel); border: 1px solid var(--rule); border-radius: 7px; padding: 5px 8px; max-width: 100%; }
.browse.chosen { display: grid; grid-template-columns: 270px minmax(0, 1fr); gap: 20px; align-items: start; }
.chooser { position: sticky; top: 12px; }
.steps { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; font-size: 0.88rem; margin: 0 0 10px; }
#place { min-width: 6.5em; text-align: center; color: var(--soft); }
#chosen { list-style: none; margin: 0; padding: 4px; max-height: min(70vh, 640px); overflow-y: auto; border: 1px solid var(--rule); border-radius: 10px; font-size: 0.84rem; }
#chosen li { padding: 6px 10px; border-radius: 7px; cursor: pointer; overflow-wrap: anywhere; border-left: 3px solid transparent; }
#chosen li small { display: block; color: var(--soft); }
#chosen li:hover { background: var(--panel); }
#chosen li[aria-selected="true"] { background: var(--panel); border-left-color: var(--accent); font-weight: 600; }
#chosen li[aria-selected="true"] small { font-weight: 400; }
.example { border: 1px solid var(--rule); border-radius: 10px; margin: 0 0 14px; padding: 14px 16px 16px; min-width: 0; }
.example.away { display: none; }
.meta { display: flex; flex-wrap: wrap; gap: 4px 12px; align-items: center; color: var(--soft); font-size: 0.85rem; overflow-wrap: anywhere; }
.prompt { margin: 6px 0 12px; font-size: 1.02rem; overflow-wrap: anywhere; white-space: pre-wrap; max-width: 110ch; max-height: 26em; overflow-y: auto; }
.question { font-weight: 400; white-space: pre-wrap; }
.choices { margin: 2px 0 0; padding-left: 22px; font-weight: 400; }
.badge { border: 1px solid currentColor; border-radius: 99px; padding: 0 9px; font-size: 0.78rem; font-weight: 600; }
.badge.bad { color: var(--wrong); }
.example .scroll { margin: 0 0 14px; }
.example table { table-layout: fixed; font-size: 0.86rem; }
.example th, .example td { padding: 5px 10px; white-space: normal; overflow-wrap: anywhere; }
.example tbody tr:hover { background: none; }
.example thead th { color: var(--soft); font-weight: 500; }
.example tbody th { font-weight: 500; }
.arms { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 300px), 1fr)); gap: 12px; align-items: start; }
section.arm { border: 1px solid var(--rule); border-radius: 8px; padding: 10px 12px; min-width: 0; }
section.arm.other { opacity: 0.55; }
h4 { margin: 0 0 4px; font-size: 0.95rem; overflow-wrap: anywhere; }
.raw, .tokens { white-space: break-spaces; overflow-wrap: anywhere; padding-right: 8px; font: 0.82rem/1.5 ui-monospace, "SFMono-Regular", Menlo, Consolas, "DejaVu Sans Mono", monospace; margin: 8px 0 0; max-height: 30em; overflow-y: auto; }
.turn::before { content: attr(data-name) ": "; color: var(--soft); font-weight: 600; }
.error { color: var(--wrong); overflow-wrap: anywhere; margin: 8px 0 0; }
.tokens { line-height: 2.1; border-top: 1px dashed var(--rule); padding-top: 6px; }
.tokens p { margin: 0 0 6px; }
.tokens span { background: var(--even); border-radius: 3px; padding: 1px 2px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.tokens span.odd { background: var(--odd); }
.tokens span.later { opacity: 0.13; }
.tokens span.rejected { background: none; color: var(--wrong); text-decoration: line-through; }
.tokens p.progress { color: var(--soft); }
.scrub { display: flex; gap: 10px; align-items: center; margin: 0 0 12px; font-size: 0.88rem; position: sticky; top: 0; z-index: 2; padding: 6px 0; background: var(--page); }
.scrub input { flex: 1; min-width: 0; accent-color: var(--accent); }
.scrub output { min-width: 7em; color: var(--soft); font-variant-numeric: tabular-nums; }
.tokens sub { color: var(--soft); font-size: 0.72em; padding-left: 1px; }
.absent { color: var(--soft); }
mark { background: var(--differs); color: inherit; border-radius: 3px; padding: 1px 5px; margin-left: -5px; box-decoration-break: clone; -webkit-box-decoration-break: clone; }
.right { color: var(--right); } .wrong { color: var(--wrong); } td.bounded { color: var(--accent); }
td.right, td.wrong, td.bounded, td.undecided { font-weight: 600; }
td.tone-good, td.tone-bad, td.tone-caution { font-weight: 600; }
.tone-good { color: var(--right); } .tone-bad { color: var(--wrong); } .tone-caution { color: var(--mark-ink); }
.whole { white-space: nowrap; }
.choice { margin: 0 0 8px; } .choice .scroll { margin-top: 8px; }
.all { accent-color: var(--accent); margin: 0 6px 0 0; vertical-align: middle; } .all + label { font-size: 0.88rem; }
.all:not(:checked) ~ .scroll td { white-space: normal; min-width: 0; }
.all:not(:checked) ~ .scroll .more, .all:checked ~ .scroll .brief { display: none; }
details.notes summary { cursor: pointer; } details.notes ul { margin: 4px 0 0; padding-left: 18px; }
.rest { color: var(--soft); font-size: 0.84rem; margin: -6px 0 12px; max-width: 100ch; }
.facts { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 270px), 1fr)); gap: 24px 36px; }
.facts section { min-width: 0; }
dl { margin: 0; display: grid; grid-template-columns: minmax(90px, auto) minmax(0, 1fr); gap: 3px 16px; font-size: 0.9rem; }
dt { color: var(--soft); } dd { margin: 0; overflow-wrap: anywhere; }
footer { color: var(--soft); font-size: 0.85rem; padding-top: 48px; padding-bottom: 40px; }
.out { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap; }
[hidden] { display: none !important; }
/* Two figures a row, or three; those of the last row share its width. */
@media (min-width: 1112px) and (max-width: 1655.98px) {
  .figures { grid-template-columns: repeat(2, minmax(0, 1fr)); }
  figure:last-child:nth-child(odd) { grid-column: 1 / -1; }
}
@media (min-width: 1656px) {
  .figures { grid-template-columns: repeat(6, minmax(0, 1fr)); }
  figure { grid-column: span 2; }
  figure:last-child:nth-child(3n + 1) { grid-column: 1 / -1; }
  figure:last-child:nth-child(3n + 2), figure:nth-last-child(2):nth-child(3n + 1) { grid-column: span 3; }
}
@media (max-width: 1320px) {
  .prose thead tr, .prose tbody tr { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 10px 12px; }
  .prose thead tr { border-bottom: 1px solid var(--rule); }
  .prose tbody tr + tr { border-top: 1px solid var(--rule); }
  .prose thead th, .prose tbody td { padding: 0; border: 0; min-width: 0; max-width: none; white-space: normal; overflow-wrap: anywhere; }
  .prose td.none { display: none; }
  .prose td[data-name] { flex-basis: 100%; }
  .prose td[data-name]::before { content: attr(data-name) ": "; color: var(--soft); }
}
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
  .same { display: none; }
  .cards, .cards tbody { display: block; }
  .cards thead { display: block; }
  .cards thead tr, .cards tbody tr { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 8px 10px; }
  .cards thead tr { border-bottom: 1px solid var(--rule); }
  .cards tbody tr + tr { border-top: 1px solid var(--rule); }
  .cards th, .cards td, .cards tbody tr + tr > * { padding: 0; border: 0; min-width: 0; text-align: left; white-space: normal; overflow-wrap: anywhere; }
  .cards td.arm { position: static; background: none; flex-basis: 100%; font-weight: 600; }
  .cards td[data-name="dataset"] { flex-basis: 100%; color: var(--soft); }
  .cards td:not(.arm, [data-name="dataset"])::before { content: attr(data-name); color: var(--soft); font-weight: 400; font-size: 0.85em; display: block; }
}
@media (max-width: 960px) {
  .browse.chosen { grid-template-columns: minmax(0, 1fr); }
  .chooser { position: static; }
  #chosen { max-height: 190px; }
}
@media (prefers-reduced-motion: reduce) { html { scroll-behavior: auto; } }
)css";

constexpr std::string_view kPrint = R"css(
@media print {
  :root, :root[data-theme="dark"] {
    color-scheme: light; --page: #fff; --panel: #fff; --ink: #000; --soft: #444; --rule: #bbb; --mark: #fff; --mark-ink: #000; }
  nav, .filter, .chooser, .scrub, #theme { display: none; }
  .browse.chosen { display: block; } .example.away { display: block; }
  .prompt, .raw, .tokens { max-height: none; }
  main, header, footer { max-width: none; padding: 0; }
  body { font-size: 10.5pt; }
  .scroll, figure .drawing { overflow: visible; }
  table { font-size: 7.5pt; } th, td { padding: 3px 5px; }
  th button::after { content: none; }
  .figures { grid-template-columns: 1fr 1fr; }
  figure { grid-column: auto !important; }
  figure svg { min-width: 0 !important; }
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

  // Rows of a table that have one text in a column.
  for (const group of document.querySelectorAll("[data-rows-of]")) {
    const table = document.getElementById(group.dataset.rowsOf);
    const column = [...table.tHead.rows[0].cells].findIndex(head => head.dataset.key === group.dataset.column);
    const buttons = [...group.querySelectorAll("button")];
    buttons.forEach(button => button.addEventListener("click", () => {
      buttons.forEach(other => other.setAttribute("aria-pressed", String(other === button)));
      for (const row of table.tBodies[0].rows) row.hidden = button.value !== "" && row.cells[column].textContent !== button.value;
    }));
    group.hidden = false;
  }

  // Examples: one at a time, chosen from a list that a filter makes shorter.
  const browser = document.getElementById("browser");
  if (browser) {
    const examples = [...browser.querySelectorAll(".example")];
    const list = document.getElementById("chosen");
    const arm = document.getElementById("of-arm");
    const filters = [...browser.querySelectorAll("[data-filter]")];
    const tokensButton = document.getElementById("show-tokens");
    const several = new Set(examples.map(e => e.querySelector(".meta span:nth-child(2)").textContent)).size > 1;
    const scrub = browser.querySelector(".scrub"), pass = document.getElementById("pass"), play = document.getElementById("play");
    let filter = "all", shown = [], at = 0, tokens = false, timer = null;
    const stop = () => {
      clearInterval(timer);
      timer = null;
      play.setAttribute("aria-pressed", "false");
    };

    const options = examples.map((example, i) => {
      const option = document.createElement("li");
      option.id = "choice-" + (i + 1);
      option.setAttribute("role", "option");
      const begin = (example.querySelector(".prompt") || example.querySelector(".question") || { textContent: "" }).textContent;
      const meta = [...example.querySelector(".meta").children].map(e => e.textContent);
      option.textContent = several ? meta[1] + " " + meta[0] : meta[0];
      const small = document.createElement("small");
      small.textContent = begin.length > 60 ? begin.slice(0, 58) + "\u2026" : begin;
      option.append(small);
      option.addEventListener("click", () => { choose(shown.indexOf(i)); list.focus({ preventScroll: true }); });
      list.append(option);
      return option;
    });

    // Tokens stand in the page as JSON, and are written out when they are asked for.
    const writeTokens = example => {
      const arms = JSON.parse(example.querySelector("script").textContent);
      [...example.querySelectorAll(".arm")].forEach((element, a) => {
        const box = element.querySelector(".tokens");
        if (!box.dataset.written) {
          box.dataset.written = "yes";
          const progress = document.createElement("p");
          progress.className = "progress";
          progress.hidden = true;
          box.append(progress);
          for (const [field, texts, passes, rejected] of arms[a]) {
            const line = document.createElement("p");
            if (field) line.append(field + ": ");
            const struck = [...rejected];
            const strike = before => {  // guesses that were checked before this pass
              while (struck.length && struck[0][0] < before) {
                const [pass, text] = struck.shift();
                const guess = document.createElement("span");
                guess.className = "rejected";
                guess.dataset.pass = pass;
                guess.textContent = text;
                guess.hidden = true;
                line.append(guess, document.createElement("wbr"));
              }
            };
            texts.forEach((text, t) => {
              if (passes.length) strike(passes[t]);
              const token = document.createElement("span");
              token.textContent = text;
              if (passes.length) {
                token.className = passes[t] % 2 ? "odd" : "even";
                token.title = "pass " + passes[t];
                token.dataset.pass = passes[t];
                const number = document.createElement("sub");
                number.textContent = passes[t];
                token.append(number);
              }
              line.append(token, document.createElement("wbr"));
            });
            strike(Infinity);
            box.append(line);
          }
          if (!arms[a].length) box.append("no tokens");
          else if (arms[a].some(line => !line[2].length)) box.append("Passes: not in the store (run --trace, report --trace).");
        }
        box.hidden = !tokens;
      });
      const last = Math.max(0, ...[...example.querySelectorAll("[data-pass]")].map(e => +e.dataset.pass));
      scrub.hidden = !tokens || last === 0;
      pass.max = last;
      pass.value = last;
      stop();
      toPass(example);
    };

    // What all arms had written when a pass was over; at the last one nothing is held back.
    const toPass = example => {
      const now = +pass.value, whole = now === +pass.max;
      document.getElementById("at-pass").textContent = now + " of " + pass.max;
      for (const box of example.querySelectorAll(".tokens")) {
        let written = 0, all = 0, rejected = 0;
        for (const token of box.querySelectorAll("[data-pass]")) {
          const at = +token.dataset.pass;
          if (token.classList.contains("rejected")) {
            token.hidden = whole || at !== now;
            rejected += at <= now;
            continue;
          }
          token.classList.toggle("later", at > now);
          all += 1;
          written += at <= now;
        }
        const progress = box.querySelector(".progress");
        progress.hidden = !all;
        progress.textContent = written + " of " + all + " tokens" + (rejected ? ", " + rejected + " guesses rejected" : "");
      }
    };

    const choose = index => {
      if (!shown.length) {
        at = 0;
        stop();
        scrub.hidden = true;
        examples.forEach(example => example.classList.add("away"));
        list.removeAttribute("aria-activedescendant");
        document.getElementById("place").textContent = "none";
        return;
      }
      at = Math.max(0, Math.min(index, shown.length - 1));
      examples.forEach((example, i) => example.classList.toggle("away", i !== shown[at]));
      options.forEach((option, i) => option.setAttribute("aria-selected", String(i === shown[at])));
      const option = options[shown[at]];
      list.setAttribute("aria-activedescendant", option.id);
      const top = option.offsetTop - list.offsetTop, bottom = top + option.offsetHeight;
      if (top < list.scrollTop) list.scrollTop = top;
      if (bottom > list.scrollTop + list.clientHeight) list.scrollTop = bottom - list.clientHeight;
      document.getElementById("place").textContent = (at + 1) + " of " + shown.length;
      for (const element of examples[shown[at]].querySelectorAll(".arm"))
        element.classList.toggle("other", arm.value !== "" && element.dataset.arm !== arm.value);
      if (tokens || examples[shown[at]].querySelector("[data-written]")) writeTokens(examples[shown[at]]);
    };

    const fits = example => filter === "all" || [...example.querySelectorAll(".arm")].some(element =>
      (arm.value === "" || element.dataset.arm === arm.value) && element.dataset.kinds.split(" ").includes(filter));
    const sift = () => {
      const kept = shown[at];
      shown = examples.map((_, i) => i).filter(i => fits(examples[i]));
      options.forEach((option, i) => { option.hidden = !shown.includes(i); });
      filters.forEach(other => other.setAttribute("aria-pressed", String(other.dataset.filter === filter)));
      choose(Math.max(0, shown.indexOf(kept)));
    };
    filters.forEach(button => button.addEventListener("click", () => { filter = button.dataset.filter; sift(); }));
    arm.addEventListener("change", sift);
    document.getElementById("previous").addEventListener("click", () => choose(at - 1));
    document.getElementById("next").addEventListener("click", () => choose(at + 1));
    tokensButton.addEventListener("click", () => {
      tokens = !tokens;
      tokensButton.setAttribute("aria-pressed", String(tokens));
      choose(at);
    });
    pass.addEventListener("input", () => { stop(); toPass(examples[shown[at]]); });
    play.addEventListener("click", () => {
      if (timer) { stop(); return; }
      if (pass.value === pass.max) pass.value = 0;
      play.setAttribute("aria-pressed", "true");
      timer = setInterval(() => {
        pass.value = +pass.value + 1;
        toPass(examples[shown[at]]);
        if (pass.value === pass.max) stop();
      }, 150);
    });
    // Arrow keys choose wherever the focus is in here, and sideways also where the examples are what is
    // looked at. A field, and a box that scrolls that way, keep theirs.
    const moves = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1, PageDown: 10, PageUp: -10, Home: -Infinity, End: Infinity };
    const lookedAt = () => {
      const box = browser.getBoundingClientRect(), seen = Math.min(box.bottom, root.clientHeight) - Math.max(box.top, 0);
      return seen > 0 && (seen >= box.height - 1 || seen >= root.clientHeight / 2);
    };
    const scrolls = (element, sideways) => {
      const style = getComputedStyle(element);
      return sideways ? /auto|scroll/.test(style.overflowX) && element.scrollWidth > element.clientWidth
        : /auto|scroll/.test(style.overflowY) && element.scrollHeight > element.clientHeight;
    };
    document.addEventListener("keydown", event => {
      const key = event.key, from = event.target, sideways = key === "ArrowLeft" || key === "ArrowRight";
      if (!(key in moves) || event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
      if (from !== list) {
        if (!key.startsWith("Arrow") || !(browser.contains(from) || (sideways && lookedAt()))) return;
        if (from.closest("input, select, textarea, [contenteditable]")) return;
        for (let box = from; box && box !== document.body; box = box.parentElement) if (scrolls(box, sideways)) return;
      }
      event.preventDefault();
      choose(at + moves[key]);
    });
    const toNamed = () => {
      const named = examples.findIndex(example => "#" + example.id === location.hash);
      if (named < 0) return;
      filter = "all";
      sift();
      choose(named);
    };
    window.addEventListener("hashchange", toNamed);
    browser.querySelector(".filter").hidden = false;
    browser.querySelector(".chooser").hidden = false;
    browser.querySelector(".browse").classList.add("chosen");
    sift();
    toNamed();
  }
  window.addEventListener("beforeprint", () => {
    for (const folded of document.querySelectorAll(".warnings details")) folded.open = true;
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
