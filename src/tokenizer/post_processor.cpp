#include "src/tokenizer/post_processor.hpp"

#include <optional>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The ids of the special token with the name `name` in a template.
Tokens special_ids(const Json& special_tokens, const std::string& name, Token vocabulary_size,
                   const std::string& where) {
  if (!special_tokens.is_object() || !special_tokens.contains(name)) {
    throw ConfigError(str(where, ": 'special_tokens' lacks '", name, "', which 'single' names"));
  }
  const std::string place = str(where, ": special token '", name, "'");
  JsonReader read(special_tokens.at(name), place);
  const Json& ids = read.any("ids");
  if (!ids.is_array()) throw ConfigError(str(place, ": 'ids' is not an array"));
  Tokens out;
  for (const Json& id : ids) {
    out.push_back(read_token_id(id, place));
    if (out.back() >= vocabulary_size) {
      throw ConfigError(str(place, " has id ", out.back(), ", expected below ", vocabulary_size));
    }
  }
  return out;
}

PostProcessor read_template(JsonReader& options, const std::string& where, Token vocabulary_size) {
  const Json& single = options.any("single");
  const Json& special_tokens = options.any("special_tokens");
  options.any("pair");
  if (!single.is_array()) throw ConfigError(str(where, ": 'single' is not an array"));
  PostProcessor out;
  bool behind_text = false;
  for (std::size_t i = 0; i < single.size(); ++i) {
    const std::string place = str(where, ".single[", i, "]");
    JsonReader item(single[i], place);
    if (item.has("SpecialToken")) {
      JsonReader special(item.any("SpecialToken"), place);
      const Tokens ids =
          special_ids(special_tokens, special.required<std::string>("id"), vocabulary_size, where);
      Tokens& side = behind_text ? out.trailing : out.leading;
      side.insert(side.end(), ids.begin(), ids.end());
    } else {
      JsonReader sequence(item.any("Sequence"), place);
      const auto id = sequence.required<std::string>("id");
      if (id != "A" || behind_text)
        throw ConfigError(str(place, " is sequence '", id, "', expected 'A' once"));
      behind_text = true;
    }
    item.finish();
  }
  if (!behind_text) throw ConfigError(str(where, ": 'single' lacks sequence 'A'"));
  return out;
}

std::optional<PostProcessor> read(const Json& json, const std::string& where,
                                  Token vocabulary_size);

std::optional<PostProcessor> read_sequence(JsonReader& options, const std::string& where,
                                           Token vocabulary_size) {
  const Json& list = options.any("processors");
  if (!list.is_array()) throw ConfigError(str(where, ": 'processors' is not an array"));
  std::optional<PostProcessor> out;
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto part = read(list[i], str(where, ".processors[", i, "]"), vocabulary_size);
    if (part && out) throw ConfigError(str(where, " has two TemplateProcessing, expected one"));
    if (part) out = std::move(part);
  }
  return out;
}

std::optional<PostProcessor> read(const Json& json, const std::string& where,
                                  Token vocabulary_size) {
  const auto type = JsonReader(json, where).required<std::string>("type");
  const std::string place = str(where, " '", type, "'");
  JsonReader options(json, place);
  options.any("type");
  std::optional<PostProcessor> out;
  if (type == "TemplateProcessing") {
    out = read_template(options, place, vocabulary_size);
  } else if (type == "Sequence") {
    out = read_sequence(options, place, vocabulary_size);
  } else if (type == "ByteLevel") {
    for (const char* key : {"add_prefix_space", "trim_offsets", "use_regex"}) options.any(key);
  } else {
    throw ConfigError(
        str(place, " is not supported; supported: ByteLevel, Sequence, TemplateProcessing"));
  }
  options.finish();
  return out;
}

}  // namespace

PostProcessor read_post_processor(const Json& json, const std::string& where,
                                  Token vocabulary_size) {
  if (json.is_null()) return {};
  return read(json, where, vocabulary_size).value_or(PostProcessor{});
}

}  // namespace pardec
