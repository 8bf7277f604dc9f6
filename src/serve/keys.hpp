#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec::serve {

/// The accepted keys. Each request must contain one of them. Only their digests are kept.
class Keys {
 public:
  /// `variable`: an environment variable with a key; `file`: a file with a key in each line. Empty:
  /// there is none. From then on, the process writes no core file. ConfigError: the variable is not
  /// set, the file has no key, or a key has characters that no header can have.
  Keys(const std::string& variable, const std::string& file);

  bool empty() const { return digests_.empty(); }
  /// Whether a request's `Authorization` is "Bearer KEY" with one of the keys; always if there are
  /// none. Takes the same time for all keys of a length.
  bool accept(std::string_view authorization) const;

 private:
  std::vector<std::string> digests_;
};

}  // namespace pardec::serve
