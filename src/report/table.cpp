#include "src/support/error.hpp"
