#include "src/tokenizer/bpe.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "src/support/error.hpp"
#include "src/support/text.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

constexpr std::size_t kIndexedCharacters = 0x3000;

std::uint64_t pair_key(Token left, Token right) {
  return static_cast<std::uint64_t>(left) << 32 | static_cast<std::uint32_t>(right);
}

/// The two tokens of `"a b"` or `["a", "b"]`.
std::pair<std::string_view, std::string_view> read_pair(const Json& json,
                                                        const std::string& where) {
  if (json.is_string()) {
    const std::string_view text = json.get_ref<const std::string&>();
    const std::size_t space = text.find(' ');
    if (space != std::string_view::npos && text.find(' ', space + 1) == std::string_view::npos) {
      return {text.substr(0, space), text.substr(space + 1)};
    }
  } else if (json.is_array() && json.size() == 2 && json[0].is_string() && json[1].is_string()) {
    return {json[0].get_ref<const std::string&>(), json[1].get_ref<const std::string&>()};
  }
  throw ConfigError(
      str(where, " is ", dump(json), R"(, expected "left right" or ["left", "right"])"));
}

}  // namespace

void Bpe::MergeTable::reserve(std::size_t merges) {
  const std::size_t size = std::bit_ceil(std::max<std::size_t>(2 * merges, 2));
  entries_.assign(size, Entry{});
  shift_ = 64 - std::countr_zero(size);
}

std::size_t Bpe::MergeTable::slot(std::uint64_t key) const {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
  std::size_t at = (key ^ key >> 32) * kGolden >> shift_;
  while (entries_[at].key != key && entries_[at].key != kEmpty)
    at = (at + 1) & (entries_.size() - 1);
  return at;
}

void Bpe::MergeTable::insert(Token left, Token right, Merge merge) {
  const std::uint64_t key = pair_key(left, right);
  entries_[slot(key)] = {key, merge};
}

const Bpe::Merge* Bpe::MergeTable::find(Token left, Token right) const {
  const Entry& entry = entries_[slot(pair_key(left, right))];
  return entry.key == kEmpty ? nullptr : &entry.merge;
}

Bpe::Bpe(const Json& json, const std::string& where)
    : vocabulary_(JsonReader(json, where).any("vocab"), where + ".vocab") {
  JsonReader options(json, where);
  options.any("type");
  options.any("vocab");
  if (options.optional("dropout", 0.0) != 0.0) {
    throw ConfigError(
        str(options.where("dropout"), " is not 0, expected no dropout when generating"));
  }
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    const auto affix = options.optional<std::string>(key, "");
    if (!affix.empty())
      throw ConfigError(str(options.where(key), " is '", affix, "', which is not supported"));
  }
  if (const auto unknown = options.maybe<std::string>("unk_token")) {
    unknown_ = vocabulary_.id(*unknown);
    if (!unknown_) {
      throw ConfigError(
          str(options.where("unk_token"), " is '", *unknown, "', which the vocabulary lacks"));
    }
  }
  fuse_unknown_ = options.optional("fuse_unk", false);
  byte_fallback_ = options.optional("byte_fallback", false);
  ignore_merges_ = options.optional("ignore_merges", false);
  read_merges(options.any("merges"), where + ".merges");
  options.finish();
  index_characters();
}

void Bpe::read_merges(const Json& json, const std::string& where) {
  if (!json.is_array()) throw ConfigError(str(where, " is no array, expected pairs of tokens"));
  merges_.reserve(json.size());
  const auto known = [&](std::string_view token, const std::string& place) {
    const auto id = vocabulary_.id(token);
    if (!id)
      throw ConfigError(str(place, " needs token '", token, "', which the vocabulary lacks"));
    return *id;
  };
  for (std::size_t rank = 0; rank < json.size(); ++rank) {
    const std::string place = str(where, "[", rank, "]");
    const auto [left, right] = read_pair(json[rank], place);
    const Token joined = known(str(left, right), place);
    merges_.insert(known(left, place), known(right, place),
                   {static_cast<std::uint32_t>(rank), joined});
  }
}

void Bpe::index_characters() {
  for (int byte = 0; byte < 256; ++byte) {
    bytes_[static_cast<std::size_t>(byte)] = vocabulary_.id(byte_token(byte)).value_or(-1);
  }
  character_ids_.assign(kIndexedCharacters, -1);
  std::string character;
  for (char32_t code = 0; code < kIndexedCharacters; ++code) {
    character.clear();
    append_utf8(character, code);
    character_ids_[code] = vocabulary_.id(character).value_or(-1);
  }
}

void Bpe::encode(std::string_view word, Scratch& scratch, Tokens& out) const {
  if (ignore_merges_) {
    if (const auto whole = vocabulary_.id(word)) {
      out.push_back(*whole);
      return;
    }
  }
  start(word, scratch);
  merge(scratch);
  for (const Scratch::Symbol& symbol : scratch.symbols) {
    if (symbol.id >= 0) out.push_back(symbol.id);
  }
}

/// Makes one symbol per character. A character that is not in the vocabulary becomes its bytes, or
/// else the unknown token, or else nothing.
void Bpe::start(std::string_view word, Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  symbols.clear();
  bool unknown = false;  // a pending unknown token; bytes that follow it are written first
  const auto write_unknown = [&] {
    if (unknown) symbols.push_back({*unknown_, 0, 0});
    unknown = false;
  };
  for (std::size_t at = 0; at < word.size();) {
    const std::size_t begin = at;
    const char32_t code = next_code_point(word, at);
    const std::string_view character = word.substr(begin, at - begin);
    const Token id =
        code < kIndexedCharacters ? character_ids_[code] : vocabulary_.id(character).value_or(-1);
    if (id >= 0) {
      write_unknown();
      symbols.push_back({id, 0, 0});
    } else if (!(byte_fallback_ && start_bytes(character, scratch)) && unknown_) {
      if (!fuse_unknown_) write_unknown();
      unknown = true;
    }
  }
  write_unknown();
}

bool Bpe::start_bytes(std::string_view character, Scratch& scratch) const {
  const auto id = [&](char byte) { return bytes_[static_cast<unsigned char>(byte)]; };
  if (!std::all_of(character.begin(), character.end(), [&](char byte) { return id(byte) >= 0; })) {
    return false;
  }
  for (const char byte : character) scratch.symbols.push_back({id(byte), 0, 0});
  return true;
}

void Bpe::merge(Scratch& scratch) const {
  auto& symbols = scratch.symbols;
  auto& heap = scratch.heap;
  heap.clear();
  const auto candidate = [&](std::int32_t left,
                             std::int32_t right) -> std::optional<Scratch::Candidate> {
    const Merge* merge = merges_.find(symbols[static_cast<std::size_t>(left)].id,
                                      symbols[static_cast<std::size_t>(right)].id);
    if (!merge) return std::nullopt;
    return static_cast<std::uint64_t>(merge->rank) << 32 | static_cast<std::uint32_t>(left);
  };
  const auto count = static_cast<std::int32_t>(symbols.size());
  for (std::int32_t i = 0; i < count; ++i) {
    symbols[static_cast<std::size_t>(i)].previous = i - 1;
    symbols[static_cast<std::size_t>(i)].next = i + 1 < count ? i + 1 : -1;
    if (i + 1 < count) {
      if (const auto found = candidate(i, i + 1)) heap.push_back(*found);
    }
  }
  const auto later = std::greater<Scratch::Candidate>{};
  std::make_heap(heap.begin(), heap.end(), later);
  const auto push = [&](std::int32_t left, std::int32_t right) {
    if (const auto found = candidate(left, right)) {
      heap.push_back(*found);
      std::push_heap(heap.begin(), heap.end(), later);
    }
  };
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    const Scratch::Candidate top = heap.back();
    heap.pop_back();
    const auto at = static_cast<std::int32_t>(top & 0xFFFFFFFFu);
    Scratch::Symbol& left = symbols[static_cast<std::size_t>(at)];
    if (left.id < 0 || left.next < 0) continue;
    Scratch::Symbol& right = symbols[static_cast<std::size_t>(left.next)];
    const Merge* merge = merges_.find(left.id, right.id);
    if (!merge || merge->rank != top >> 32) continue;  // the pair has changed since
    left.id = merge->id;
    left.next = right.next;
    right.id = -1;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = at;
    if (left.previous >= 0) push(left.previous, at);
    if (left.next >= 0) push(at, left.next);
  }
}

}  // namespace pardec
