// Runs networks on JSON requests, one on each line of stdin, and writes their logits to stdout, for
// tests that compare them with transformers. The answer to a request is the number of its values,
// as an int64, and then the values, as raw float64.
//   request: {"model", "dtype", "adapter": folder or absent,
//             "segments": [[seen segments] of segment 1, ...], "cases": [case ...]}
//   case:    {"whole": rows}              all logits of one pass
//            {"sequences": [[action ...] ...]}
//                                         with caches. The n-th steps of all sequences are one
//                                         forward; the logits of all their rows are written,
//                                         sequence by sequence
//            {"warp": {"rows": [[logit ...] ...], "sampling": [[temperature, top_k, top_p] ...],
//                      "banned": [[ids] ...]}}
//                                         for each row: best, second, their logits, then the
//                                         probabilities
//   action:  {"feed": rows} | {"keep": [first, [rows]]} | {"drop": [rows]} |
//            {"relabel": [row, label]} | {"fork": true}
//   rows:    {"tokens": [...], "labels": [[position, order, segment, rank] ...]}
// A fork continues with the copy, after garbage rows were computed in the original.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "src/model/network.hpp"
#include "src/support/json.hpp"

namespace {

using namespace pardec;

RowLabel label_of(const Json& json) { return {json.at(0), json.at(1), json.at(2), json.at(3)}; }

struct Fed {
  std::vector<Token> tokens;
  std::vector<RowLabel> labels;
  std::vector<OutputRequest> outputs;
  explicit Fed(const Json& json) : tokens(json.at("tokens").get<std::vector<Token>>()) {
    for (const Json& label : json.at("labels")) labels.push_back(label_of(label));
    for (int i = 0; i < std::ssize(tokens); ++i) outputs.push_back({.index = i});
  }
};

using Values = std::vector<double>;

void append(const at::Tensor& logits, Values& values) {
  const at::Tensor rows = logits.detach().to(at::kCPU, at::kDouble).contiguous();
  values.insert(values.end(), rows.data_ptr<double>(), rows.data_ptr<double>() + rows.numel());
}

class Sequence {
 public:
  Sequence(Model& model, const Segments& segments, const Json& actions)
      : model_(model), segments_(segments), actions_(actions), cache_(model) {}

  /// Does the actions before the next feed; false at the end.
  bool advance() {
    for (; next_ < actions_.size() && !actions_[next_].contains("feed"); ++next_)
      act(actions_[next_]);
    if (next_ == actions_.size()) return false;
    fed_.emplace(actions_[next_++].at("feed"));
    return true;
  }
  SequenceStep step() { return {&cache_, &segments_, fed_->tokens, fed_->labels, fed_->outputs}; }

 private:
  void act(const Json& action) {
    if (action.contains("keep")) {
      keep(action["keep"][0], action["keep"][1].get<std::vector<int>>());
    } else if (action.contains("drop")) {
      cache_.drop(action["drop"].get<std::vector<int>>());
    } else if (action.contains("relabel")) {
      cache_.relabel(action["relabel"][0], label_of(action["relabel"][1]));
    } else {
      KvCache copy = cache_.fork();
      const std::vector<Token> tokens{1, 2, 3};
      const std::vector<RowLabel> labels(3);
      const SequenceStep garbage{&cache_, &segments_, tokens, labels, {}};
      model_.forward({&garbage, 1});
      cache_ = std::move(copy);
    }
  }

  void keep(int first, const std::vector<int>& rows) {
    std::vector<int> others;
    for (const KvCache::Slot& slot : cache_.slots())
      if (slot.alive && slot.row >= first &&
          std::find(rows.begin(), rows.end(), slot.row) == rows.end())
        others.push_back(slot.row);
    cache_.drop(others);
  }

  Model& model_;
  const Segments& segments_;
  const Json& actions_;
  size_t next_ = 0;
  KvCache cache_;
  std::optional<Fed> fed_;
};

void warp(const Json& test, Values& values) {
  std::vector<at::Tensor> rows;
  for (const Json& row : test.at("rows"))
    rows.push_back(at::tensor(row.get<std::vector<double>>(), at::kFloat));
  std::vector<OutputRequest> requests;
  for (const Json& s : test.at("sampling"))
    requests.push_back({.sampling = {s.at(0), s.at(1), s.at(2)}});
  std::vector<const OutputRequest*> pointers;
  for (size_t i = 0; i < requests.size(); ++i) {
    requests[i].banned = test.at("banned").at(i).get<std::vector<Token>>();
    pointers.push_back(&requests[i]);
  }
  for (const RowLogits& row : reduce_logits(at::stack(rows), pointers)) {
    for (const double value :
         {double(row.best), double(row.second), double(row.best_logit), double(row.second_logit)})
      values.push_back(value);
    values.insert(values.end(), row.probabilities.begin(), row.probabilities.end());
  }
}

void run(Model& model, const Segments& segments, const Json& test, Values& values) {
  if (test.contains("whole")) {
    const Fed fed(test["whole"]);
    return append(logits(model.network(), fed.tokens, fed.labels, segments), values);
  }
  if (test.contains("warp")) return warp(test["warp"], values);
  std::vector<Sequence> sequences;
  sequences.reserve(test.at("sequences").size());
  for (const Json& actions : test.at("sequences")) sequences.emplace_back(model, segments, actions);
  for (;;) {
    std::vector<SequenceStep> steps;
    for (Sequence& sequence : sequences)
      if (sequence.advance()) steps.push_back(sequence.step());
    if (steps.empty()) return;
    append(forward_rows(model.network(), steps), values);
  }
}

Values answer(const Json& request) {
  Segments segments;
  for (const Json& sees : request.at("segments")) segments.add(sees.get<std::vector<int>>());
  Model model = Model::load(request.at("model").get<std::string>(),
                            {.dtype = parse_dtype(request.at("dtype").get<std::string>()),
                             .adapter = request.value("adapter", "")});
  Values values;
  for (const Json& test : request.at("cases")) run(model, segments, test, values);
  return values;
}

}  // namespace

int main() {
  try {
    for (std::string line; std::getline(std::cin, line);) {
      const Values values = answer(Json::parse(line));
      const std::int64_t count = std::ssize(values);
      std::fwrite(&count, sizeof count, 1, stdout);
      std::fwrite(values.data(), sizeof(double), values.size(), stdout);
      std::fflush(stdout);
    }
    return 0;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
