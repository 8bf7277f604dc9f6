#pragma once
// The one place that knows where Catch2 lives: version 2 and 3 have different headers.
#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
