#include "src/engine/trace.hpp"

namespace pardec {

namespace {

OrderedJson fold(const std::vector<int>& rows) {
  OrderedJson items = OrderedJson::array();
  for (size_t i = 0; i < rows.size();) {
    size_t end = i + 1;
    while (end < rows.size() && rows[end] == rows[end - 1] + 1) ++end;
    if (end - i == 1)
      items.push_back(rows[i]);
    else
      items.push_back({rows[i], rows[end - 1] + 1});
    i = end;
  }
  return items;
}

template <typename T>
OrderedJson nullable(const std::vector<std::optional<T>>& values) {
  OrderedJson out = OrderedJson::array();
  for (const auto& value : values) out.push_back(value ? OrderedJson(*value) : OrderedJson());
  return out;
}

}  // namespace

OrderedJson to_json(const Trace& trace) {
  OrderedJson visible = OrderedJson::array(), banned = OrderedJson::array();
  for (const auto& rows : trace.visible) visible.push_back(fold(rows));
  for (const auto& ids : trace.banned)
    banned.push_back(ids.empty() ? OrderedJson() : OrderedJson(ids));
  OrderedJson json = {{"request", trace.request}, {"decoder", trace.decoder}};
  if (!trace.arm.empty()) json["arm"] = trace.arm;
  if (!trace.examples.empty()) json["examples"] = trace.examples;
  if (!trace.model.empty()) json["model"] = trace.model;
  json.update({{"tokens", trace.tokens},
               {"position", trace.position},
               {"step", trace.step},
               {"visible", visible},
               {"predicts", nullable(trace.predicts)},
               {"from", nullable(trace.from)},
               {"banned", banned},
               {"dropped_at", nullable(trace.dropped_at)},
               {"emitted", trace.emitted}});
  return json;
}

}  // namespace pardec
