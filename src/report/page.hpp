#pragma once
#include <string>

#include "src/report/wording.hpp"

namespace pardec {

/// The CSS of the report page. It contains the dark colours of page.css twice: for readers who
/// chose dark colours, and for readers who chose nothing on a system with dark colours.
std::string page_style();
/// The JavaScript of the report page. `wording`: converts the names of settings in the script's
/// messages.
std::string page_script(const Wording& wording);

}  // namespace pardec
