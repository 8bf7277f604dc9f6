#include "src/model/files/weight_check.hpp"

#include <cmath>
#include <cstring>

#include "src/model/files/checkpoint_files.hpp"
#include "src/model/files/gguf_weights.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// `exponent`: the bits that are all set in values that are not finite. `fraction`: bits of which
/// some are also set in a NaN.
template <typename Bits>
void count(std::span<const std::byte> data, Bits exponent, Bits fraction, NotFinite& found) {
  std::int64_t nan = 0, infinite = 0;
  for (size_t at = 0; at < data.size(); at += sizeof(Bits)) {
    Bits bits;
    std::memcpy(&bits, data.data() + at, sizeof bits);
    const bool finite = (bits & exponent) != exponent;
    nan += !finite && (bits & fraction) != 0;
    infinite += !finite && (bits & fraction) == 0;
  }
  found.nan = nan;
  found.infinite = infinite;
}

void count_doubles(std::span<const std::byte> data, NotFinite& found) {
  for (size_t at = 0; at < data.size(); at += sizeof(double)) {
    double value;
    std::memcpy(&value, data.data() + at, sizeof value);
    found.nan += std::isnan(value);
    found.infinite += std::isinf(static_cast<float>(value));
  }
}

void check(const std::string& name, const StoredTensor& tensor, const MappedFile& mapping,
           const std::string& file, WeightCheck& result) {
  NotFinite found{.file = file, .tensor = name};
  ++result.tensors;
  if (tensor.type == StoredType::other) return;  // no network reads such a tensor
  if (tensor.type == StoredType::rows) {
    std::vector<float> row(static_cast<size_t>(row_width(tensor)));
    for (std::int64_t i = 0; i < row_count(tensor); ++i) {
      read_rows(tensor, i, 1, row);
      NotFinite of_row;
      count<std::uint32_t>(std::as_bytes(std::span(row)), 0x7F800000, 0x007FFFFF, of_row);
      found.nan += of_row.nan, found.infinite += of_row.infinite;
      found.elements += std::ssize(row);
    }
  } else {
    found.elements = std::ssize(tensor.data) / size_of(tensor.type);
  }
  switch (tensor.type) {
    case StoredType::bf16:
      count<std::uint16_t>(tensor.data, 0x7F80, 0x007F, found);
      break;
    case StoredType::f16:
      count<std::uint16_t>(tensor.data, 0x7C00, 0x03FF, found);
      break;
    case StoredType::f32:
      count<std::uint32_t>(tensor.data, 0x7F800000, 0x007FFFFF, found);
      break;
    case StoredType::f64:
      count_doubles(tensor.data, found);
      break;
    case StoredType::rows:
    case StoredType::other:
      break;
  }
  mapping.release(tensor.data);
  if (found.nan + found.infinite > 0) result.not_finite.push_back(std::move(found));
}

}  // namespace

std::string NotFinite::text() const {
  return str(nan > 0 ? str(nan, " NaN") : "", nan > 0 && infinite > 0 ? " and " : "",
             infinite > 0 ? str(infinite, " Inf") : "", " of ", elements, " numbers");
}

WeightCheck check_weights(const std::filesystem::path& folder) {
  WeightCheck result;
  const CheckpointFiles files(folder);
  for (const auto& [name, entry] : files.tensors())
    check(name, entry.tensor, *entry.mapping, entry.file, result);
  const std::filesystem::path heads = folder / kExtraHeadsFile;
  if (std::error_code ignored; std::filesystem::exists(heads, ignored)) {
    const MappedFile mapping(heads);
    for (const auto& [name, tensor] : parse_safetensors(mapping.bytes(), heads.string()))
      check(name, tensor, mapping, heads.string(), result);
  }
  return result;
}

}  // namespace pardec
