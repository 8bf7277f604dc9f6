#include "src/support/gguf.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstring>
#include <limits>

#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

static_assert(std::endian::native == std::endian::little);

namespace {

constexpr std::array kGgmlTypes{GgmlType{0, "F32", 1, 4},         GgmlType{1, "F16", 1, 2},
                                GgmlType{2, "Q4_0", 32, 18},      GgmlType{3, "Q4_1", 32, 20},
                                GgmlType{6, "Q5_0", 32, 22},      GgmlType{7, "Q5_1", 32, 24},
                                GgmlType{8, "Q8_0", 32, 34},      GgmlType{9, "Q8_1", 32, 40},
                                GgmlType{10, "Q2_K", 256, 84},    GgmlType{11, "Q3_K", 256, 110},
                                GgmlType{12, "Q4_K", 256, 144},   GgmlType{13, "Q5_K", 256, 176},
                                GgmlType{14, "Q6_K", 256, 210},   GgmlType{15, "Q8_K", 256, 292},
                                GgmlType{16, "IQ2_XXS", 256, 66}, GgmlType{17, "IQ2_XS", 256, 74},
                                GgmlType{18, "IQ3_XXS", 256, 98}, GgmlType{19, "IQ1_S", 256, 50},
                                GgmlType{20, "IQ4_NL", 32, 18},   GgmlType{21, "IQ3_S", 256, 110},
                                GgmlType{22, "IQ2_S", 256, 82},   GgmlType{23, "IQ4_XS", 256, 136},
                                GgmlType{24, "I8", 1, 1},         GgmlType{25, "I16", 1, 2},
                                GgmlType{26, "I32", 1, 4},        GgmlType{27, "I64", 1, 8},
                                GgmlType{28, "F64", 1, 8},        GgmlType{29, "IQ1_M", 256, 56},
                                GgmlType{30, "BF16", 1, 2},       GgmlType{34, "TQ1_0", 256, 54},
                                GgmlType{35, "TQ2_0", 256, 66},   GgmlType{39, "MXFP4", 32, 17},
                                GgmlType{40, "NVFP4", 64, 36},    GgmlType{41, "Q1_0", 128, 18}};

/// The types of metadata values, by their codes.
enum ValueType : std::uint32_t {
  kU8,
  kI8,
  kU16,
  kI16,
  kU32,
  kI32,
  kF32,
  kBool,
  kString,
  kArray,
  kU64,
  kI64,
  kF64,
  kValueTypes
};
constexpr std::array<const char*, kValueTypes> kValueNames{
    "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "string", "array", "u64", "i64", "f64"};
constexpr std::array<std::uint64_t, kValueTypes> kValueBytes{1, 1, 2, 2, 4, 4, 4, 1, 0, 0, 8, 8, 8};
constexpr std::uint64_t kLengthBytes = 8;

std::string in_quotes(std::string_view name) {
  return str("'", repair_utf8(shortened(std::string(name), 80)), "'");
}

template <typename T>
T loaded(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

bool is_whole(std::uint32_t type) { return type <= kI32 || type == kU64 || type == kI64; }

/// A whole number; nothing if it does not fit.
std::optional<std::int64_t> whole_at(std::uint32_t type, const std::byte* at) {
  switch (type) {
    case kU8:
      return loaded<std::uint8_t>(at);
    case kI8:
      return loaded<std::int8_t>(at);
    case kU16:
      return loaded<std::uint16_t>(at);
    case kI16:
      return loaded<std::int16_t>(at);
    case kU32:
      return loaded<std::uint32_t>(at);
    case kI32:
      return loaded<std::int32_t>(at);
    case kU64: {
      const auto value = loaded<std::uint64_t>(at);
      if (value > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) return std::nullopt;
      return static_cast<std::int64_t>(value);
    }
    default:
      return loaded<std::int64_t>(at);
  }
}

double number_at(std::uint32_t type, const std::byte* at) {
  if (type == kF64) return loaded<double>(at);
  if (type == kU64) return static_cast<double>(loaded<std::uint64_t>(at));
  if (type != kF32) return static_cast<double>(whole_at(type, at).value_or(0));
  const auto value = loaded<float>(at);
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return number_in<double>({digits.data(), static_cast<size_t>(end - digits.data())})
      .value_or(value);
}

}  // namespace

const GgmlType* find_ggml_type(std::uint32_t code) {
  const auto* const found = std::find_if(kGgmlTypes.begin(), kGgmlTypes.end(),
                                         [&](const GgmlType& type) { return type.code == code; });
  return found == kGgmlTypes.end() ? nullptr : found;
}

/// Reads from the beginning to the end of the header; `what` names the value for errors.
class Gguf::Reader {
 public:
  Reader(std::span<std::byte> file, const std::string& where) : file_(file), where_(where) {}

  std::uint64_t left() const { return file_.size() - at_; }
  std::uint64_t at() const { return at_; }

  std::span<const std::byte> take(std::uint64_t bytes, const std::string& what) {
    if (bytes > left())
      throw ModelError(where_, str("is truncated: ", what, " at byte ", at_, " needs ", bytes,
                                   " bytes, but only ", left(), " follow"));
    const std::span<const std::byte> part = file_.subspan(at_, bytes);
    at_ += bytes;
    return part;
  }
  template <typename T>
  T value(const std::string& what) {
    return loaded<T>(take(sizeof(T), what).data());
  }
  std::string_view string(const std::string& what) {
    const auto length = value<std::uint64_t>(what);
    const auto bytes = take(length, what);
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  /// A number of things that have at least `least` bytes each.
  std::uint64_t count(std::uint64_t least, const std::string& what) {
    const std::uint64_t begin = at_;
    const auto number = value<std::uint64_t>(str("the number of ", what));
    if (number > left() / least)
      throw ModelError(where_, str("says at byte ", begin, " that it has ", number, " ", what,
                                   ", expected at most ", left() / least, " in the ", left(),
                                   " bytes that follow"));
    return number;
  }

 private:
  std::span<std::byte> file_;
  const std::string& where_;
  std::uint64_t at_ = 0;
};

void Gguf::read_metadata(Reader& read, std::uint64_t count) {
  for (std::uint64_t i = 0; i < count; ++i) {
    const std::string key(read.string(str("the key of metadata entry ", i)));
    const std::string what = str("metadata ", in_quotes(key));
    const auto type_of = [&](const std::string& named) {
      const std::uint64_t begin = read.at();
      const auto type = read.value<std::uint32_t>(named);
      if (type >= kValueTypes)
        throw ModelError(where_, str(what, " has value type ", type, " at byte ", begin,
                                     ", expected 0 (u8) to 12 (f64)"));
      return type;
    };
    Value value{type_of(str("the type of ", what)), false, 1, {}};
    if (value.type == kArray) {
      value.array = true;
      value.type = type_of(str("the element type of ", what));
      if (value.type == kArray)
        throw ModelError(where_, str(what,
                                     " is an array of arrays, expected an array of numbers "
                                     "or strings"));
      value.count = read.count(value.type == kString ? kLengthBytes : kValueBytes[value.type],
                               str("elements of ", what));
    }
    const std::uint64_t begin = read.at(), bytes = read.left();
    if (value.type == kString) {
      std::span<const std::byte> first = read.take(0, what);
      for (std::uint64_t element = 0; element < value.count; ++element) read.string(what);
      value.bytes = {first.data(), static_cast<size_t>(bytes - read.left())};
    } else {
      value.bytes = read.take(value.count * kValueBytes[value.type], what);
    }
    if (!metadata_.emplace(key, value).second)
      throw ModelError(where_, str("has ", what, " twice, the second time before byte ", begin));
  }
}

namespace {

/// The number of bytes of a tensor. ModelError.
std::uint64_t bytes_of(const GgufTensor& tensor, const std::string& what,
                       const std::string& where) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 256;
  std::uint64_t elements = 1;
  for (const std::int64_t extent : tensor.shape) {
    const auto size = static_cast<std::uint64_t>(extent);
    if (extent < 0 || size > kMost || (size != 0 && elements > kMost / size))
      throw ModelError(where, str(what, " has a size of ", size, ", which no file can hold"));
    elements *= size;
  }
  const auto block = static_cast<std::uint64_t>(tensor.type->block);
  const std::uint64_t row =
      tensor.shape.empty() ? 1 : static_cast<std::uint64_t>(tensor.shape.back());
  if (row % block != 0)
    throw ModelError(where, str(what, " has rows of ", row, " numbers, expected a multiple of ",
                                block, ", the block of ", tensor.type->name));
  return elements / block * static_cast<std::uint64_t>(tensor.type->bytes);
}

}  // namespace

void Gguf::read_tensors(Reader& read, std::uint64_t count) {
  constexpr std::uint32_t kMostSizes = 4;
  struct Place {
    GgufTensor* tensor;
    std::uint64_t begin, size;
  };
  std::vector<Place> places;
  for (std::uint64_t i = 0; i < count; ++i) {
    GgufTensor tensor;
    tensor.name = read.string(str("the name of tensor ", i));
    const std::string what = str("tensor ", in_quotes(tensor.name));
    const auto sizes = read.value<std::uint32_t>(str("the number of sizes of ", what));
    if (sizes > kMostSizes)
      throw ModelError(where_, str(what, " has ", sizes, " sizes, expected at most ", kMostSizes));
    for (std::uint32_t size = 0; size < sizes; ++size)
      tensor.shape.push_back(
          static_cast<std::int64_t>(read.value<std::uint64_t>(str("a size of ", what))));
    std::reverse(tensor.shape.begin(), tensor.shape.end());
    const std::uint64_t type_at = read.at();
    const auto type = read.value<std::uint32_t>(str("the type of ", what));
    tensor.type = find_ggml_type(type);
    if (!tensor.type)
      throw ModelError(where_,
                       str(what, " has type ", type, " at byte ", type_at, ", which is unknown"));
    const auto offset = read.value<std::uint64_t>(str("the offset of ", what));
    const std::uint64_t size = bytes_of(tensor, what, where_);
    const auto [at, fresh] = tensors_.emplace(tensor.name, std::move(tensor));
    if (!fresh) throw ModelError(where_, str("has ", what, " twice"));
    places.push_back({&at->second, offset, size});
  }
  const std::uint64_t alignment =
      static_cast<std::uint64_t>(whole("general.alignment").value_or(32));
  if (alignment == 0 || alignment > 1 << 20 || !std::has_single_bit(alignment))
    throw ModelError(where_, str("metadata 'general.alignment' is ", alignment,
                                 ", expected a power of two up to 1048576"));
  const std::uint64_t padding = (alignment - read.at() % alignment) % alignment;
  // A file without tensors may end without the padding.
  if (!places.empty()) read.take(padding, "the padding before the data");
  std::sort(places.begin(), places.end(),
            [](const Place& a, const Place& b) { return a.begin < b.begin; });
  const std::uint64_t data = read.left();
  std::span<std::byte> all{const_cast<std::byte*>(read.take(0, "data").data()), data};
  std::uint64_t reached = 0;
  for (const auto& [tensor, begin, size] : places) {
    const std::string what = str("tensor ", in_quotes(tensor->name));
    if (begin % alignment != 0)
      throw ModelError(where_, str(what, " starts at byte ", begin,
                                   " of the data, expected a "
                                   "multiple of ",
                                   alignment));
    if (begin > data || size > data - begin)
      throw ModelError(where_, str(what, " has ", size, " bytes from byte ", begin,
                                   " of the data on, but the file has only ", data,
                                   " bytes of data (truncated, or a wrong offset)"));
    if (begin < reached)
      throw ModelError(where_, str(what, " starts at byte ", begin, " of the data, expected ",
                                   reached, " or more: tensors overlap"));
    reached = begin + size;
    tensor->data = all.subspan(begin, size);
  }
}

Gguf::Gguf(std::span<std::byte> file, std::string where) : where_(std::move(where)) {
  Reader read(file, where_);
  const auto magic = read.take(4, "the mark 'GGUF'");
  if (std::memcmp(magic.data(), "GGUF", magic.size()) != 0)
    throw ModelError(where_, "does not begin with 'GGUF', expected a GGUF file");
  const auto version = read.value<std::uint32_t>("the version");
  if (version != 2 && version != 3)
    throw ModelError(where_, str("has version ", version, ", expected 2 or 3, little-endian"));
  constexpr std::uint64_t kLeastTensor = kLengthBytes + 4 + 4 + 8, kLeastEntry = kLengthBytes + 5;
  const std::uint64_t tensors = read.count(kLeastTensor, "tensors");
  const std::uint64_t entries = read.count(kLeastEntry, "metadata entries");
  read_metadata(read, entries);
  read_tensors(read, tensors);
}

const Gguf::Value* Gguf::find(std::string_view key, bool array) const {
  const auto found = metadata_.find(key);
  if (found == metadata_.end()) return nullptr;
  if (found->second.array != array)
    throw ModelError(where_, str("metadata ", in_quotes(key), " is ",
                                 array ? kValueNames[found->second.type] : "an array",
                                 ", expected ", array ? "an array" : "one value"));
  return &found->second;
}

namespace {

[[noreturn]] void wrong(const std::string& where, std::string_view key, std::uint32_t type,
                        const char* expected) {
  throw ModelError(where, str("metadata ", in_quotes(key), " has type ", kValueNames[type],
                              ", expected ", expected));
}

}  // namespace

std::optional<std::int64_t> Gguf::whole(std::string_view key) const {
  const Value* value = find(key, false);
  if (!value) return std::nullopt;
  const auto number =
      is_whole(value->type) ? whole_at(value->type, value->bytes.data()) : std::nullopt;
  if (!number) wrong(where_, key, value->type, "a whole number below 2^63");
  return number;
}

std::optional<double> Gguf::number(std::string_view key) const {
  const Value* value = find(key, false);
  if (!value) return std::nullopt;
  if (value->type == kString || value->type == kBool) wrong(where_, key, value->type, "a number");
  return number_at(value->type, value->bytes.data());
}

std::optional<bool> Gguf::flag(std::string_view key) const {
  const Value* value = find(key, false);
  if (!value) return std::nullopt;
  if (value->type != kBool) wrong(where_, key, value->type, "bool");
  return loaded<std::uint8_t>(value->bytes.data()) != 0;
}

std::optional<std::string_view> Gguf::text(std::string_view key) const {
  const Value* value = find(key, false);
  if (!value) return std::nullopt;
  if (value->type != kString) wrong(where_, key, value->type, "string");
  return std::string_view(reinterpret_cast<const char*>(value->bytes.data()) + kLengthBytes,
                          value->bytes.size() - kLengthBytes);
}

std::vector<std::string_view> Gguf::texts(std::string_view key) const {
  const Value* value = find(key, true);
  if (!value) return {};
  if (value->type != kString) wrong(where_, key, value->type, "string");
  std::vector<std::string_view> all;
  all.reserve(value->count);
  const std::byte* at = value->bytes.data();
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const auto length = loaded<std::uint64_t>(at);
    all.emplace_back(reinterpret_cast<const char*>(at) + kLengthBytes, length);
    at += kLengthBytes + length;
  }
  return all;
}

std::vector<std::int64_t> Gguf::wholes(std::string_view key) const {
  const Value* value = find(key, true);
  if (!value) return {};
  if (!is_whole(value->type) && value->type != kBool)
    wrong(where_, key, value->type, "whole numbers");
  const std::uint32_t type = value->type == kBool ? std::uint32_t{kU8} : value->type;
  std::vector<std::int64_t> all;
  all.reserve(value->count);
  for (std::uint64_t i = 0; i < value->count; ++i) {
    const auto number = whole_at(type, value->bytes.data() + i * kValueBytes[type]);
    if (!number) wrong(where_, key, value->type, "whole numbers below 2^63");
    all.push_back(*number);
  }
  return all;
}

std::vector<double> Gguf::numbers(std::string_view key) const {
  const Value* value = find(key, true);
  if (!value) return {};
  if (value->type == kString || value->type == kBool) wrong(where_, key, value->type, "numbers");
  std::vector<double> all;
  all.reserve(value->count);
  for (std::uint64_t i = 0; i < value->count; ++i)
    all.push_back(number_at(value->type, value->bytes.data() + i * kValueBytes[value->type]));
  return all;
}

bool Gguf::is_array(std::string_view key) const {
  const auto found = metadata_.find(key);
  return found != metadata_.end() && found->second.array;
}

std::optional<std::filesystem::path> gguf_file(const std::filesystem::path& model) {
  std::error_code ignored;
  const auto is_it = [](const std::filesystem::path& file) { return file.extension() == ".gguf"; };
  if (!std::filesystem::is_directory(model, ignored)) {
    if (is_it(model) && std::filesystem::exists(model, ignored)) return model;
    return std::nullopt;
  }
  if (std::filesystem::exists(model / "config.json", ignored)) return std::nullopt;
  std::optional<std::filesystem::path> found;
  for (const auto& entry : std::filesystem::directory_iterator(model, ignored)) {
    if (!is_it(entry.path())) continue;
    if (found) return std::nullopt;
    found = entry.path();
  }
  return found;
}

}  // namespace pardec
