#include "metrics/roofline.hpp"

#include "tests/support/catch.hpp"

using namespace pardec;

TEST_CASE("roofline: a pass takes the longer of moving and computing, counted by hand") {
  // 1,000 weights in layers, 500 in the head, 10 values in an embedding, 4 keys and values in a
  // row, 20 operations for a query and key; 2 bytes for a value.
  const NetworkSize network{1000, 500, 10, 4, 20, 2, 2, 2};
  const Hardware slow_memory{"", "", 100, 1e9}, slow_compute{"", "", 1e9, 100};
  const PassWork one{.rows = 1, .head_rows = 1, .cached = 30, .pairs = 31};
  // 1000 + 500 + 10 + 4 * 31 = 1634 values; 2000 + 1000 + 620 operations.
  CHECK(pass_bound(one, network, slow_memory).memory_seconds == Approx(2 * 1634 / 100.0));
  CHECK(pass_bound(one, network, slow_memory).seconds() == Approx(32.68));
  CHECK(pass_bound(one, network, slow_compute).seconds() == Approx(36.2));
  // Half a byte for each weight of the layers: 500 + 2 * 634 bytes, and as many operations.
  const NetworkSize quantised{1000, 500, 10, 4, 20, 2, 0.5, 2};
  CHECK(pass_bound(one, quantised, slow_memory).seconds() == Approx(17.68));
  CHECK(pass_bound(one, quantised, slow_compute).seconds() == Approx(36.2));
  // And a byte for each weight of the head.
  const NetworkSize both{1000, 500, 10, 4, 20, 2, 0.5, 1};
  CHECK(pass_bound(one, both, slow_memory).seconds() == Approx(12.68));
  // No logits, no head. Eight rows move the weights once and compute eight times.
  const PassWork eight{.rows = 8, .head_rows = 0, .cached = 0, .pairs = 36};
  CHECK(pass_bound(eight, network, slow_memory).seconds() == Approx(2 * (1000 + 80 + 32) / 100.0));
  CHECK(pass_bound(eight, network, slow_compute).seconds() == Approx((16000 + 720) / 100.0));
  // Four devices: a quarter of both for each. Of the 40 summed values of a row, each sends one and
  // a half times as many.
  NetworkSize shared = network;
  shared.summed_per_row = 40;
  Hardware four{"", "", 100, 1e9, 4, 10};
  CHECK(pass_bound(eight, shared, four).memory_seconds == Approx(2 * 1112 / 400.0));
  CHECK(pass_bound(eight, shared, four).compute_seconds == Approx(16720 / 4e9));
  CHECK(pass_bound(eight, shared, four).link_seconds == Approx(1.5 * 40 * 8 * 2 / 10.0));
  CHECK(pass_bound(eight, shared, four).seconds() == Approx(96));
  CHECK(pass_bound(eight, shared, four).limit() == std::string("link"));
  four.devices = 1;
  CHECK(pass_bound(eight, shared, four).link_seconds == 0);
  CHECK(pass_bound(eight, shared, four).limit() == std::string("memory"));
  CHECK(pass_bound(eight, network, slow_compute).limit() == std::string("compute"));
  PassWork sum = one;
  sum += eight;
  CHECK(sum.rows == 9);
  CHECK(sum.head_rows == 1);
  CHECK(sum.cached == 30);
  CHECK(sum.pairs == 67);
}
