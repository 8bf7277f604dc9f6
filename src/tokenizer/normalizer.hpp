#pragma once
#include <memory>
#include <string>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// A component that rewrites the text between two added tokens before this text is split into
/// words. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// Rewrites a stretch. RunError: see Pattern::split and check_growth. REQUIRES: the stretch is
  /// valid UTF-8.
  virtual void apply(Stretch& stretch, Place place) const = 0;
};

/// Reads BertNormalizer, Lowercase, NFC, NFD, NFKC, NFKD, Precompiled, Prepend, Replace, Sequence,
/// Strip or StripAccents. Null: the JSON is null, since the file has no normalizer. ConfigError,
/// which starts with `where`: the JSON is invalid, or describes any other component.
std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where);

}  // namespace pardec
