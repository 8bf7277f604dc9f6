#include "src/support/hashing.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("a script is named by its hash, as browsers compute it") {
  // From RFC 6234 and the examples of the policy's specification.
  CHECK(script_source("") == "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
  CHECK(script_source("abc") == "'sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0='");
  CHECK(script_source("alert('Hello, world.');") ==
        "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
}
