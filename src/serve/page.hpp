#pragma once
#include <string>

namespace pardec::serve {

/// The HTML page at `/`, on which users send requests and watch decoders. The page is one document
/// with its style and script, and sends requests only to this server. Its Content-Security-Policy
/// allows only the page's own script, and this script cannot insert markup (Trusted Types).
std::string watch_page();

}  // namespace pardec::serve
