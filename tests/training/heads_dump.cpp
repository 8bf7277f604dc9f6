// Trains extra heads over a network on a JSON request from stdin, in float64, for the oracle test.
//   {"model": folder, "heads", "blocks", "shares_head",
//    "samples": [{"prompt": [ids], "answer": [ids]} ...],
//    "share": samples that share one copy of their beginning, "micro_tokens", "steps", "lr"}
// Writes {"losses": [before each update], "loss",
//         "ranks": [head, rank: share of the targets, after the last update],
//         "weights": {name: [values]}, "network_changed": false}
#include <iostream>

#include "decoders/ar/format.hpp"
#include "src/support/json.hpp"
#include "src/training/shared_prefix.hpp"
#include "src/training/trainer.hpp"

int main() {
  using namespace pardec;
  const Json request = Json::parse(std::cin);
  const Model model = Model::load(request.at("model").get<std::string>(), {.dtype = Dtype::fp64});
  std::map<std::string, at::Tensor> weights, before;
  for (const auto& [name, weight] : model.network().named_parameters()) {
    weights.emplace(name, weight);
    before.emplace(name, weight.clone());
  }
  TrainerOptions options{.dtype = Dtype::fp64};
  options.micro_tokens = request.at("micro_tokens");
  const auto heads = extra_heads(model.config(), {.heads = request.at("heads"),
                                                  .blocks = request.at("blocks"),
                                                  .shares_head = request.at("shares_head")});
  Trainer trainer(*heads, weights, options);

  std::vector<TrainingSample> samples;
  for (const Json& sample : request.at("samples"))
    samples.push_back(causal_sample(sample.at("prompt"), sample.at("answer")));
  samples = share_prefixes(std::move(samples), request.at("share"));
  std::vector<const TrainingSample*> batch;
  for (const TrainingSample& sample : samples) batch.push_back(&sample);

  Json result = {{"losses", Json::array()}, {"weights", Json::object()}};
  for (int step = 0; step < request.at("steps").get<int>(); ++step)
    result["losses"].push_back(trainer.step(batch, request.at("lr")).loss);
  const Trainer::Measure measure = trainer.measure(batch);
  result["loss"] = measure.loss;
  result["ranks"] = measure.ranks;
  for (const AdamW::Slot& slot : trainer.optimiser().slots()) {
    const at::Tensor flat = slot.weight.contiguous();
    const double* values = flat.const_data_ptr<double>();
    result["weights"][slot.name] = std::vector<double>(values, values + flat.numel());
  }
  result["network_changed"] = false;
  for (const auto& [name, weight] : trainer.network().named_parameters())
    if (!at::equal(weight, before.at(name))) result["network_changed"] = true;
  std::cout << result.dump() << "\n";
}
