#include "src/model/files/quantised_weights.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "src/kernels/bf16.hpp"
#include "src/model/files/json_file.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

// ---- config.json ----

namespace {

using Method = Quantisation::Method;
constexpr const char* kKey = "quantization_config";

/// One object of the config, whose errors name the method.
class Section {
 public:
  Section(const Json& json, std::string method, std::string where)
      : json_(json), method_(std::move(method)), where_(std::move(where)) {}

  Json value(const char* key) const { return json_.value(key, Json()); }
  [[noreturn]] void refuse(const char* key, const std::string& expected) const {
    throw ModelError(where_,
                     str(kKey, " of method ", method_, ": '", key, "' is ", one_line(value(key)),
                         ", which is not supported; expected ", expected));
  }
  std::int64_t whole(const char* key, std::int64_t fallback) const {
    const Json at = value(key);
    if (at.is_null()) return fallback;
    if (!at.is_number_integer() || at < -1 || at > (1 << 22)) refuse(key, "a whole number");
    return at.get<std::int64_t>();
  }
  /// The text of a key in lower case.
  std::string text(const char* key, const char* fallback) const {
    const Json at = value(key);
    if (at.is_null()) return fallback;
    if (!at.is_string()) refuse(key, "a text");
    return lower_ascii(at.get<std::string>());
  }
  /// Refuses a key that is neither null, false nor empty.
  void expect_none(const char* key) const {
    const Json at = value(key);
    if (!at.is_null() && at != false && !(at.is_structured() && at.empty()))
      refuse(key, "no such key");
  }
  /// The two sizes of a block; zeros: the key is null.
  std::pair<std::int64_t, std::int64_t> block(const char* key) const {
    const Json at = value(key);
    if (at.is_null()) return {0, 0};
    const auto is_size = [](const Json& size) {
      return size.is_number_integer() && size > 0 && size <= (1 << 22);
    };
    if (!at.is_array() || at.size() != 2 || !is_size(at[0]) || !is_size(at[1]))
      refuse(key, "two sizes, e.g. [128, 128]");
    return {at[0].get<std::int64_t>(), at[1].get<std::int64_t>()};
  }

 private:
  const Json& json_;
  std::string method_, where_;
};

std::int64_t group_of(const Section& section, const char* key, std::int64_t fallback) {
  const std::int64_t group = section.whole(key, fallback);
  if (group == 0) section.refuse(key, "a number of columns, or -1");
  return std::max<std::int64_t>(group, 0);
}

Quantisation read_gptq(const Section& section) {
  Quantisation read{.method = Method::gptq};
  const auto bits = static_cast<int>(section.whole("bits", 0));
  if (bits != 2 && bits != 4 && bits != 8) section.refuse("bits", "2, 4 or 8");
  read.bits = {bits};
  read.group = group_of(section, "group_size", 128);
  const std::string format = section.text("checkpoint_format", "gptq");
  if (format != "gptq" && format != "gptq_v2")
    section.refuse("checkpoint_format", "gptq or gptq_v2");
  read.zero_less_one = format == "gptq";
  if (section.text("pack_dtype", "int32") != "int32") section.refuse("pack_dtype", "int32");
  for (const char* key : {"dynamic", "is_marlin_format", "rotation"}) section.expect_none(key);
  read.name = str("GPTQ, ", bits, " bits");
  return read;
}

Quantisation read_awq(const Section& section) {
  Quantisation read{.method = Method::awq};
  const char* const bits_key = section.value("bits").is_null() ? "w_bit" : "bits";
  if (section.whole(bits_key, 4) != 4) section.refuse(bits_key, "4");
  read.bits = {4};
  const bool short_key = section.value("q_group_size").is_null();
  read.group = group_of(section, short_key ? "group_size" : "q_group_size", 128);
  for (const char* key : {"version", "format"})
    if (section.text(key, "gemm") != "gemm") section.refuse(key, "gemm");
  read.name = "AWQ, 4 bits";
  return read;
}

Quantisation read_fp8(const Section& section) {
  Quantisation read{.method = Method::fp8, .name = "FP8"};
  if (const std::string format = section.text("fmt", "e4m3");
      format != "e4m3" && format != "float8_e4m3fn")
    section.refuse("fmt", "e4m3");
  std::tie(read.block_rows, read.block_columns) = section.block("weight_block_size");
  return read;
}

Quantisation read_compressed(const Section& section, const Json& json, const std::string& method,
                             const std::string& where) {
  Quantisation read{.method = Method::compressed, .name = "compressed-tensors"};
  const std::array<const char*, 5> formats{"float-quantized", "naive-quantized", "int-quantized",
                                           "pack-quantized", "mixed-precision"};
  const auto check_format = [&](const Section& at) {
    const std::string format = at.text("format", "float-quantized");
    if (std::find(formats.begin(), formats.end(), format) == formats.end())
      at.refuse("format", join({formats.begin(), formats.end()}, ", "));
  };
  check_format(section);
  section.expect_none("transform_config");
  if (const Json sparsity = section.value("sparsity_config"); sparsity.is_object()) {
    const Section at(sparsity, method + ", sparsity_config", where);
    if (at.text("format", "dense") != "dense") at.refuse("format", "dense");
  }
  const Json groups = json.value("config_groups", Json());
  if (!groups.is_object() || groups.empty())
    section.refuse("config_groups", "an object of groups with 'weights'");
  for (const auto& [name, group] : groups.items()) {
    if (!group.is_object()) section.refuse("config_groups", "objects with 'weights'");
    check_format(Section(group, str(method, ", ", name), where));
    const Json weights = group.value("weights", Json());
    if (weights.is_null()) continue;  // only activations
    const Section at(weights.is_object() ? weights : group, str(method, ", ", name, ".weights"),
                     where);
    if (!weights.is_object()) at.refuse("weights", "an object");
    const auto bits = static_cast<int>(at.whole("num_bits", 8));
    const std::string type = at.text("type", "int");
    if (type != "int" && type != "float") at.refuse("type", "int or float");
    if (bits != 8 && (type != "int" || (bits != 2 && bits != 4)))
      at.refuse("num_bits", type == "int" ? "2, 4 or 8" : "8");
    if (type == "int") read.bits.insert(bits);
    const std::string strategy = at.text("strategy", "tensor");
    const std::array<const char*, 4> strategies{"tensor", "channel", "group", "block"};
    if (std::find(strategies.begin(), strategies.end(), strategy) == strategies.end())
      at.refuse("strategy", join({strategies.begin(), strategies.end()}, ", "));
    if (strategy != "block") continue;
    const auto block = at.block("block_structure");
    if (block.first == 0 ||
        (read.block_rows > 0 && block != std::pair(read.block_rows, read.block_columns)))
      at.refuse("block_structure", "two sizes, the same in all groups");
    std::tie(read.block_rows, read.block_columns) = block;
  }
  return read;
}

}  // namespace

std::optional<Quantisation> parse_quantisation(const Json& config, const std::string& where) {
  const Json json = config.is_object() ? config.value(kKey, Json()) : Json();
  if (json.is_null()) return std::nullopt;
  const Json method = json.is_object() ? json.value("quant_method", Json()) : Json();
  const std::string name = method.is_string() ? method.get<std::string>() : "";
  const Section section(json, name, where);
  if (name == "gptq") return read_gptq(section);
  if (name == "awq") return read_awq(section);
  if (name == "fp8" || name == "fbgemm_fp8") return read_fp8(section);
  if (name == "compressed-tensors") return read_compressed(section, json, name, where);
  if (name == "mxfp4") return Quantisation{.method = Method::mxfp4, .name = "MXFP4"};
  throw ModelError(where,
                   str(kKey, ": 'quant_method' is ", one_line(method),
                       ", which is not supported; supported are awq, compressed-tensors, "
                       "fbgemm_fp8, fp8, gptq, mxfp4, and checkpoints that are not quantised"));
}

// ---- tensors ----

namespace {

using Entry = CheckpointFiles::Entry;
using Tensors = std::map<std::string, Entry>;

constexpr int kWordBits = 32;

std::int64_t bytes_of(const std::string& dtype) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 10> kSizes{{{"F8_E4M3", 1},
                                                                              {"U8", 1},
                                                                              {"F8_E8M0", 1},
                                                                              {"I8", 1},
                                                                              {"BF16", 2},
                                                                              {"F16", 2},
                                                                              {"F32", 4},
                                                                              {"I32", 4},
                                                                              {"I64", 8},
                                                                              {"F64", 8}}};
  for (const auto& [name, size] : kSizes)
    if (name == dtype) return size;
  return 0;
}

/// The value of an 8-bit float with 4 bits of exponent (bias 7) and 3 of mantissa, without
/// infinities (Micikevicius et al. 2022, arXiv:2209.05433).
float from_e4m3(std::uint8_t byte) {
  const int exponent = byte >> 3 & 0xF, mantissa = byte & 7;
  const float sign = (byte & 0x80) != 0 ? -1.0f : 1.0f;
  if (exponent == 15 && mantissa == 7) return std::numeric_limits<float>::quiet_NaN();
  const float size = exponent == 0 ? static_cast<float>(mantissa) * 0x1p-9f
                                   : std::bit_cast<float>((exponent + 120) << 23 | mantissa << 20);
  return sign * size;
}

/// A tensor as stored, with access to its elements.
class Elements {
 public:
  Elements() = default;
  explicit Elements(const Entry& entry) : entry_(entry), size_(bytes_of(entry.tensor.dtype)) {}

  bool there() const { return size_ > 0; }
  std::int64_t count() const { return std::ssize(entry_.tensor.data) / size_; }
  std::int64_t whole(std::int64_t at) const {
    if (size_ == 1) return as<std::int8_t>(at);
    return size_ == 4 ? as<std::int32_t>(at) : as<std::int64_t>(at);
  }
  std::uint32_t word(std::int64_t at) const { return as<std::uint32_t>(at); }
  float e4m3(std::int64_t at) const { return from_e4m3(as<std::uint8_t>(at)); }
  float number(std::int64_t at) const {
    const std::string& dtype = entry_.tensor.dtype;
    if (dtype == "F32") return as<float>(at);
    if (dtype == "BF16") return widen(as<std::uint16_t>(at));
    if (dtype == "F16") return widen_half(as<std::uint16_t>(at));
    const auto exponent = as<std::uint8_t>(at);  // F8_E8M0
    return exponent == 255 ? std::numeric_limits<float>::quiet_NaN()
                           : std::ldexp(1.0f, static_cast<int>(exponent) - 127);
  }
  /// The FP4 number (E2M1) of half a byte; the lower half comes first.
  float e2m1(std::int64_t at) const {
    constexpr std::array<float, 8> kSizes{0, 0.5f, 1, 1.5f, 2, 3, 4, 6};
    const int code = as<std::uint8_t>(at / 2) >> (4 * (at % 2)) & 0xF;
    return code < 8 ? kSizes[static_cast<size_t>(code)] : -kSizes[static_cast<size_t>(code - 8)];
  }

 private:
  template <typename T>
  T as(std::int64_t at) const {
    T value;
    std::memcpy(&value, entry_.tensor.data.data() + static_cast<size_t>(at) * sizeof value,
                sizeof value);
    return value;
  }

  Entry entry_;  // keeps the bytes alive
  std::int64_t size_ = 0;
};

/// One quantised weight: reads its rows.
struct Weight {
  enum class Layout {
    e4m3,     ///< one byte a number
    whole,    ///< one byte a number, I8
    mxfp4,    ///< half a byte a number
    columns,  ///< words of neighbouring columns: compressed-tensors
    gptq,     ///< words of neighbouring columns, stored by column and row
    awq,      ///< words of 8 rows, stored by column and row
  };
  Layout layout = Layout::e4m3;
  std::int64_t rows = 0, columns = 0;
  int bits = 8;
  Elements numbers, scales, zeros;
  std::vector<std::int32_t> groups;  ///< of each column
  std::int64_t group_count = 1;
  std::int64_t rows_of_scale = 1;  ///< rows that share a scale
  bool zero_less_one = false;

  void read(std::int64_t row, std::span<float> out) const {
    std::vector<std::pair<float, float>> of_groups;  // zero, scale
    for (std::int64_t group = 0; group < group_count; ++group)
      of_groups.emplace_back(static_cast<float>(zero_of(row, group)), scale_of(row, group));
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto at = static_cast<size_t>(column);
      const auto& [zero, scale] = of_groups[static_cast<size_t>(groups[at])];
      out[at] = (number(row, column) - zero) * scale;
    }
  }

 private:
  bool by_column() const { return layout == Layout::gptq || layout == Layout::awq; }
  /// An integer of `bits` bits in a word.
  std::int64_t piece(std::uint32_t word, std::int64_t index) const {
    return word >> (bits * index) & ((1u << bits) - 1);
  }
  /// AWQ's words have rows 0, 2, 4, 6, 1, 3, 5, 7 from the lowest bits on.
  static std::int64_t place_in_word(std::int64_t row) { return row % 2 * 4 + row % 8 / 2; }

  float number(std::int64_t row, std::int64_t column) const {
    const std::int64_t in_word = kWordBits / bits;
    switch (layout) {
      case Layout::e4m3:
        return numbers.e4m3(row * columns + column);
      case Layout::whole:
        return static_cast<float>(numbers.whole(row * columns + column));
      case Layout::mxfp4:
        return numbers.e2m1(row * columns + column);
      case Layout::columns: {
        const std::int64_t words = (columns + in_word - 1) / in_word;
        return static_cast<float>(
            piece(numbers.word(row * words + column / in_word), column % in_word));
      }
      case Layout::gptq:
        return static_cast<float>(
            piece(numbers.word(column / in_word * rows + row), column % in_word));
      case Layout::awq:
        break;
    }
    return static_cast<float>(
        piece(numbers.word(column * (rows / in_word) + row / in_word), place_in_word(row)));
  }

  std::int64_t zero_of(std::int64_t row, std::int64_t group) const {
    const std::int64_t in_word = kWordBits / bits;
    const bool centred =
        layout == Layout::e4m3 || layout == Layout::whole || layout == Layout::mxfp4;
    if (!zeros.there()) return centred ? 0 : std::int64_t{1} << (bits - 1);
    switch (layout) {
      case Layout::whole:
        return zeros.whole(row / rows_of_scale * group_count + group);
      case Layout::columns:
        return piece(zeros.word(row / in_word * group_count + group), row % in_word);
      case Layout::gptq: {
        const std::int64_t stored =
            piece(zeros.word(group * (rows / in_word) + row / in_word), row % in_word);
        return zero_less_one ? (stored + 1) & ((1 << bits) - 1) : stored;
      }
      default:
        return piece(zeros.word(group * (rows / in_word) + row / in_word), place_in_word(row));
    }
  }

  float scale_of(std::int64_t row, std::int64_t group) const {
    return scales.number(by_column() ? group * rows + row
                                     : row / rows_of_scale * group_count + group);
  }
};

/// Makes the weight of one module.
class Joiner {
 public:
  Joiner(Tensors& tensors, const Quantisation& quantisation, std::string module)
      : tensors_(tensors), quantisation_(quantisation), module_(std::move(module)) {}

  void join(const std::string& main) {
    if (quantisation_.method == Method::mxfp4) {
      join_blocks();
      put();
      return;
    }
    const bool packed = main != "weight";
    main_ = part(main, packed ? "I32" : "F8_E4M3, I8");
    if (main == "qweight") {
      join_by_column();
    } else if (packed) {
      join_packed();
    } else {
      join_bytes();
    }
    put();
  }

 private:
  using Shape = std::vector<std::int64_t>;

  std::string name(const std::string& part) const {
    return str(module_, quantisation_.method == Method::mxfp4 ? "_" : ".", part);
  }
  [[noreturn]] void fail(const std::string& part, const std::string& what) const {
    throw ModelError(main_.file, str("tensor ", one_line(name(part)), " ", what));
  }
  /// A tensor of the module. ModelError: it is missing, or its type is not one of `types`.
  Entry part(const std::string& part, std::string_view types) {
    const auto found = tensors_.find(name(part));
    if (found == tensors_.end())
      fail(part, str("is missing, expected one beside the other tensors of ", module_));
    const Entry entry = found->second;
    if (main_.file.empty()) main_.file = entry.file;
    const std::string& dtype = entry.tensor.dtype;
    std::int64_t bytes = bytes_of(dtype);
    if (bytes == 0 || types.find(dtype) == std::string_view::npos)
      fail(part, str("has dtype ", one_line(dtype), ", expected ", types));
    for (const std::int64_t size : entry.tensor.shape) bytes *= size;
    if (bytes != std::ssize(entry.tensor.data))
      fail(part, str("has ", entry.tensor.data.size(), " bytes, expected ", bytes, " for ", dtype,
                     " of shape ", shape_text(entry.tensor.shape)));
    used_.push_back(name(part));
    return entry;
  }
  bool has(const std::string& part) const { return tensors_.contains(name(part)); }
  Elements elements(const std::string& part_name, std::string_view types, const Shape& shape) {
    const Entry entry = part(part_name, types);
    if (entry.tensor.shape != shape) {
      fail(part_name,
           str("has shape ", shape_text(entry.tensor.shape), ", expected ", shape_text(shape)));
    }
    return Elements(entry);
  }
  void check_matrix(const std::string& part) const {
    const Shape& shape = main_.tensor.shape;
    if (shape.size() != 2 || shape[0] < 1 || shape[1] < 1)
      fail(part, str("has shape ", shape_text(shape), ", expected that of a matrix"));
  }

  /// `columns_of_group` 0: one group has all columns.
  void group_columns(std::int64_t columns_of_group) {
    Weight& w = *weight_;
    if (columns_of_group == 0) columns_of_group = w.columns;
    w.group_count = (w.columns + columns_of_group - 1) / columns_of_group;
    w.groups.resize(static_cast<size_t>(w.columns));
    for (std::int64_t column = 0; column < w.columns; ++column)
      w.groups[static_cast<size_t>(column)] = static_cast<std::int32_t>(column / columns_of_group);
  }
  /// Reads the groups of columns that the file lists (act-order).
  void take_groups(const std::string& part) {
    Weight& w = *weight_;
    if (!has(part)) return;
    const Elements listed = elements(part, "I32", {w.columns});
    bool all_none = true;  // compressed-tensors: -1 means that columns are in order
    for (std::int64_t column = 0; column < w.columns; ++column)
      all_none = all_none && listed.whole(column) == -1;
    for (std::int64_t column = 0; column < w.columns && !all_none; ++column) {
      const std::int64_t group = listed.whole(column);
      if (group < 0 || group >= w.group_count)
        fail(part, str("has group ", group, " for column ", column, ", expected 0 to ",
                       w.group_count - 1));
      w.groups[static_cast<size_t>(column)] = static_cast<std::int32_t>(group);
    }
  }

  void join_by_column() {
    check_matrix("qweight");
    Weight& w = *weight_;
    const bool gptq = quantisation_.method == Method::gptq;
    w.layout = gptq ? Weight::Layout::gptq : Weight::Layout::awq;
    w.bits = *quantisation_.bits.begin();
    const std::int64_t in_word = kWordBits / w.bits;
    const Shape& shape = main_.tensor.shape;
    w.columns = gptq ? shape[0] * in_word : shape[0];
    w.rows = gptq ? shape[1] : shape[1] * in_word;
    if (w.rows % in_word != 0)
      fail("qweight", str("has shape ", shape_text(shape), ", expected a multiple of ", in_word,
                          " rows of the weight"));
    group_columns(quantisation_.group);
    w.scales = elements("scales", "F16, BF16, F32", {w.group_count, w.rows});
    if (has("qzeros")) w.zeros = elements("qzeros", "I32", {w.group_count, w.rows / in_word});
    if (gptq) take_groups("g_idx");
    w.zero_less_one = quantisation_.zero_less_one;
    w.numbers = Elements(main_);
  }

  void join_packed() {
    check_matrix("weight_packed");
    Weight& w = *weight_;
    w.layout = Weight::Layout::columns;
    const Elements shape = elements("weight_shape", "I64, I32", {2});
    const std::int64_t words = main_.tensor.shape[1];
    w.rows = shape.whole(0), w.columns = shape.whole(1);
    w.bits = 0;
    for (const int bits : quantisation_.bits)
      if (const std::int64_t in_word = kWordBits / bits;
          w.columns > (words - 1) * in_word && w.columns <= words * in_word)
        w.bits = bits;
    if (w.bits == 0 || w.rows != main_.tensor.shape[0])
      fail("weight_packed",
           str("has shape ", shape_text(main_.tensor.shape), ", which does not fit weight_shape ",
               shape_text(Shape{w.rows, w.columns}), " and 'num_bits' of the config"));
    take_scales("weight_scale");
    const std::int64_t in_word = kWordBits / w.bits;
    if (has("weight_zero_point"))
      w.zeros =
          elements("weight_zero_point", "I32", {(w.rows + in_word - 1) / in_word, w.group_count});
    take_groups("weight_g_idx");
    w.numbers = Elements(main_);
  }

  void join_bytes() {
    check_matrix("weight");
    Weight& w = *weight_;
    const bool whole = main_.tensor.dtype == "I8";
    w.layout = whole ? Weight::Layout::whole : Weight::Layout::e4m3;
    w.rows = main_.tensor.shape[0], w.columns = main_.tensor.shape[1];
    take_scales(has("weight_scale_inv") ? "weight_scale_inv" : "weight_scale");
    if (whole && has("weight_zero_point")) {
      const Entry zeros = part("weight_zero_point", "I8, I32, I64");
      if (Elements(zeros).count() != w.scales.count())
        fail("weight_zero_point", str("has shape ", shape_text(zeros.tensor.shape),
                                      ", expected as many numbers as there are scales"));
      w.zeros = Elements(zeros);
    }
    w.numbers = Elements(main_);
  }

  void join_blocks() {
    main_ = part("blocks", "U8");
    const Shape shape = main_.tensor.shape;
    constexpr std::int64_t kBlock = 32;
    if (shape.size() != 4 || shape[3] != kBlock / 2 || std::ssize(main_.tensor.data) == 0)
      fail("blocks", str("has shape ", shape_text(shape), ", expected [experts, rows, blocks, ",
                         kBlock / 2, "]"));
    Weight& w = *weight_;
    w.layout = Weight::Layout::mxfp4;
    stack_ = {shape[0], shape[1]};
    w.rows = shape[0] * shape[1], w.columns = shape[2] * kBlock;
    group_columns(kBlock);
    w.scales = elements("scales", "U8", {shape[0], shape[1], shape[2]});
    w.numbers = Elements(main_);
  }

  /// Scales of a weight that is stored by rows: one number, one for each row, one for each row and
  /// group of columns, or one for each block.
  void take_scales(const std::string& part_name) {
    Weight& w = *weight_;
    const Entry entry = part(part_name, "BF16, F16, F32, F8_E8M0");
    const Shape& shape = entry.tensor.shape;
    const auto above = [](std::int64_t size, std::int64_t of) { return (size + of - 1) / of; };
    const Quantisation& q = quantisation_;
    std::int64_t columns_of_group = 0;
    w.scales = Elements(entry);
    if (w.scales.count() == 1) {
      w.rows_of_scale = w.rows;
    } else if (q.block_rows > 0 &&
               shape == Shape{above(w.rows, q.block_rows), above(w.columns, q.block_columns)}) {
      w.rows_of_scale = q.block_rows, columns_of_group = q.block_columns;
    } else if (shape.size() == 2 && shape[0] == w.rows && shape[1] > 0 &&
               w.columns % shape[1] == 0) {
      columns_of_group = w.columns / shape[1];
    } else if (shape != Shape{w.rows}) {
      fail(part_name,
           str("has shape ", shape_text(shape), ", which does not fit a weight of shape ",
               shape_text(Shape{w.rows, w.columns}),
               q.block_rows > 0
                   ? str(" with blocks of ", shape_text(Shape{q.block_rows, q.block_columns}))
                   : ""));
    }
    group_columns(columns_of_group);
  }

  void put() {
    Entry joined{.mapping = main_.mapping, .file = main_.file};
    joined.tensor.type = StoredType::rows;
    joined.tensor.shape = stack_.empty() ? Shape{weight_->rows} : stack_;
    joined.tensor.shape.push_back(weight_->columns);
    joined.tensor.data = main_.tensor.data;
    joined.tensor.dtype = main_.tensor.dtype;
    joined.tensor.read_row = [weight = std::shared_ptr<const Weight>(weight_)](
                                 std::int64_t row, std::span<float> out) {
      weight->read(row, out);
    };
    for (const std::string& used : used_) tensors_.erase(used);
    for (const char* of_activations : {"input_scale", "activation_scale", "input_zero_point"})
      tensors_.erase(name(of_activations));
    if (!tensors_.emplace(stack_.empty() ? name("weight") : module_, std::move(joined)).second)
      fail("weight", "is there beside the quantised weight of the same module");
  }

  Tensors& tensors_;
  const Quantisation& quantisation_;
  std::string module_;
  Entry main_;
  std::vector<std::string> used_;
  Shape stack_;  // sizes of a stack before its columns; empty: the weight is a matrix
  std::shared_ptr<Weight> weight_ = std::make_shared<Weight>();
};

/// The part of a module that holds its numbers; empty: the tensor is another.
std::string main_part(const std::string& tensor, const std::string& dtype, Method method) {
  const auto is = [&](std::string_view part) { return tensor.ends_with(str(".", part)); };
  if (method == Method::mxfp4) return dtype == "U8" && tensor.ends_with("_blocks") ? "blocks" : "";
  const bool by_column = method == Method::gptq || method == Method::awq;
  if (by_column) return is("qweight") ? "qweight" : "";
  if (method == Method::compressed && is("weight_packed")) return "weight_packed";
  const bool bytes = dtype == "F8_E4M3" || (method == Method::compressed && dtype == "I8");
  return bytes && is("weight") ? "weight" : "";
}

}  // namespace

void join_quantised(Tensors& tensors, const Quantisation& quantisation) {
  std::vector<std::pair<std::string, std::string>> modules;
  for (const auto& [name, entry] : tensors)
    if (const std::string main = main_part(name, entry.tensor.dtype, quantisation.method);
        !main.empty())
      modules.emplace_back(name.substr(0, name.size() - main.size() - 1), main);
  if (modules.empty() && !tensors.empty())
    throw ModelError(tensors.begin()->second.file,
                     str("is of a checkpoint whose 'quantization_config' says ", quantisation.name,
                         ", but no tensor is quantised in this way"));
  for (const auto& [module, main] : modules) Joiner(tensors, quantisation, module).join(main);
}

}  // namespace pardec
