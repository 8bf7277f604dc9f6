#include "src/report/judge_sheet.hpp"

#include "src/report/html.hpp"
#include "src/report/table.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kSheetHead = R"page(<!doctype html>
<html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src )page";

constexpr const char* kSheetBody = R"page(">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Answers to judge</title>
<style>
body { font: 16px/1.45 sans-serif; max-width: 75rem; margin: 1rem auto; padding: 0 1rem; color: #222; background: #fff; }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font: inherit; background: #f4f4f4; padding: .7rem; margin: .3rem 0 1rem; }
#answers { display: flex; gap: 1rem; } #answers > div { flex: 1 1 0; min-width: 0; }
button { font: inherit; padding: .3rem .9rem; margin: 0 .3rem .3rem 0; } button[aria-pressed=true] { background: #246; color: #fff; }
#task { white-space: pre-wrap; } h2 { font-size: 1rem; margin: .6rem 0 0; } input { font: inherit; width: 60%; }
@media (max-width: 45rem) { #answers { display: block; } }
</style></head><body>
<p><span id="count"></span> <button id="back">&larr;</button><button id="on">&rarr;</button>
<button id="save">Write the file</button> Keys: numbers choose, arrows move. Nothing leaves this page but the file.</p>
<p id="task"></p>
<div id="asked"></div><div id="answers"></div>
<p id="verdicts"></p><p><label>Comment, before you choose <input id="comment"></label></p>
<script type="application/json" id="sheet">)page";

constexpr const char* kSheetScript = R"page(
"use strict";
const sheet = JSON.parse(document.getElementById("sheet").textContent);
const place = "pardec-labels-" + sheet.id;
let said = {};
try { said = JSON.parse(localStorage.getItem(place)) || {}; } catch (ignored) {}
const keep = () => { try { localStorage.setItem(place, JSON.stringify(said)); } catch (ignored) {} };
const verdicts = sheet.verdicts.length ? sheet.verdicts : ["1", "2", "3", "4", "5", "6", "7", "8", "9", "10"];
const by = id => document.getElementById(id);
by("task").textContent = sheet.task;
let at = Math.max(0, sheet.items.findIndex(item => !(said[item.id] || {}).verdict));
function part(parent, title, text) {
  if (!text) return;
  const box = document.createElement("div"), head = document.createElement("h2"), body = document.createElement("pre");
  head.textContent = title;
  body.textContent = text;
  box.append(head, body);
  parent.append(box);
}
function show() {
  const item = sheet.items[at], mine = said[item.id] || {};
  const judged = sheet.items.filter(one => (said[one.id] || {}).verdict).length;
  by("count").textContent = `${at + 1} of ${sheet.items.length}, ${judged} judged`;
  for (const id of ["asked", "answers", "verdicts"]) by(id).replaceChildren();
  part(by("asked"), "Text", item.text);
  part(by("asked"), "Asked", item.question);
  part(by("asked"), "Reference", item.reference);
  part(by("answers"), sheet.compares ? "A" : "Answer", item.answer || "none");
  if (sheet.compares) part(by("answers"), "B", item.other || "none");
  verdicts.forEach((verdict, i) => {
    const button = document.createElement("button");
    button.textContent = verdict;
    button.title = "key " + (i + 1) % 10;
    button.setAttribute("aria-pressed", mine.verdict === verdict);
    button.disabled = !fits(item, verdict);
    button.onclick = () => choose(verdict);
    by("verdicts").append(button);
  });
  by("comment").value = mine.comment || "";
}
function note(more) {
  const id = sheet.items[at].id;
  said[id] = { ...said[id], ...more };
  keep();
}
function fits(item, verdict) { return !item.verdicts.length || item.verdicts.includes(verdict); }
function choose(verdict) {
  if (!fits(sheet.items[at], verdict)) return;
  note({ verdict });
  if (at + 1 < sheet.items.length) ++at;
  show();
}
function go(steps) {
  at = Math.min(Math.max(at + steps, 0), sheet.items.length - 1);
  show();
}
function labels() {
  return sheet.items.filter(item => (said[item.id] || {}).verdict)
    .map(item => ({ item: item.id, verdict: said[item.id].verdict, comment: said[item.id].comment || "" }));
}
by("back").onclick = () => go(-1);
by("on").onclick = () => go(1);
by("comment").oninput = event => note({ comment: event.target.value });
document.onkeydown = event => {
  if (event.target.tagName === "INPUT" || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "ArrowLeft") go(-1);
  if (event.key === "ArrowRight") go(1);
  const number = "1234567890".indexOf(event.key);
  if (number >= 0 && number < verdicts.length) choose(verdicts[number]);
};
by("save").onclick = () => {
  const link = document.createElement("a");
  link.href = "data:application/json;charset=utf-8," +
    encodeURIComponent(JSON.stringify({ protocol: sheet.protocol, labels: labels() }, null, 1));
  link.download = "labels.json";
  link.click();
};
show();
)page";

}  // namespace

std::string sheet_csv(const Sheet& sheet) {
  const auto line = [&](std::vector<Json> cells, const std::string& other,
                        const std::string& verdict, const std::string& comment) {
    if (sheet.compares) cells.push_back(other);
    cells.insert(cells.end(), {verdict, comment});
    return csv_line(cells, /*safe=*/true);
  };
  std::string out =
      line({"item", "category", "text", "question", "reference", sheet.compares ? "A" : "answer"},
           "B", "verdict", "comment");
  for (const SheetItem& item : sheet.items)
    out += line({item.id, item.category, item.text, item.question, item.reference, item.answer},
                item.other, "", "");
  return out;
}

std::string sheet_page(const Sheet& sheet) {
  OrderedJson items = OrderedJson::array();
  std::string ids;
  for (const SheetItem& item : sheet.items) {
    OrderedJson& one = items.emplace_back();
    for (const auto& [key, text] :
         {std::pair{"id", &item.id}, std::pair{"text", &item.text},
          std::pair{"question", &item.question}, std::pair{"reference", &item.reference},
          std::pair{"answer", &item.answer}, std::pair{"other", &item.other}})
      one[key] = *text;
    one["verdicts"] = item.verdicts;
    ids += item.id;
  }
  OrderedJson all;
  all["id"] = sha256(ids).substr(0, 12);
  all["protocol"] = sheet.protocol;
  all["task"] = sheet.task;
  all["compares"] = sheet.compares;
  all["verdicts"] = sheet.verdicts;
  all["items"] = std::move(items);
  // With < escaped, no text can end the script element.
  return str(kSheetHead, script_source(kSheetScript), kSheetBody,
             replace_all(dump(all), "<", "\\u003c"), "</script>\n<script>", kSheetScript,
             "</script></body></html>\n");
}

}  // namespace pardec
