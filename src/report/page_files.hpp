#pragma once

namespace pardec {

// The texts of src/report/page.css and page.js, put into the program when it was built.
const char* page_css();
const char* page_js();

}  // namespace pardec
