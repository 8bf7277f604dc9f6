#pragma once
#include <memory>
#include <string>

#include "src/support/json.hpp"

namespace pardec {

/// Changes a stretch of text between two added tokens before it is cut into words. Immutable.
class Normalizer {
 public:
  virtual ~Normalizer() = default;
  /// `prefix` is false where the stretch goes on from an earlier piece: nothing is put in front of
  /// it then.
  virtual std::string apply(std::string text, bool prefix) const = 0;
};

/// NFC, Prepend, Replace, Sequence; null where the file has none. Errors are ConfigErrors that
/// start with `where`.
std::unique_ptr<Normalizer> read_normalizer(const Json& json, const std::string& where);

}  // namespace pardec
