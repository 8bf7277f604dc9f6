#include "src/tokenizer/nfc.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "src/tokenizer/utf8.hpp"

namespace pardec {

namespace {

struct Range {
  char32_t first, last;
};

// Code points to which Unicode 10 or later gave a combining class, a decomposition or a part in a
// composition: the oracle leaves them alone, so they are borders here. The test compares all code
// points with the oracle.
constexpr std::array kNewer = {
    Range{0x5C8, 0x5C9},     Range{0x7FD, 0x7FD},     Range{0x897, 0x89F},
    Range{0x8CA, 0x8D3},     Range{0x9FE, 0x9FE},     Range{0xC3C, 0xC3C},
    Range{0xD3B, 0xD3C},     Range{0xEBA, 0xEBA},     Range{0x1715, 0x1715},
    Range{0x1ABF, 0x1AF0},   Range{0x1DF6, 0x1DFA},   Range{0xA82C, 0xA82C},
    Range{0x105C9, 0x105C9}, Range{0x105D2, 0x105D2}, Range{0x105DA, 0x105DA},
    Range{0x105E4, 0x105E4}, Range{0x10D24, 0x10D27}, Range{0x10D69, 0x10D6D},
    Range{0x10EAB, 0x10EAC}, Range{0x10ECB, 0x10ECF}, Range{0x10EF0, 0x10EFB},
    Range{0x10EFD, 0x10EFF}, Range{0x10F46, 0x10F50}, Range{0x10F82, 0x10F85},
    Range{0x11070, 0x11070}, Range{0x1133B, 0x1133B}, Range{0x11383, 0x11383},
    Range{0x11385, 0x11385}, Range{0x1138E, 0x1138E}, Range{0x11391, 0x11391},
    Range{0x113B8, 0x113B8}, Range{0x113BB, 0x113BB}, Range{0x113C2, 0x113C2},
    Range{0x113C5, 0x113C5}, Range{0x113C7, 0x113C9}, Range{0x113CE, 0x113D0},
    Range{0x1145E, 0x1145E}, Range{0x11839, 0x1183A}, Range{0x11930, 0x11930},
    Range{0x11938, 0x11938}, Range{0x1193D, 0x1193E}, Range{0x11943, 0x11943},
    Range{0x119E0, 0x119E0}, Range{0x11A34, 0x11A34}, Range{0x11A47, 0x11A47},
    Range{0x11A99, 0x11A99}, Range{0x11D42, 0x11D42}, Range{0x11D44, 0x11D45},
    Range{0x11D97, 0x11D97}, Range{0x11F41, 0x11F42}, Range{0x1611E, 0x16129},
    Range{0x1612F, 0x1612F}, Range{0x16D67, 0x16D6A}, Range{0x16FF0, 0x16FF1},
    Range{0x1D127, 0x1D128}, Range{0x1D250, 0x1D252}, Range{0x1D25B, 0x1D25C},
    Range{0x1D25F, 0x1D25F}, Range{0x1D280, 0x1D281}, Range{0x1E08F, 0x1E08F},
    Range{0x1E130, 0x1E136}, Range{0x1E2AE, 0x1E2AE}, Range{0x1E2EC, 0x1E2EF},
    Range{0x1E4EC, 0x1E4EF}, Range{0x1E5EE, 0x1E5EF}, Range{0x1E6E3, 0x1E6E3},
    Range{0x1E6E6, 0x1E6E6}, Range{0x1E6EE, 0x1E6EF}, Range{0x1E6F5, 0x1E6F5},
};

bool is_newer(char32_t code) {
  const auto* range = std::lower_bound(kNewer.begin(), kNewer.end(), code,
                                       [](const Range& r, char32_t c) { return r.last < c; });
  return range != kNewer.end() && range->first <= code;
}

utf8proc_propval_t combining_class(utf8proc_int32_t code) {
  return utf8proc_get_property(code)->combining_class;
}

void decompose(char32_t code, std::vector<utf8proc_int32_t>& out) {
  utf8proc_int32_t parts[8];
  int boundary = 0;
  const auto count = utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts, 8,
                                             UTF8PROC_DECOMPOSE, &boundary);
  out.insert(out.end(), parts, parts + count);
}

/// Sorts each run of combining marks by class, equal ones staying in order.
void reorder(std::span<utf8proc_int32_t> codes) {
  for (std::size_t begin = 0; begin < codes.size(); ++begin) {
    if (combining_class(codes[begin]) == 0) continue;
    std::size_t end = begin;
    while (end < codes.size() && combining_class(codes[end]) != 0) ++end;
    std::stable_sort(codes.begin() + static_cast<std::ptrdiff_t>(begin),
                     codes.begin() + static_cast<std::ptrdiff_t>(end),
                     [](auto a, auto b) { return combining_class(a) < combining_class(b); });
    begin = end;
  }
}

/// Ends a stretch between two borders: reorders, composes and writes it.
void flush(std::vector<utf8proc_int32_t>& codes, std::string& out) {
  reorder(codes);
  const auto options = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  const auto count =
      utf8proc_normalize_utf32(codes.data(), static_cast<utf8proc_ssize_t>(codes.size()), options);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    append_utf8(out, static_cast<char32_t>(codes[static_cast<std::size_t>(i)]));
  }
  codes.clear();
}

}  // namespace

std::string nfc(std::string_view text) {
  // Nothing below U+0300 changes: lead bytes below 0xCC.
  const auto is_stable = [](char byte) { return static_cast<unsigned char>(byte) < 0xCC; };
  if (std::all_of(text.begin(), text.end(), is_stable)) return std::string(text);
  std::string out;
  out.reserve(text.size());
  std::vector<utf8proc_int32_t> codes;
  for (std::size_t at = 0; at < text.size();) {
    const char32_t code = next_code_point(text, at);
    if (is_newer(code)) {
      flush(codes, out);
      append_utf8(out, code);
    } else {
      decompose(code, codes);
    }
  }
  flush(codes, out);
  return out;
}

}  // namespace pardec
