#include "decoders/branch_markup.hpp"

#include <algorithm>

#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// Reads markup from left to right.
class MarkupReader {
 public:
  MarkupReader(std::string_view text, std::string where) : text_(text), where_(std::move(where)) {}

  bool at(std::string_view tag) const { return text_.substr(at_).starts_with(tag); }
  /// The text up to `tag`, which is skipped.
  std::string through(std::string_view tag) {
    const size_t found = text_.find(tag, at_);
    if (found == std::string_view::npos) expected(tag);
    std::string read(text_.substr(at_, found - at_));
    at_ = found + tag.size();
    return read;
  }
  void skip(std::string_view tag) {
    if (!at(tag)) expected(tag);
    at_ += tag.size();
  }
  /// The text up to `tag`, or all remaining text.
  std::string before(std::string_view tag) {
    const size_t end = std::min(text_.find(tag, at_), text_.size());
    std::string read(text_.substr(at_, end - at_));
    at_ = end;
    return read;
  }
  bool done() const { return at_ == text_.size(); }

 private:
  [[noreturn]] void expected(std::string_view tag) const {
    throw ConfigError(
        str(where_, ": byte ", at_, " of an answer has '", text_.substr(at_, 20), "', expected ",
            tag, "; a block is <Title>a</Title>...<Para><Branch>a: ...</Branch>...</Para>"));
  }

  std::string_view text_;
  std::string where_;
  size_t at_ = 0;
};

}  // namespace

std::vector<MarkupPart> parse_markup(std::string_view text, const std::string& where) {
  MarkupReader read(text, where);
  std::vector<MarkupPart> parts;
  for (;;) {
    MarkupPart& part = parts.emplace_back();
    part.serial = read.before("<Title>");
    if (read.done()) return parts;
    while (read.at("<Title>")) {
      read.skip("<Title>");
      part.branches.push_back({read.through("</Title>"), ""});
    }
    read.skip("<Para>");
    for (auto& branch : part.branches) {
      read.skip("<Branch>" + branch.title + ":");
      branch.content = read.through("</Branch>");
    }
    read.skip("</Para>");
  }
}

std::string write_markup(const std::vector<MarkupPart>& parts) {
  std::string text;
  for (const MarkupPart& part : parts) {
    text += part.serial;
    if (part.branches.empty()) continue;
    for (const auto& branch : part.branches) text += str("<Title>", branch.title, "</Title>");
    text += "<Para>";
    for (const auto& branch : part.branches)
      text += str("<Branch>", branch.title, ":", branch.content, "</Branch>");
    text += "</Para>";
  }
  return text;
}

std::string markup_text(const std::vector<MarkupPart>& parts) {
  std::string text;
  for (const MarkupPart& part : parts) {
    text += part.serial;
    for (size_t b = 0; b < part.branches.size(); ++b) {
      const std::string& content = part.branches[b].content;
      text += (b > 0 ? "\n" : "") + content.substr(content.starts_with(' '));
    }
  }
  return text;
}

}  // namespace pardec
