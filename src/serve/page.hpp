#pragma once
#include <string>

namespace pardec::serve {

/// The page at `/`: one file, which loads nothing but the answers of this server. Its policy allows
/// its own script alone, and no markup that a script makes.
std::string watch_page();

}  // namespace pardec::serve
