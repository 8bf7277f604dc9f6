#pragma once
#include <memory>
#include <string>

#include "src/support/json.hpp"
#include "src/tokenizer/stretch.hpp"

namespace pardec {

/// Changes a stretch of text between two added tokens before it is cut into words. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  virtual void apply(Stretch& stretch, Place place) const = 0;
};

/// Lowercase, NFC, NFD, NFKC, NFKD, Prepend, Replace, Sequence, Strip, StripAccents; null where the
/// file has none. Errors are ConfigErrors that start with `where`.
std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where);

}  // namespace pardec
