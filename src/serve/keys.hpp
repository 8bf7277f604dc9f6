#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// The API keys that the server accepts. Only digests of the keys are kept in memory.
class Keys {
 public:
  /// `variable`: an environment variable with one key; `file`: a file with one key per line. Either
  /// may be empty. Disables core files for this process. ConfigError: the variable is not set, the
  /// file has no key, or a key has characters that are not valid in a header.
  Keys(const std::string& variable, const std::string& file);

  bool empty() const { return digests_.empty(); }
  /// Whether `authorization`, a request's header, is "Bearer KEY" with an accepted key. Always true
  /// if there are no keys. The time does not depend on the key, only on its length.
  bool accept(std::string_view authorization) const;

 private:
  std::vector<std::string> digests_;
};

}  // namespace pardec::serve
