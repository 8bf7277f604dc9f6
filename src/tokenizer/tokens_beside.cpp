#include "src/tokenizer/tokens_beside.hpp"
#include "src/support/number_text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include "src/support/error.hpp"
#include "src/support/mapped_file.hpp"
#include "src/support/text.hpp"
#include "src/tokenizer/gguf_tokenizer.hpp"

namespace pardec {

namespace {

constexpr std::array<std::string_view, 7> kStandard{
    "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token"};

constexpr std::array kFlags{"single_word", "lstrip", "rstrip", "normalized", "special"};

bool is_standard(std::string_view key) {
  return std::find(kStandard.begin(), kStandard.end(), key) != kStandard.end();
}

/// A special token as given: as a plain text, or with flags.
struct Given {
  NewToken token;
  bool text = false;
  bool operator==(const Given&) const = default;
};

NewToken token_of(const OrderedJson& json, bool special, const std::string& where) {
  if (!json.is_object() || !value_or_null(json, "content").is_string())
    throw ConfigError(
        str(where, " is ", dump(json), ", expected a token: an object with 'content'"));
  NewToken token{.content = json.at("content").get<std::string>(), .special = special};
  const auto flag = [&](const char* key, bool otherwise) {
    const OrderedJson value = value_or_null(json, key);
    if (!value.is_null() && !value.is_boolean())
      throw ConfigError(str(where, ": '", key, "' is ", dump(value), ", expected true or false"));
    return value.is_null() ? otherwise : value == true;
  };
  token.special = flag("special", special);
  token.single_word = flag("single_word", false);
  token.lstrip = flag("lstrip", false);
  token.rstrip = flag("rstrip", false);
  token.normalized = flag("normalized", !token.special);
  return token;
}

bool is_well_formed(const OrderedJson& json) {
  return json.is_object() && value_or_null(json, "content").is_string() &&
         value_or_null(json, "id").is_number_integer() &&
         std::all_of(kFlags.begin(), kFlags.end(), [&](const char* key) {
           return value_or_null(json, key).is_null() || value_or_null(json, key).is_boolean();
         });
}

/// Whether transformers reads the value as a token with flags.
bool is_typed(const OrderedJson& json) {
  return json.is_object() && value_or_null(json, "__type") == "AddedToken";
}

/// Parses a text, or an object with flags. If the object has a type, only its flags (and `special`)
/// decide whether it is special. Empty: null.
std::optional<Given> given(const OrderedJson& json, bool special, const std::string& where) {
  if (json.is_null()) return std::nullopt;
  if (json.is_string())
    return Given{{.content = json.get<std::string>(), .special = true}, /*text=*/true};
  Given one{token_of(json, !is_typed(json), where)};
  one.token.special = one.token.special || special;
  return one;
}

/// Reads the files in transformers' order.
class Reader {
 public:
  Reader(const std::filesystem::path& folder, const OrderedJson& tokenizer)
      : folder_(folder), config_(read_object_if_there(folder / kTokenizerConfig)) {
    const std::string file = (folder / kTokenizerConfig).string();
    read_named(config_, false, file);
    const OrderedJson decoder = value_or_null(config_, "added_tokens_decoder");
    if (decoder.is_object()) {
      read_decoder(decoder, str(file, ": 'added_tokens_decoder'"));
    } else {
      read_legacy(tokenizer);
    }
  }

  TokensBeside result() {
    TokensBeside beside;
    beside.split_special = value_or_null(config_, "split_special_tokens") == true;
    std::vector<Given> all;
    for (const auto& [index, token] : decoder_) all.push_back({token});
    std::vector<std::string> known;
    for (const Given& one : all) known.push_back(one.token.content);
    known.insert(known.end(), in_file_.begin(), in_file_.end());
    const auto add = [&](const Given& token) {
      if (std::find(known.begin(), known.end(), token.token.content) == known.end() &&
          std::find(all.begin(), all.end(), token) == all.end())
        all.push_back(token);
    };
    std::vector<std::string> names;
    for (const auto& [key, token] : ordered_named()) {
      beside.named.emplace_back(key, token.token.content);
      names.push_back(token.token.content);
      add(token);
    }
    for (const Given& token : extra_) add(token);
    for (Given& one : all) {
      const bool is_named = std::find(names.begin(), names.end(), one.token.content) != names.end();
      one.token.special = one.token.special || is_named;
      if (!one.token.content.empty()) beside.added.push_back(std::move(one.token));
    }
    return beside;
  }

  void in_file(const OrderedJson& tokenizer) {
    for (const OrderedJson& token : value_or_null(tokenizer, "added_tokens"))
      if (token.is_object() && value_or_null(token, "content").is_string())
        in_file_.push_back(token.at("content").get<std::string>());
  }

 private:
  /// `special_map`: the object is special_tokens_map.json, whose tokens are all special.
  void read_named(const OrderedJson& json, bool special_map, const std::string& file) {
    const auto where = [&](const std::string& key) { return str(file, ": '", key, "'"); };
    for (const auto& [key, value] : json.items()) {
      const bool other = key.ends_with("_token") && (value.is_string() || is_typed(value) ||
                                                     (special_map && value.is_object()));
      if (!is_standard(key) && !other) continue;
      if (const auto one = given(value, special_map, where(key))) put(key, *one);
    }
    // The older name is used if the newer one is missing.
    const OrderedJson older = value_or_null(json, "additional_special_tokens");
    OrderedJson extra = value_or_null(json, "extra_special_tokens");
    const bool has_extra = !extra.is_null() && !extra.empty();
    if (!has_extra && (!special_map || !has_extra_)) extra = older;
    const std::string name = has_extra ? "extra_special_tokens" : "additional_special_tokens";
    if (extra.is_object()) {
      for (const auto& [key, value] : extra.items())
        if (const auto one = given(value, special_map, where(name))) put(key, *one);
    } else if (!extra.is_null()) {
      if (!extra.is_array())
        throw ConfigError(str(where(name), " is ", dump(extra), ", expected a list of tokens"));
      for (const OrderedJson& item : extra)
        if (const auto one = given(item, special_map, where(name));
            one && std::find(extra_.begin(), extra_.end(), *one) == extra_.end())
          extra_.push_back(*one);
    }
    has_extra_ =
        json.contains("extra_special_tokens") || json.contains("additional_special_tokens");
  }

  void put(const std::string& key, const Given& token) {
    const auto found = std::find_if(named_.begin(), named_.end(),
                                    [&](const auto& one) { return one.first == key; });
    if (found == named_.end())
      named_.emplace_back(key, token);
    else
      found->second = token;
  }

  void read_decoder(const OrderedJson& decoder, const std::string& where) {
    for (const auto& [key, value] : decoder.items()) {
      const auto index = number_in<std::int64_t>(key);
      if (!index)
        throw ConfigError(str(where, " has the key ", dump(Json(key)), ", expected an id"));
      decoder_[*index] = token_of(value, false, str(where, "['", key, "']"));
    }
  }

  void read_legacy(const OrderedJson& tokenizer) {
    const std::filesystem::path map = folder_ / "special_tokens_map.json",
                                added = folder_ / "added_tokens.json";
    read_named(read_object_if_there(map), true, map.string());
    const OrderedJson ids = read_object_if_there(added);
    for (const auto& [content, value] : ids.items()) {
      if (!value.is_number_integer())
        throw ConfigError(str(added.string(), ": ", dump(Json(content)), " is ", dump(value),
                              ", expected an id"));
      const auto is_it = [&content = content](const Given& one) {
        return one.token.content == content;
      };
      const bool special = std::any_of(extra_.begin(), extra_.end(), is_it) ||
                           std::any_of(named_.begin(), named_.end(), [&](const auto& one) {
                             return is_standard(one.first) && is_it(one.second);
                           });
      decoder_[value.get<std::int64_t>()] = {
          .content = content, .normalized = !special, .special = special};
    }
    // Errors in these are reported when the tokenizer is built.
    for (const OrderedJson& token : value_or_null(tokenizer, "added_tokens"))
      if (is_well_formed(token))
        decoder_[token.at("id").get<std::int64_t>()] = token_of(token, false, "added_tokens");
  }

  std::vector<std::pair<std::string, Given>> ordered_named() const {
    std::vector<std::pair<std::string, Given>> all;
    for (const std::string_view key : kStandard)
      for (const auto& one : named_)
        if (one.first == key) all.push_back(one);
    for (const auto& one : named_)
      if (!is_standard(one.first)) all.push_back(one);
    return all;
  }

  const std::filesystem::path folder_;
  const OrderedJson config_;
  std::map<std::int64_t, NewToken> decoder_;
  std::vector<std::pair<std::string, Given>> named_;
  std::vector<Given> extra_;
  bool has_extra_ = false;
  std::vector<std::string> in_file_;
};

}  // namespace

const std::string* TokensBeside::find(std::string_view name) const {
  for (const auto& [key, text] : named)
    if (key == name) return &text;
  return nullptr;
}

TokensBeside read_tokens_beside(const std::filesystem::path& folder, const OrderedJson& tokenizer) {
  Reader reader(folder, tokenizer);
  reader.in_file(tokenizer);
  return reader.result();
}

TokensBeside read_tokens_beside(const std::filesystem::path& folder) {
  if (const auto file = gguf_file(folder)) {
    TokensBeside beside;
    beside.named = gguf_named_tokens(Gguf(MappedFile(*file).bytes(), file->string()));
    return beside;
  }
  return read_tokens_beside(folder, read_object_if_there(folder / "tokenizer.json"));
}

}  // namespace pardec
