#pragma once
#include <string>

#include "src/report/wording.hpp"

namespace pardec {

/// Style and script of the report's page. The style contains the dark colours of page.css twice:
/// for readers who chose them, and for readers without a choice on a dark system.
std::string page_style();
std::string page_script(const Wording& wording);

}  // namespace pardec
