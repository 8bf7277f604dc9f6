#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// The API keys that the server accepts. Only digests of the keys are kept in memory.
class Keys {
 public:
  /// `variable`: name of an environment variable with one key; empty: no variable. `file`: path of
  /// a file with one key on each line; empty: no file. If there are keys, disables core files for
  /// this process. ConfigError: the variable is not set or empty, the file has no key, or a key has
  /// characters that are not valid in a header. DataError: the file cannot be read.
  Keys(const std::string& variable, const std::string& file);

  /// Whether there are no keys. If so, any client may send requests.
  bool empty() const { return digests_.empty(); }
  /// Whether `authorization`, the value of a request's header `authorization`, is "Bearer KEY" with
  /// an accepted key. Always true if there are no keys. The time of the check does not depend on
  /// the content of the accepted keys, so that a client cannot guess a key from the time.
  bool accept(std::string_view authorization) const;

 private:
  std::vector<std::string> digests_;
};

}  // namespace pardec::serve
