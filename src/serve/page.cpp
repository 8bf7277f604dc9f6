#include "src/serve/page.hpp"

#include "src/serve/page_files.hpp"
#include "src/support/hashing.hpp"
#include "src/support/text.hpp"

namespace pardec::serve {

std::string watch_page() {
  const std::string script = serve_page_js();
  std::string page = replace_all(serve_page_html(), "{{policy}}", script_source(script));
  page = replace_all(page, "{{style}}", serve_page_css());
  return replace_all(page, "{{script}}", script);
}

}  // namespace pardec::serve
