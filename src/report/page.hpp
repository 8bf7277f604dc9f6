#pragma once
#include <string>
#include <string_view>

namespace pardec {

/// Style and script of the report's page.
std::string page_style();
std::string_view page_script();

}  // namespace pardec
