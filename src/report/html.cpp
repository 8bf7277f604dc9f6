#include "src/report/html.hpp"

#include "src/support/text.hpp"

namespace pardec {

std::string escape_html(std::string_view text) {
  std::string out;
  for (const char c : repair_utf8(text)) {
    switch (c) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        if ((static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
          out += "\uFFFD";
        else
          out += c;
    }
  }
  return out;
}

std::string escape_json_script(std::string_view json) {
  std::string out = replace_all(std::string(json), "<", "\\u003c");
  out = replace_all(out, "\u2028", "\\u2028");
  return replace_all(out, "\u2029", "\\u2029");
}

}  // namespace pardec
