#include "src/model/safetensors.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <set>

#include "src/model/json_file.hpp"
#include "src/model/parameters.hpp"
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
const TypeEntry& entry(StoredType type) { return kStoredTypes[static_cast<size_t>(type)]; }

constexpr std::uint64_t kLengthBytes = 8;
constexpr std::uint64_t kLargestHeader = 100'000'000;  // the format's own limit

/// Text from a file, made fit for a one-line message.
std::string shown(const Json& value) {
  std::string text = dump(value);
  if (text.size() > 80) text = text.substr(0, 77) + "...";
  return repair_utf8(text);
}
std::string quoted(const std::string& name) { return shown(Json(name)); }

std::optional<std::uint64_t> whole_number(const Json& value) {
  if (!value.is_number_unsigned()) return std::nullopt;
  return value.get<std::uint64_t>();
}

Json parse_header(std::span<const std::byte> file, const std::string& where,
                  std::uint64_t& data_begin) {
  if (file.size() < kLengthBytes)
    throw ModelError(
        where, str("has ", file.size(), " bytes, expected a safetensors file (at least 8 bytes)"));
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

/// One entry of the header, its offsets not yet compared with the others'.
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
  if (type == kStoredTypes.end())
    throw fail(str("has dtype ", shown(dtype), ", expected BF16, F16, F32 or F64"));
  tensor.type = type->type;

  const Json& shape = json.at("shape");
  if (!shape.is_array()) throw fail(str("has shape ", shown(shape), ", expected an array"));
  constexpr std::uint64_t kMost = std::numeric_limits<std::int64_t>::max() / 8;
  std::uint64_t elements = 1;
  for (const Json& item : shape) {
    const auto size = whole_number(item);
    if (!size || *size > kMost || (*size != 0 && elements > kMost / *size))
      throw fail(str("has shape ", shown(shape), ", expected sizes that a file can hold"));
    elements *= *size;
    tensor.shape.push_back(static_cast<std::int64_t>(*size));
  }

  const Json& offsets = json.at("data_offsets");
  const auto begin =
      offsets.is_array() && offsets.size() == 2 ? whole_number(offsets[0]) : std::nullopt;
  const auto end = begin ? whole_number(offsets[1]) : std::nullopt;
  if (!end || *begin > *end)
    throw fail(str("has data_offsets ", shown(offsets), ", expected [begin, end]"));
  if (*end > data.size())
    throw fail(str("ends at byte ", *end, " of the data, but the file has only ", data.size(),
                   " (truncated, or a lying header)"));
  const std::uint64_t expected = elements * static_cast<std::uint64_t>(type->size);
  if (*end - *begin != expected)
    throw fail(str("has ", *end - *begin, " bytes, expected ", expected, " for ", type->code,
                   " of shape ", shape_text(tensor.shape)));
  tensor.data = data.subspan(*begin, *end - *begin);
  return tensor;
}

/// Offsets must cover the data without hole or overlap.
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

std::filesystem::path single_file(const std::filesystem::path& folder) {
  return folder / "model.safetensors";
}
std::filesystem::path index_file(const std::filesystem::path& folder) {
  return folder / "model.safetensors.index.json";
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

MappedFile::MappedFile(const std::filesystem::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);  // a FIFO is told below
  if (fd < 0) throw ModelError(file.string(), str("cannot be opened: ", std::strerror(errno)));
  struct stat info {};
  const bool known = ::fstat(fd, &info) == 0;
  if (!known || !S_ISREG(info.st_mode)) {
    ::close(fd);
    throw ModelError(file.string(), "is not a regular file");
  }
  const size_t size = static_cast<size_t>(info.st_size);
  void* address = nullptr;
  // Writable so that weights in it can be trained; private, so that the file stays as it is.
  if (size > 0)
    address = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, 0);
  const int error = errno;
  ::close(fd);
  if (address == MAP_FAILED)
    throw ModelError(file.string(), str("cannot be mapped: ", std::strerror(error)));
  bytes_ = {static_cast<std::byte*>(address), size};
}

MappedFile::~MappedFile() {
  if (!bytes_.empty()) ::munmap(bytes_.data(), bytes_.size());
}

void MappedFile::release(std::span<std::byte> part) const {
  // Whole pages alone: the rest of the first and the last is another's.
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(part.data());
  const std::uintptr_t first = (begin + page - 1) / page * page;
  const std::uintptr_t last = (begin + part.size()) / page * page;
  if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, MADV_DONTNEED);
}

void CheckpointFiles::add_file(const std::filesystem::path& file) {
  const auto mapping = std::make_shared<const MappedFile>(file);
  for (auto& [tensor_name, tensor] : parse_safetensors(mapping->bytes(), file.string())) {
    const auto [at, fresh] =
        tensors_.emplace(tensor_name, Entry{std::move(tensor), mapping, file.string()});
    if (!fresh)
      throw ModelError(file.string(), str("has tensor ", quoted(tensor_name), ", which ",
                                          at->second.file, " has too"));
  }
}

CheckpointFiles::CheckpointFiles(const std::filesystem::path& folder) {
  std::error_code ignored;
  if (std::filesystem::exists(single_file(folder), ignored)) {
    where_ = single_file(folder).string();
    add_file(single_file(folder));
    return;
  }
  const std::filesystem::path index = index_file(folder);
  where_ = index.string();
  if (!std::filesystem::exists(index, ignored))
    throw ModelError(folder.string(),
                     "has no weights, expected model.safetensors or model.safetensors.index.json");
  const Json json = read_model_json(index);
  const Json weight_map = json.is_object() ? json.value("weight_map", Json()) : Json();
  if (!weight_map.is_object() || weight_map.empty())
    throw ModelError(where_,
                     "has no 'weight_map', expected an object of tensor names and shard files");
  std::set<std::string> shards;
  for (const auto& [tensor_name, shard] : weight_map.items()) {
    // A shard lies beside its index; a path would reach out of the folder.
    if (!shard.is_string() || shard.get<std::string>().find('/') != std::string::npos)
      throw ModelError(where_, str("names shard ", shown(shard), " for tensor ",
                                   quoted(tensor_name), ", expected a file name"));
    shards.insert(shard.get<std::string>());
  }
  for (const std::string& shard : shards) {
    if (!std::filesystem::exists(folder / shard, ignored))
      throw ModelError(where_, str("names shard ", quoted(shard), ", which is not in the folder"));
    add_file(folder / shard);
  }
  for (const auto& [tensor_name, shard] : weight_map.items()) {
    const auto found = tensors_.find(tensor_name);
    const std::string file = (folder / shard.get<std::string>()).string();
    if (found == tensors_.end() || found->second.file != file)
      throw ModelError(
          file, str("has no tensor ", quoted(tensor_name), ", which ", where_, " says it has"));
  }
}

const CheckpointFiles::Entry& CheckpointFiles::find(const Parameter& parameter) const {
  const auto found = tensors_.find(parameter.name);
  if (found == tensors_.end())
    throw ModelError(
        where_,
        str("has no tensor '", parameter.name, "' of shape ", shape_text(parameter.shape),
            parameter.role == Role::head ? ", which a config without tie_word_embeddings needs"
                                         : ", which the config asks for"));
  if (found->second.tensor.shape != parameter.shape)
    throw ModelError(found->second.file, str("tensor '", parameter.name, "' has shape ",
                                             shape_text(found->second.tensor.shape), ", expected ",
                                             shape_text(parameter.shape), " from the config"));
  return found->second;
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
  while ((kLengthBytes + text.size()) % 64 != 0) text += ' ';  // data on a cache line
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
