#pragma once
#include <string>

namespace pardec::serve {

/// The page at `/`: one file, which loads nothing but the answers of this server. Its
/// Content-Security-Policy allows only the page's own script, which cannot insert markup (Trusted
/// Types).
std::string watch_page();

}  // namespace pardec::serve
