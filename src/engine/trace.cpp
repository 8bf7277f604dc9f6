#include "src/engine/trace.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

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

OrderedJson nullable(const std::vector<Tokens>& lists) {
  OrderedJson out = OrderedJson::array();
  for (const Tokens& ids : lists) out.push_back(ids.empty() ? OrderedJson() : OrderedJson(ids));
  return out;
}

}  // namespace

OrderedJson to_json(const Trace& trace) {
  OrderedJson visible = OrderedJson::array();
  for (const auto& rows : trace.visible) visible.push_back(fold(rows));
  OrderedJson json = {{"request", trace.request}, {"decoder", trace.decoder}};
  if (!trace.group.empty()) json["group"] = trace.group;
  if (!trace.arm.empty()) json["arm"] = trace.arm;
  if (!trace.dataset.empty()) json["dataset"] = trace.dataset;
  if (!trace.examples.empty()) json["examples"] = trace.examples;
  if (!trace.model.empty()) json["model"] = trace.model;
  if (!trace.rules.empty()) json["generation_config"] = trace.rules;
  if (trace.inherited > 0) json["inherited"] = trace.inherited;
  json.update({{"tokens", trace.tokens},
               {"position", trace.position},
               {"step", trace.step},
               {"visible", visible},
               {"predicts", nullable(trace.predicts)},
               {"from", nullable(trace.from)},
               {"banned", nullable(trace.banned)},
               {"dropped_at", nullable(trace.dropped_at)},
               {"emitted", trace.emitted}});
  const bool all_allowed = std::all_of(trace.allowed.begin(), trace.allowed.end(),
                                       [](const auto& ids) { return ids.empty(); });
  if (!all_allowed) json["allowed"] = nullable(trace.allowed);
  return json;
}

std::unique_ptr<std::ofstream> open_trace(const std::string& file, std::ios::openmode mode) {
  auto trace = std::make_unique<std::ofstream>(file, mode);
  if (!*trace)
    throw ConfigError(str("`trace`: ", file, " cannot be written: ", std::strerror(errno),
                          "; expected a file in a writable folder"));
  return trace;
}

}  // namespace pardec
