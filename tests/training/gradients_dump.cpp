// The gradients of a whole network on a JSON request from stdin, in float64, for the oracle test.
//   {"model": folder, "prompt": [ids], "answer": [ids]}
// Writes {"loss", "gradients": {name: [values]}}
#include <iostream>

#include "decoders/ar/format.hpp"
#include "src/support/json.hpp"
#include "src/training/trainer.hpp"

int main() {
  using namespace pardec;
  const Json request = Json::parse(std::cin);
  const Model model = Model::load(request.at("model").get<std::string>(), {.dtype = Dtype::fp64});
  std::map<std::string, at::Tensor> weights;
  for (const auto& [name, weight] : model.network().named_parameters())
    weights.emplace(name, weight.clone());
  const auto network = whole_network(model.config());
  Trainer trainer(*network, weights, {.dtype = Dtype::fp64, .clip = 0});
  const TrainingSample sample = causal_sample(request.at("prompt"), request.at("answer"));
  const TrainingSample* batch[] = {&sample};
  Trainer::Report report;
  const std::vector<at::Tensor> gradients = trainer.gradients(batch, report);
  Json result = {{"loss", report.loss}, {"gradients", Json::object()}};
  for (size_t i = 0; i < gradients.size(); ++i) {
    const at::Tensor flat = gradients[i].contiguous();
    const double* values = flat.const_data_ptr<double>();
    result["gradients"][trainer.optimiser().slots()[i].name] =
        std::vector<double>(values, values + flat.numel());
  }
  std::cout << result.dump() << "\n";
}
