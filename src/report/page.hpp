#pragma once
#include <string>

#include "src/report/wording.hpp"

namespace pardec {

/// Style and script of the report's page. The style has the dark colours of page.css twice: where
/// the reader chose them, and where nobody chose and the system is dark.
std::string page_style();
std::string page_script(const Wording& wording);

}  // namespace pardec
