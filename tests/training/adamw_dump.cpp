// Ten updates of two weights from gradients sin(7 i + step) and cos(...), printed after each.
//   adamw_dump double|float
#include <cmath>
#include <cstdio>
#include <string>

#include "src/training/adamw.hpp"

int main(int argc, char** argv) {
  using namespace pardec;
  const auto type = argc > 1 && std::string(argv[1]) == "float" ? at::kFloat : at::kDouble;
  const auto filled = [&](std::vector<std::int64_t> shape, double shift) {
    std::int64_t count = 1;
    for (const std::int64_t size : shape) count *= size;
    std::vector<double> values;
    for (std::int64_t i = 0; i < count; ++i)
      values.push_back(std::sin(7.0 * static_cast<double>(i) + shift));
    return at::tensor(values, at::kDouble).view(shape).to(type);
  };
  AdamW optimiser({{"matrix", filled({3, 4}, 0.5)}, {"norm", filled({5}, 0.25), false}}, {});
  for (int step = 0; step < 10; ++step) {
    optimiser.step({filled({3, 4}, 1.0 + step), filled({5}, 2.0 + step)}, 0.01 * (step + 1));
    for (const auto& slot : optimiser.slots()) {
      const at::Tensor row = slot.weight.to(at::kDouble).contiguous();
      for (std::int64_t i = 0; i < row.numel(); ++i)
        std::printf("%.17g ", row.data_ptr<double>()[i]);
    }
    std::printf("\n");
  }
}
