#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace pardec {

/// The name of the training format for answers in ASPD's markup.
inline constexpr std::string_view kMarkupFormat = "aspd";

/// A serial text and the block of branches after this text. In the last part of an answer,
/// `branches` is empty.
struct MarkupPart {
  struct Branch {
    std::string title;
    std::string content;  ///< the text after "TITLE:", including the space after the colon
  };
  std::string serial;
  std::vector<Branch> branches;
};

/// Parses an answer in the markup of ASPD's data (arXiv:2508.08895, section 3.1): serial text, then
/// `<Title>a</Title><Title>b</Title><Para><Branch>a: ...</Branch><Branch>b: ...</Branch></Para>`,
/// then serial text, and so on. A text without titles is one serial part. ConfigError, whose
/// message starts with `where`: the markup is invalid.
std::vector<MarkupPart> parse_markup(std::string_view text, const std::string& where);

/// Writes the parts in this markup (the inverse of parse_markup).
std::string write_markup(const std::vector<MarkupPart>& parts);
/// The text of the parts without markup and titles, as in the answers of the decoder aspd: the
/// branches of a block, each without the space at its beginning, are joined by line breaks.
std::string markup_text(const std::vector<MarkupPart>& parts);

}  // namespace pardec
