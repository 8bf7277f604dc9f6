#include "src/serve/keys.hpp"

#include <openssl/crypto.h>
#include <sys/prctl.h>

#include <algorithm>

#include "src/chat/key.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

Keys::Keys(const std::string& variable, const std::string& file) {
  if (!variable.empty()) digests_.push_back(sha256(chat::Key(variable).value()));
  if (file.empty()) return;
  const std::size_t before = digests_.size();
  for (const std::string& line : split(read_file(file), '\n')) {
    const std::string_view key = strip(line);
    if (key.empty()) continue;
    if (std::any_of(key.begin(), key.end(), [](char c) { return c <= ' ' || c > '~'; }))
      throw ConfigError(str("`key_file` ", file,
                            ": a line has characters that no key has (white space, for example), "
                            "expected one key in each line"));
    digests_.push_back(sha256(key));
  }
  if (digests_.size() == before)
    throw ConfigError(str("`key_file` ", file, " has no key, expected one in each line"));
  ::prctl(PR_SET_DUMPABLE, 0);
}

bool Keys::accept(std::string_view authorization) const {
  constexpr std::string_view kBearer = "bearer ";
  if (digests_.empty()) return true;
  if (lower_ascii(std::string(authorization.substr(0, kBearer.size()))) != kBearer) return false;
  const std::string sent = sha256(authorization.substr(kBearer.size()));
  bool found = false;
  for (const std::string& digest : digests_)
    found |= CRYPTO_memcmp(sent.data(), digest.data(), digest.size()) == 0;
  return found;
}

}  // namespace pardec::serve
