#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

// A tokenizer.json has components `{"type": NAME, option: value, ...}`, which may contain other
// components. Each kind of component (normalizer, pre-tokenizer, decoder) has a table of types and
// functions that read them. A new component needs one class and one table row. All errors are
// ConfigErrors; Tokenizer::load converts them to a ModelError with the file's name.

/// A row of a table of component types.
template <typename Component>
struct ComponentEntry {
  const char* type;  ///< the value of "type"
  /// Reads the component's options. `where`: the component's place in the file and its type, for
  /// errors.
  std::unique_ptr<Component> (*read)(JsonReader& options, const std::string& where);
};

/// Reads one component; returns null for a JSON null. `where`: the place of the component in the
/// file, e.g. "decoder.decoders[1]". ConfigError, which starts with `where`: the type is missing or
/// is not in the table, or an option is invalid or unknown.
template <typename Component, typename Table>
std::unique_ptr<Component> read_component(const Json& json, const std::string& where,
                                          const Table& table) {
  if (json.is_null()) return nullptr;
  const auto type = JsonReader(json, where).required<std::string>("type");
  std::vector<std::string> known;
  for (const ComponentEntry<Component>& entry : table) {
    if (type != entry.type) {
      known.emplace_back(entry.type);
      continue;
    }
    const std::string place = str(where, " '", type, "'");
    JsonReader options(json, place);
    options.any("type");
    auto component = entry.read(options, place);
    options.finish();
    return component;
  }
  throw ConfigError(str(where, " '", type, "' is not supported; supported: ", join(known, ", ")));
}

/// Reads the components of a Sequence. `options`: the Sequence's options, in which `key` has the
/// array of components. `read(json, where)` reads one component, and returns null for a JSON null.
/// ConfigError, which starts with `where`: there is no such array, or a component is null or
/// invalid.
template <typename Component, typename Read>
std::vector<std::unique_ptr<Component>> read_components(JsonReader& options, const char* key,
                                                        const std::string& where, Read read) {
  const Json& list = options.any(key);
  if (!list.is_array()) throw ConfigError(str(where, ": '", key, "' is not an array"));
  std::vector<std::unique_ptr<Component>> parts;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string place = str(where, ".", key, "[", i, "]");
    auto part = read(list[i], place);
    if (!part) throw ConfigError(str(place, " is null, expected a component"));
    parts.push_back(std::move(part));
  }
  return parts;
}

}  // namespace pardec
