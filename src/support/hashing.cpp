#include "src/support/hashing.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "src/support/base64.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

class Sha256 {
 public:
  Sha256() : context_(EVP_MD_CTX_new(), &EVP_MD_CTX_free) {
    EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr);
  }
  void add(const void* data, size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string hex() {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), digest, &size);
    std::string out;
    for (unsigned int i = 0; i < size; ++i) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", digest[i]);
      out += two;
    }
    return out;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

}  // namespace

std::string sha256(std::string_view bytes) {
  Sha256 hash;
  hash.add(bytes.data(), bytes.size());
  return hash.hex();
}

std::string sha256_file(const std::filesystem::path& file) {
  check_regular(file);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> in(std::fopen(file.c_str(), "rb"),
                                                           &std::fclose);
  if (!in) throw DataError(file.string(), 0, str("cannot be opened: ", std::strerror(errno)));
  Sha256 hash;
  std::vector<char> buffer(1 << 20);
  while (const size_t got = std::fread(buffer.data(), 1, buffer.size(), in.get()))
    hash.add(buffer.data(), got);
  if (std::ferror(in.get())) throw DataError(file.string(), 0, "cannot be read to its end");
  return hash.hex();
}

std::string script_source(std::string_view script) {
  const std::string hash = sha256(script);  // hexadecimal, two digits per byte
  std::string bytes;
  for (std::size_t at = 0; at < hash.size(); at += 2)
    bytes += static_cast<char>(std::stoul(hash.substr(at, 2), nullptr, 16));
  return str("'sha256-", to_base64(bytes), "'");
}

}  // namespace pardec
