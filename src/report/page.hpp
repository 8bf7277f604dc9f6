#pragma once
#include <string>

#include "src/report/wording.hpp"

namespace pardec {

/// CSS and JavaScript of the report page. The CSS contains the dark colours of page.css twice: for
/// readers who chose dark colours, and for readers who chose nothing on a system with dark colours.
std::string page_style();
std::string page_script(const Wording& wording);

}  // namespace pardec
