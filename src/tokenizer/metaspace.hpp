#pragma once
#include <optional>
#include <string>

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

/// The stretches of text to which the pre-tokenizer adds the replacement character as a prefix.
/// `always`: every stretch. `first`: only the stretch at the beginning of the input. `never`: no
/// stretch.
enum class PrependScheme { always, first, never };

/// The options that the pre-tokenizer and the decoder 'Metaspace' share.
struct MetaspaceOptions {
  std::string replacement = "▁";  ///< the character that replaces a space
  PrependScheme prepend = PrependScheme::always;
  bool split = true;  ///< whether the pre-tokenizer splits the text before each `replacement`
};

/// Reads the options. `add_prefix_space: false` is an old form of the scheme "never". ConfigError,
/// which starts with `where`: an option is invalid.
inline MetaspaceOptions read_metaspace(JsonReader& options, const std::string& where) {
  MetaspaceOptions out;
  out.replacement = options.optional<std::string>("replacement", out.replacement);
  if (out.replacement.empty() || utf8_bytes(out.replacement[0]) != out.replacement.size()) {
    throw ConfigError(
        str(where, ": 'replacement' is '", out.replacement, "', expected one character"));
  }
  options.maybe<std::string>("str_rep");  // copy of `replacement` in old files
  out.split = options.optional("split", true);
  const bool add_prefix_space = options.optional("add_prefix_space", true);
  const auto scheme =
      options.optional<std::string>("prepend_scheme", add_prefix_space ? "always" : "never");
  if (scheme == "first") {
    out.prepend = PrependScheme::first;
  } else if (scheme == "never") {
    out.prepend = PrependScheme::never;
  } else if (scheme != "always") {
    throw ConfigError(
        str(where, ": 'prepend_scheme' is '", scheme, "', expected always, first or never"));
  }
  if (!add_prefix_space && out.prepend != PrependScheme::never) {
    throw ConfigError(str(where, ": 'add_prefix_space' is false but 'prepend_scheme' is '", scheme,
                          "', expected 'never'"));
  }
  return out;
}

}  // namespace pardec
