#include "src/report/page.hpp"

#include "src/report/page_files.hpp"
#include "src/support/text.hpp"

namespace pardec {

std::string page_style() {
  const std::string_view style = page_css();
  constexpr std::string_view kDark = ":root[data-theme=\"dark\"] {", kEnd = "}\n";
  const size_t rule = style.find(kDark), colours = rule + kDark.size(),
               end = style.find(kEnd, colours), rest = end + kEnd.size();
  return str("\n", style.substr(0, rest),
             "@media (prefers-color-scheme: dark) { :root:not([data-theme]) {",
             style.substr(colours, end - colours), "} }\n", style.substr(rest));
}
std::string page_script(const Wording& wording) { return worded(str("\n", page_js()), wording); }

}  // namespace pardec
