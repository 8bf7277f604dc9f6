#include "src/tokenizer/normal_form.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <vector>

#include "src/support/characters.hpp"
#include "src/support/utf8.hpp"

namespace pardec {

namespace {

// Code points that got a combining class, a decomposition or a part in a composition in Unicode 10
// or later. PyPI `tokenizers` does not change them, so they are boundaries here. A test compares
// all code points with it.
constexpr std::array kNewer = {
    CodeRange{0x5C8, 0x5C9},     CodeRange{0x7FD, 0x7FD},     CodeRange{0x897, 0x89F},
    CodeRange{0x8CA, 0x8D3},     CodeRange{0x9FE, 0x9FE},     CodeRange{0xC3C, 0xC3C},
    CodeRange{0xD3B, 0xD3C},     CodeRange{0xEBA, 0xEBA},     CodeRange{0x1715, 0x1715},
    CodeRange{0x1ABF, 0x1AF0},   CodeRange{0x1DF6, 0x1DFA},   CodeRange{0x32FF, 0x32FF},
    CodeRange{0xA7F1, 0xA7F4},   CodeRange{0xA82C, 0xA82C},   CodeRange{0xAB69, 0xAB69},
    CodeRange{0x105C9, 0x105C9}, CodeRange{0x105D2, 0x105D2}, CodeRange{0x105DA, 0x105DA},
    CodeRange{0x105E4, 0x105E4}, CodeRange{0x10781, 0x10785}, CodeRange{0x10787, 0x107B0},
    CodeRange{0x107B2, 0x107BA}, CodeRange{0x10D24, 0x10D27}, CodeRange{0x10D69, 0x10D6D},
    CodeRange{0x10EAB, 0x10EAC}, CodeRange{0x10ECB, 0x10ECF}, CodeRange{0x10EF0, 0x10EFB},
    CodeRange{0x10EFD, 0x10EFF}, CodeRange{0x10F46, 0x10F50}, CodeRange{0x10F82, 0x10F85},
    CodeRange{0x11070, 0x11070}, CodeRange{0x1133B, 0x1133B}, CodeRange{0x11383, 0x11383},
    CodeRange{0x11385, 0x11385}, CodeRange{0x1138E, 0x1138E}, CodeRange{0x11391, 0x11391},
    CodeRange{0x113B8, 0x113B8}, CodeRange{0x113BB, 0x113BB}, CodeRange{0x113C2, 0x113C2},
    CodeRange{0x113C5, 0x113C5}, CodeRange{0x113C7, 0x113C9}, CodeRange{0x113CE, 0x113D0},
    CodeRange{0x1145E, 0x1145E}, CodeRange{0x11839, 0x1183A}, CodeRange{0x11930, 0x11930},
    CodeRange{0x11938, 0x11938}, CodeRange{0x1193D, 0x1193E}, CodeRange{0x11943, 0x11943},
    CodeRange{0x119E0, 0x119E0}, CodeRange{0x11A34, 0x11A34}, CodeRange{0x11A47, 0x11A47},
    CodeRange{0x11A99, 0x11A99}, CodeRange{0x11D42, 0x11D42}, CodeRange{0x11D44, 0x11D45},
    CodeRange{0x11D97, 0x11D97}, CodeRange{0x11F41, 0x11F42}, CodeRange{0x1611E, 0x16129},
    CodeRange{0x1612F, 0x1612F}, CodeRange{0x16D67, 0x16D6A}, CodeRange{0x16FF0, 0x16FF1},
    CodeRange{0x1CCD6, 0x1CCF9}, CodeRange{0x1D127, 0x1D128}, CodeRange{0x1D250, 0x1D252},
    CodeRange{0x1D25B, 0x1D25C}, CodeRange{0x1D25F, 0x1D25F}, CodeRange{0x1D280, 0x1D281},
    CodeRange{0x1E030, 0x1E06D}, CodeRange{0x1E08F, 0x1E08F}, CodeRange{0x1E130, 0x1E136},
    CodeRange{0x1E2AE, 0x1E2AE}, CodeRange{0x1E2EC, 0x1E2EF}, CodeRange{0x1E4EC, 0x1E4EF},
    CodeRange{0x1E5EE, 0x1E5EF}, CodeRange{0x1E6E3, 0x1E6E3}, CodeRange{0x1E6E6, 0x1E6E6},
    CodeRange{0x1E6EE, 0x1E6EF}, CodeRange{0x1E6F5, 0x1E6F5}, CodeRange{0x1F16C, 0x1F16C},
    CodeRange{0x1FBF0, 0x1FBF9},
};

bool is_newer(char32_t code) { return contains(kNewer, code); }

/// A character of the result, and the number of input characters that it replaces. Of the parts of
/// a decomposition, only the first replaces a character.
struct Part {
  char32_t code;
  int combining_class;
  int replaces;
};

void decompose(char32_t code, bool compatible, std::vector<Part>& out) {
  if (is_newer(code)) {
    out.push_back({code, 0, 1});
    return;
  }
  std::array<utf8proc_int32_t, 32> parts;  // Unicode 9 needs at most 18
  int boundary = 0;
  const int options = UTF8PROC_DECOMPOSE | (compatible ? UTF8PROC_COMPAT : 0);
  const auto count =
      utf8proc_decompose_char(static_cast<utf8proc_int32_t>(code), parts.data(), parts.size(),
                              static_cast<utf8proc_option_t>(options), &boundary);
  for (utf8proc_ssize_t i = 0; i < count; ++i) {
    const utf8proc_int32_t part = parts[static_cast<std::size_t>(i)];
    out.push_back({static_cast<char32_t>(part), utf8proc_get_property(part)->combining_class,
                   i == 0 ? 1 : 0});
  }
}

/// Sorts each run of combining marks by class, keeping the order of equal ones.
void reorder(std::vector<Part>& parts) {
  const auto is_starter = [](const Part& part) { return part.combining_class == 0; };
  for (auto begin = parts.begin(); begin != parts.end();) {
    begin = std::find_if_not(begin, parts.end(), is_starter);
    const auto end = std::find_if(begin, parts.end(), is_starter);
    std::stable_sort(begin, end, [](const Part& a, const Part& b) {
      return a.combining_class < b.combining_class;
    });
    begin = end;
  }
}

std::optional<char32_t> composite(char32_t left, char32_t right) {
  if (right < 0x300 || is_newer(left) || is_newer(right)) return std::nullopt;
  std::array pair{static_cast<utf8proc_int32_t>(left), static_cast<utf8proc_int32_t>(right)};
  constexpr auto kOptions = static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_COMPOSE);
  if (utf8proc_normalize_utf32(pair.data(), 2, kOptions) != 1) return std::nullopt;
  return static_cast<char32_t>(pair[0]);
}

/// Joins each character with the last starter if the two have a composite and no character between
/// them blocks it.
std::vector<Part> compose(const std::vector<Part>& parts) {
  std::vector<Part> out;
  out.reserve(parts.size());
  std::optional<std::size_t> starter;
  for (const Part& part : parts) {
    const bool adjacent = starter && *starter + 1 == out.size();
    if (adjacent || (starter && out.back().combining_class < part.combining_class)) {
      if (const auto joined = composite(out[*starter].code, part.code)) {
        out[*starter].code = *joined;
        out[*starter].replaces += part.replaces;
        continue;
      }
    }
    if (part.combining_class == 0) starter = out.size();
    out.push_back(part);
  }
  return out;
}

}  // namespace

void normalize(Stretch& stretch, NormalForm form) {
  const bool composes = form == NormalForm::nfc || form == NormalForm::nfkc;
  const bool compatible = form == NormalForm::nfkc || form == NormalForm::nfkd;
  // No form changes ASCII. NFC changes nothing below U+0300, whose lead byte is 0xCC.
  const unsigned char changing = form == NormalForm::nfc ? 0xCC : 0x80;
  if (std::all_of(stretch.text.begin(), stretch.text.end(),
                  [&](char byte) { return static_cast<unsigned char>(byte) < changing; })) {
    return;
  }
  std::vector<Part> parts;
  parts.reserve(stretch.text.size());
  for (std::size_t at = 0; at < stretch.text.size();) {
    decompose(next_code_point(stretch.text, at), compatible, parts);
  }
  reorder(parts);
  if (composes) parts = compose(parts);
  Rewriting rewriting(stretch);
  std::string character;
  for (const Part& part : parts) {
    character.clear();
    append_utf8(character, part.code);
    if (part.replaces == 0) {
      rewriting.insert(character);
    } else {
      rewriting.replace(rewriting.bytes_of(part.replaces), character);
    }
  }
  stretch = std::move(rewriting).finish();
}

}  // namespace pardec
