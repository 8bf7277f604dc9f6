#pragma once

namespace pardec {

// The texts of src/report/page.css and page.js, embedded at build time.
const char* page_css();
const char* page_js();

}  // namespace pardec
