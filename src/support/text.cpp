#include "src/support/text.hpp"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace pardec {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  for (size_t begin = 0;;) {
    const size_t end = text.find(separator, begin);
    pieces.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return pieces;
    begin = end + 1;
  }
}

std::string join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i) out += separator;
    out += pieces[i];
  }
  return out;
}

namespace {
constexpr std::string_view kWhite = " \t\r\n\f\v";
}

std::string_view rstrip(std::string_view text) {
  const size_t end = text.find_last_not_of(kWhite);
  return end == std::string_view::npos ? std::string_view{} : text.substr(0, end + 1);
}

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of(kWhite);
  return begin == std::string_view::npos ? std::string_view{} : rstrip(text.substr(begin));
}

std::string lower_ascii(std::string text) {
  for (char& c : text)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return text;
}

std::string replace_all(std::string text, std::string_view from, std::string_view to) {
  size_t found = text.find(from);
  if (found == std::string::npos) return text;
  std::string out;
  size_t done = 0;
  for (; found != std::string::npos; found = text.find(from, done)) {
    out.append(text, done, found - done).append(to);
    done = found + from.size();
  }
  return out.append(text, done);
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size();) {
    const auto lead = static_cast<unsigned char>(text[i]);
    if (lead < 0x80) {
      out += text[i++];
      continue;
    }
    // Length, and the valid range of the second byte (Unicode 14, table 3-7).
    int length = 0;
    unsigned char low = 0x80, high = 0xBF;
    if (lead >= 0xC2 && lead <= 0xDF)
      length = 2;
    else if (lead >= 0xE0 && lead <= 0xEF)
      length = 3;
    else if (lead >= 0xF0 && lead <= 0xF4)
      length = 4;
    if (lead == 0xE0) low = 0xA0;
    if (lead == 0xED) high = 0x9F;
    if (lead == 0xF0) low = 0x90;
    if (lead == 0xF4) high = 0x8F;
    size_t end = i + 1;
    for (int k = 1; k < length && end < text.size(); ++k, ++end) {
      const auto byte = static_cast<unsigned char>(text[end]);
      if (byte < low || byte > high) break;
      low = 0x80;
      high = 0xBF;
    }
    if (length && end == i + static_cast<size_t>(length))
      out += text.substr(i, end - i);
    else
      out += "\xEF\xBF\xBD";
    i = end;
  }
  return out;
}

std::string visible_text(std::string_view bytes, bool lines) {
  const std::string text = repair_utf8(bytes);
  const auto byte = [&](size_t at) {
    return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u;
  };
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const unsigned lead = byte(at), next = byte(at + 1), last = byte(at + 2);
    const bool turns = lead == 0xE2 && ((next == 0x80 && last >= 0xAA && last <= 0xAE) ||  // U+202A
                                        (next == 0x81 && last >= 0xA6 && last <= 0xA9));   // U+2066
    if (lines && (lead == '\n' || lead == '\t')) {
      out += text[at];
    } else if (lead == '\n') {
      out += "↵";
    } else if (lead < 0x20 || lead == 0x7F || (lead == 0xC2 && next < 0xA0) || turns) {
      out += "·";
      at += turns ? 2 : lead == 0xC2 ? 1 : 0;
    } else {
      out += text[at];
    }
  }
  return out;
}

namespace {

/// The number of insertions, deletions, replacements and exchanges of neighbouring letters that
/// make `b` of `a`.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> before_last, last, row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    before_last = std::exchange(last, row);
    row[0] = i + 1;
    for (size_t j = 0; j < b.size(); ++j) {
      row[j + 1] = std::min({last[j + 1] + 1, row[j] + 1, last[j] + (a[i] != b[j])});
      if (i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j])
        row[j + 1] = std::min(row[j + 1], before_last[j - 1] + 1);
    }
  }
  return row.back();
}

}  // namespace

std::string shortened(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return str(text.substr(0, most), "...");
}

std::vector<std::string> near_names(std::string_view name,
                                    const std::vector<std::string>& candidates) {
  std::vector<std::pair<size_t, std::string>> near;
  for (const auto& candidate : candidates) {
    const size_t distance = edit_distance(name, candidate);
    if (distance <= 1 + std::min(name.size(), candidate.size()) / 3)
      near.emplace_back(distance, candidate);
  }
  std::stable_sort(near.begin(), near.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (const auto& [distance, candidate] : near)
    if (names.size() < 3 && distance <= near.front().first + 1 &&
        std::find(names.begin(), names.end(), candidate) == names.end())
      names.push_back(candidate);
  return names;
}

std::string known_names(std::string_view name, const std::vector<std::string>& candidates) {
  const auto near = near_names(name, candidates);
  if (near.empty()) {
    std::vector<std::string> known;
    for (const auto& candidate : candidates)
      if (std::find(known.begin(), known.end(), candidate) == known.end())
        known.push_back(candidate);
    return "; known: " + join(known, ", ");
  }
  std::string out = "; did you mean ";
  for (size_t i = 0; i < near.size(); ++i) out += str(i ? " or " : "", "'", near[i], "'");
  return out + "?";
}

int display_width(std::string_view text) {
  const std::string clean = repair_utf8(text);
  int width = 0;
  for (std::size_t at = 0; at < clean.size();) {
    utf8proc_int32_t point = 0;
    const auto length =
        utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(clean.data()) + at,
                         static_cast<utf8proc_ssize_t>(clean.size() - at), &point);
    if (length <= 0) break;
    width += utf8proc_charwidth(point);
    at += static_cast<std::size_t>(length);
  }
  return width;
}

}  // namespace pardec
