#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// The training format for answers in ASPD's markup (below), of one turn.
inline constexpr std::string_view kMarkupFormat = "aspd";

/// A serial text and the block after it; the last part has no block.
struct MarkupPart {
  struct Branch {
    std::string title, content;  ///< content begins after "T:", with its space
  };
  std::string serial;
  std::vector<Branch> branches;
};

/// Parses an answer in the markup of ASPD's data (paper, section 3.1): serial text,
/// `<Title>a</Title><Title>b</Title><Para><Branch>a: ...</Branch><Branch>b: ...</Branch></Para>`,
/// serial text, ... A text without titles is one serial part. ConfigError, whose message starts
/// with `where`: other markup.
std::vector<MarkupPart> parse_markup(std::string_view text, const std::string& where);

/// Writes the parts in this markup.
std::string write_markup(const std::vector<MarkupPart>& parts);
/// The parts as text without markup and titles, with each branch on its own line, as the decoder
/// restores them.
std::string markup_text(const std::vector<MarkupPart>& parts);

}  // namespace pardec
