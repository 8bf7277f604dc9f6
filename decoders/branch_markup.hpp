#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// A stretch of serial text and the block behind it; the last one has none.
struct MarkupPart {
  struct Branch {
    std::string title, content;  ///< content begins behind "T:", with its space
  };
  std::string serial;
  std::vector<Branch> branches;
};

/// Reads an answer as ASPD's data has it (paper, section 3.1): serial text,
/// `<Title>a</Title><Title>b</Title><Para><Branch>a: ...</Branch><Branch>b: ...</Branch></Para>`,
/// serial text, ... `where` begins the ConfigError of one that is written otherwise. A text without
/// titles is one serial part.
std::vector<MarkupPart> parse_markup(std::string_view text, const std::string& where);

/// Those parts written so.
std::string write_markup(const std::vector<MarkupPart>& parts);
/// Those parts as text: without markup and titles, branches on lines of their own, as the decoder
/// restores them.
std::string markup_text(const std::vector<MarkupPart>& parts);

}  // namespace pardec
