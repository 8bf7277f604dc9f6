#pragma once
#include <memory>
#include <string>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Changes the text between two added tokens before it is split into words. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(Stretch& stretch, Place place) const = 0;
};

/// Supports Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip, StripAccents; null
/// if the file has no normalizer. ConfigErrors start with `where`.
std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where);

}  // namespace pardec
