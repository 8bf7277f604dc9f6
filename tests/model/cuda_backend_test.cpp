// The backend of GPUs over a random history of passes, with a GPU that is the host.
#include "tests/model/gpu_on_host.hpp"
#include "tests/model/pass_history.hpp"

using namespace pardec;
using namespace pardec::test;

TEST_CASE("a replayed step equals the step launched kernel by kernel") {
  for (const auto& [window, multiprocessors, shapes] :
       {std::tuple(0, 1, size_t{32}), std::tuple(0, 8, size_t{2}), std::tuple(20, 4, size_t{32})}) {
    History history(
        static_cast<std::uint64_t>(7 + multiprocessors), window, shapes,
        [&] { return bf16_model(history_config(window)); },
        [&] { return std::make_unique<GpuOnHost>(multiprocessors); });
    history.go(80);
    const CudaBackend& graphs = history.backend(replayed);
    INFO("window " << window << ", " << shapes << " shapes: " << graphs.recorded() << " recorded, "
                   << graphs.replayed() << " replayed; " << history.farthest() << " of "
                   << history.largest());
    CHECK(graphs.recorded() > 3);
    CHECK(graphs.replayed() > graphs.recorded() + 5);
    CHECK(history.backend(launched).recorded() == 0);
    CHECK(history.largest() > 2);
  }
}
