#pragma once
// Includes Catch2, whose versions 2 and 3 have different headers.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
