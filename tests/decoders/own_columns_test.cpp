#include <algorithm>
#include <cmath>

#include "decoders/decoder.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

/// The values of its columns to nine digits, NaN as -1.
std::vector<double> values(const char* columns_of, const char* run_of,
                           const std::vector<ResponseCounts>& jobs) {
  std::vector<double> all = find_decoder(columns_of).own_columns.values(run_of, jobs);
  for (double& value : all) value = std::isnan(value) ? -1 : std::round(value * 1e9) / 1e9;
  return all;
}

using Values = std::vector<double>;

}  // namespace

TEST_CASE("a decoder's own columns have one value each, and unique names") {
  std::vector<std::string_view> keys;
  for (const DecoderEntry& entry : decoders()) {
    const OwnColumns& own = entry.own_columns;
    INFO(entry.name);
    CHECK((own.values != nullptr) == !own.columns.empty());
    CHECK(own.note.empty() == own.columns.empty());
    if (!own.values) continue;
    for (const DecoderEntry& other : decoders())
      CHECK(own.values(other.name, {}).size() == own.columns.size());
    for (const OwnColumn& column : own.columns) {
      CHECK(std::find(keys.begin(), keys.end(), column.key) == keys.end());
      keys.push_back(column.key);
    }
  }
  CHECK(keys.size() == 9);
}

TEST_CASE("ASPD's columns are means over responses, of parallel stages if there are any") {
  const ResponseCounts forked{{.decode_ns = 2'000'000'000,
                               .generated = 100,
                               .branch_tokens = 40,
                               .groups = 2,
                               .group_branches = 6,
                               .parallel_ns = 1'000'000'000}};
  const ResponseCounts serial{{.decode_ns = 1'000'000'000, .generated = 50}};
  const ResponseCounts plain{{.chosen = 50, .decode_ns = 1'000'000'000}};
  CHECK(values("aspd", "aspd", {forked, serial}) == Values{0.4, 3, 0.5, 50, 40});
  CHECK(values("aspd", "aspd", {serial}) == Values{-1, -1, 0, 50, -1});
  CHECK(values("aspd", "aspd", {plain}) == Values{-1, -1, -1, -1, -1});
  CHECK(values("aspd", "ar", {plain}) == Values{-1, -1, -1, 50, -1});
  CHECK(values("aspd", "hpd", {plain}) == Values{-1, -1, -1, -1, -1});
}

TEST_CASE("APAR's columns are over answers, and include how many fork, if each is a job") {
  const ResponseCounts forked{{.text = 10, .text_attended = 400, .cached_peak = 50, .branches = 3}};
  const ResponseCounts single{{.text = 10, .text_attended = 205, .cached_peak = 31, .branches = 1}};
  const ResponseCounts fields{{.cached_peak = 90, .branches = 6}, 4};
  CHECK(values("apar", "apar", {forked, single}) == Values{2, 0.5, 40.5, 30.25});
  CHECK(values("apar", "ar", {single}) == Values{1, 0, 31, 20.5});
  CHECK(values("apar", "apar", {fields}) == Values{1.5, -1, 22.5, -1});
  CHECK(values("apar", "apar", {fields, single}) == Values{1.4, -1, 24.2, 20.5});
  CHECK(values("apar", "apar", {}) == Values{-1, -1, -1, -1});
  CHECK(values("apar", "hpd", {single}) == Values{-1, -1, -1, -1});
}
