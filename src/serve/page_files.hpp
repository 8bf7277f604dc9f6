#pragma once

namespace pardec {

// The texts of src/serve/page.html, page.css and page.js, embedded at build time.
const char* serve_page_html();
const char* serve_page_css();
const char* serve_page_js();

}  // namespace pardec
