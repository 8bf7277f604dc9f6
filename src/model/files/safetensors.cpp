#include "src/model/files/safetensors.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <optional>
#include <stdexcept>

#include "src/model/files/checkpoint_advice.hpp"
#include "src/model/files/json_file.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

struct TypeEntry {
  StoredType type;
  const char* code;
  std::int64_t size;
};
constexpr std::array kStoredTypes{
    TypeEntry{StoredType::bf16, "BF16", 2}, TypeEntry{StoredType::f16, "F16", 2},
    TypeEntry{StoredType::f32, "F32", 4}, TypeEntry{StoredType::f64, "F64", 8}};
const TypeEntry& entry(StoredType type) { return kStoredTypes.at(static_cast<size_t>(type)); }

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit

std::string quoted(const std::string& name) { return one_line(name); }

std::optional<std::uint64_t> whole_number(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

Json parse_header(std::span<const std::byte> file, const std::string& where,
                  std::uint64_t& data_begin) {
  if (file.size() < kLengthBytes)
    throw ModelError(
        where, str("has ", file.size(), " bytes, expected a safetensors file (at least 8 bytes)"));
  if (const std::string why = why_no_safetensors(
          {reinterpret_cast<const char*>(file.data()), std::min<size_t>(file.size(), 64)});
      !why.empty())
    throw ModelError(where, why);
  std::uint64_t length = 0;
  for (size_t i = 0; i < kLengthBytes; ++i)
    length |= std::to_integer<std::uint64_t>(file[i]) << (8 * i);
  if (length > kLargestHeader)
    throw ModelError(where, str("says that its header has ", length, " bytes, expected at most ",
                                kLargestHeader, " (is it a safetensors file?)"));
  if (length > file.size() - kLengthBytes)
    throw ModelError(where, str("is truncated: its header has ", length, " bytes, but only ",
                                file.size() - kLengthBytes, " follow"));
  data_begin = kLengthBytes + length;
  const std::string_view text(reinterpret_cast<const char*>(file.data()) + kLengthBytes, length);
  if (too_deep(text) != std::string_view::npos)
    throw ModelError(where, str("has a header that is nested deeper than ", kDeepestJson,
                                " levels, expected two or three"));
  Json header = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (header.is_discarded())
    throw ModelError(where, str("has a header of ", length, " bytes that is not valid JSON"));
  if (!header.is_object())
    throw ModelError(where,
                     str("has a header that is JSON ", header.type_name(), ", expected an object"));
  return header;
}

/// Parses one entry of the header. Its offsets are not yet compared with those of others.
StoredTensor parse_entry(const Json& json, std::span<std::byte> data, const std::string& at,
                         const std::string& where) {
  const auto fail = [&](const std::string& what) {
    return ModelError(where, str("tensor ", at, " ", what));
  };
  for (const char* key : {"dtype", "shape", "data_offsets"})
    if (!json.is_object() || !json.contains(key)) throw fail(str("has no '", key, "'"));
  StoredTensor tensor;
  const Json& dtype = json.at("dtype");
  const auto type = std::find_if(kStoredTypes.begin(), kStoredTypes.end(),
                                 [&](const TypeEntry& e) { return dtype == e.code; });
  if (type == kStoredTypes.end() && !dtype.is_string())
    throw fail(str("has dtype ", one_line(dtype), ", expected a name such as \"BF16\""));
  tensor.type = type == kStoredTypes.end() ? StoredType::other : type->type;
  tensor.dtype = dtype.get<std::string>();

  const Json& shape = json.at("shape");
  if (!shape.is_array()) throw fail(str("has shape ", one_line(shape), ", expected an array"));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  std::uint64_t elements = 1;
  for (const Json& item : shape) {
    const auto size = whole_number(item);
    if (!size || *size > kMost || (*size != 0 && elements > kMost / *size))
      throw fail(str("has shape ", one_line(shape), ", expected sizes that a file can hold"));
    elements *= *size;
    tensor.shape.push_back(static_cast<std::int64_t>(*size));
  }

  const Json& offsets = json.at("data_offsets");
  const auto begin =
      offsets.is_array() && offsets.size() == 2 ? whole_number(offsets[0]) : std::nullopt;
  const auto end = begin ? whole_number(offsets[1]) : std::nullopt;
  if (!end || *begin > *end)
    throw fail(str("has data_offsets ", one_line(offsets), ", expected [begin, end]"));
  if (*end > data.size())
    throw fail(str("ends at byte ", *end, " of the data, but the file has only ", data.size(),
                   " (truncated, or a lying header)"));
  tensor.data = data.subspan(*begin, *end - *begin);
  if (tensor.type == StoredType::other) return tensor;
  const std::uint64_t expected = elements * static_cast<std::uint64_t>(type->size);
  if (*end - *begin != expected)
    throw fail(str("has ", *end - *begin, " bytes, expected ", expected, " for ", type->code,
                   " of shape ", shape_text(tensor.shape)));
  return tensor;
}

/// Checks that the tensors cover the data without gap or overlap.
void check_cover(const std::map<std::string, StoredTensor>& tensors, std::span<std::byte> data,
                 const std::string& where) {
  std::vector<std::pair<const std::string*, std::span<std::byte>>> pieces;
  for (const auto& [tensor_name, tensor] : tensors)
    if (!tensor.data.empty()) pieces.emplace_back(&tensor_name, tensor.data);
  std::sort(pieces.begin(), pieces.end(),
            [](const auto& a, const auto& b) { return a.second.data() < b.second.data(); });
  const std::byte* reached = data.data();
  for (const auto& [tensor_name, bytes] : pieces) {
    if (bytes.data() != reached)
      throw ModelError(
          where, str("tensor ", quoted(*tensor_name), " starts at byte ",
                     bytes.data() - data.data(), " of the data, expected ", reached - data.data(),
                     ": tensors ", bytes.data() < reached ? "overlap" : "leave a hole"));
    reached += bytes.size();
  }
  if (reached != data.data() + data.size())
    throw ModelError(where, str("has ", data.size(), " bytes of data, but its tensors cover only ",
                                reached - data.data()));
}

}  // namespace

std::string_view name(StoredType type) { return entry(type).code; }
std::int64_t size_of(StoredType type) { return entry(type).size; }

std::map<std::string, StoredTensor> parse_safetensors(std::span<std::byte> file,
                                                      const std::string& where) {
  std::uint64_t data_begin = 0;
  const Json header = parse_header(file, where, data_begin);
  const std::span<std::byte> data = file.subspan(data_begin);
  std::map<std::string, StoredTensor> tensors;
  for (const auto& [tensor_name, json] : header.items())
    if (tensor_name != "__metadata__")
      tensors.emplace(tensor_name, parse_entry(json, data, quoted(tensor_name), where));
  check_cover(tensors, data, where);
  return tensors;
}

void check_type(const StoredTensor& tensor, const std::string& name, const std::string& where) {
  if (tensor.type == StoredType::other)
    throw ModelError(where, str("tensor ", quoted(name), " has dtype ",
                                one_line(Json(tensor.dtype)), ", expected BF16, F16, F32 or F64"));
}

std::vector<TensorToWrite> with_stacks(std::vector<TensorToWrite> tensors,
                                       const std::vector<Parameter>& parameters) {
  struct Part {
    Parameter::Stack stack;
    std::int64_t expert;
    TensorToWrite tensor;
  };
  std::map<std::string, const Parameter*> stacked;
  for (const Parameter& parameter : parameters)
    if (parameter.stack) stacked.emplace(parameter.name, &parameter);
  std::vector<TensorToWrite> all;
  std::map<std::string, std::vector<Part>> parts;
  for (TensorToWrite& tensor : tensors) {
    const auto found = stacked.find(tensor.name);
    if (found == stacked.end()) {
      all.push_back(std::move(tensor));
      continue;
    }
    const Parameter& parameter = *found->second;
    std::vector<Part>& of_stack = parts[parameter.stack->name];
    if (of_stack.empty())
      all.push_back({parameter.stack->name, tensor.type, parameter.stack_shape(), nullptr});
    of_stack.push_back({*parameter.stack, parameter.expert, std::move(tensor)});
  }
  for (TensorToWrite& tensor : all) {
    const auto found = parts.find(tensor.name);
    if (found == parts.end()) continue;
    if (const Parameter::Stack& stack = found->second.front().stack;
        std::ssize(found->second) != stack.experts * stack.step)
      throw std::logic_error(str("not all parts of ", tensor.name));
    const auto size = static_cast<size_t>(size_of(tensor.type));
    tensor.fill = [size, parts = std::move(found->second)](std::span<std::byte> bytes) {
      for (const Part& part : parts) {
        const Parameter::Stack& stack = part.stack;
        const std::int64_t width = part.tensor.shape.back();
        std::int64_t rows = 1;
        for (const std::int64_t extent : part.tensor.shape) rows *= extent;
        rows /= width;
        std::vector<std::byte> own(static_cast<size_t>(rows * width) * size);
        part.tensor.fill(own);
        for (std::int64_t row = 0; row < rows; ++row)
          for (std::int64_t i = 0; i < width; ++i) {
            const std::int64_t at =
                (part.expert * rows + row) * stack.size + stack.first + i * stack.step;
            std::memcpy(bytes.data() + static_cast<size_t>(at) * size,
                        own.data() + static_cast<size_t>(row * width + i) * size, size);
          }
      }
    };
  }
  return all;
}

void write_safetensors(const std::filesystem::path& file,
                       const std::vector<TensorToWrite>& tensors) {
  OrderedJson header = OrderedJson::object();
  header["__metadata__"] = {{"format", "pt"}};
  std::vector<std::uint64_t> sizes;
  std::uint64_t offset = 0;
  for (const TensorToWrite& tensor : tensors) {
    std::uint64_t size = static_cast<std::uint64_t>(size_of(tensor.type));
    for (const std::int64_t extent : tensor.shape) size *= static_cast<std::uint64_t>(extent);
    header[tensor.name] = {{"dtype", name(tensor.type)},
                           {"shape", tensor.shape},
                           {"data_offsets", {offset, offset + size}}};
    sizes.push_back(size);
    offset += size;
  }
  std::string text = dump(header);
  while ((kLengthBytes + text.size()) % 64 != 0) text += ' ';  // aligns the data to a cache line
  std::string length(kLengthBytes, '\0');
  for (size_t i = 0; i < kLengthBytes; ++i)
    length[i] = static_cast<char>(text.size() >> (8 * i) & 0xFF);

  write_file(file, [&](const FileSink& put) {
    put(length.data(), length.size());
    put(text.data(), text.size());
    std::vector<std::byte> buffer;
    for (size_t i = 0; i < tensors.size(); ++i) {
      buffer.resize(sizes[i]);
      tensors[i].fill(buffer);
      put(buffer.data(), buffer.size());
    }
  });
}

}  // namespace pardec
