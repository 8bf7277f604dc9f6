// pardec's side of scripts/bench-peers: a program that measures on request, line by line, as
// tests/bench/peers/protocol.py does for the other peers.
//
//   pardec_peer --model DIR [--dtype bf16] [--threads N]     answers requests on stdin
//   pardec_peer --draw FIGURE.json FILE                      draws a figure (.svg, .png, .pdf)
//
// Requests and answers are JSON objects, one on each line; `seconds` has a number for each repeat.
//   {"what": "setup", "prompt": [ids], "continuation": [ids]}  -> {}
//   {"what": "prefill", "repeats": R}              the prompt, with the last row's logits
//   {"what": "step", "tokens": N, "repeats": R}    N ids after the prompt, with all their logits
//   {"what": "decode", "tokens": N, "repeats": R}  N greedy passes of one token after the prompt
//   {"what": "choices", "tokens": N}  -> {"choices": [the best id of each row of such a step]}
//   {"what": "machine"}  -> {"bytes_per_second", "flop_per_second"}
//   {"what": "work", "cached": C, "tokens": N, "asked": A}  -> {"bytes", "flops"} of such a pass
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <numeric>
#include <string>

#include "src/checkpoint/network_size.hpp"
#include "src/engine/engine.hpp"
#include "src/model/device.hpp"
#include "src/model/machine.hpp"
#include "src/report/figure.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {
namespace {

/// Rows of plain text after the first `fed` ones, with the logits of the last `asked`.
Step text_step(const Tokens& tokens, int fed, int asked) {
  Step step = prompt_step(tokens, fed);
  for (int i = step.size() - asked; i < step.size(); ++i) step.want(i);
  return step;
}

class Peer {
 public:
  explicit Peer(Model& model) : model_(model), engine_(model, clock_) {}

  Json answer(const Json& request) {
    const std::string what = request.at("what");
    if (what == "setup") {
      prompt_ = request.at("prompt").get<Tokens>();
      continuation_ = request.at("continuation").get<Tokens>();
      return Json::object();
    }
    if (what == "machine") {
      const MachineSpeed speed = measure_machine(model_.options().dtype);
      return {{"bytes_per_second", speed.bytes_per_second},
              {"flop_per_second", speed.flop_per_second}};
    }
    if (what == "work")
      return work(request.at("cached"), request.at("tokens"), request.at("asked"));
    repeats_ = request.value("repeats", 1);
    seconds_.clear();
    choices_.clear();
    const int tokens = request.value("tokens", 0);
    if (what == "prefill") {
      run([&] { return prefill(); });
    } else if (what == "decode") {
      run([&] { return decode(tokens); });
    } else if (what == "step" || what == "choices") {
      if (tokens < 1 || tokens > std::ssize(continuation_))
        throw ConfigError(str("a step of ", tokens, " tokens was asked for, the continuation has ",
                              continuation_.size()));
      run([&] { return steps(tokens); });
    } else {
      throw ConfigError(str("'", what, "' is no request"));
    }
    if (what == "choices") return {{"choices", choices_}};
    return {{"seconds", seconds_}};
  }

 private:
  template <typename Start>
  void run(const Start& start) {
    engine_.run(
        1, 1, [&](int) { return start(); }, [](const Ended& end) { end.rethrow(); });
  }
  double since(std::int64_t begin) const {
    return static_cast<double>(clock_.now_ns() - begin) * 1e-9;
  }
  int prompt_rows() const { return static_cast<int>(prompt_.size()); }

  Task<void> prefill() {
    for (int i = 0; i < repeats_; ++i) {
      Sequence sequence = engine_.open("prefill", "ar");
      const std::int64_t begin = clock_.now_ns();
      Step step = text_step(prompt_, 0, 1);
      co_await sequence.forward(std::move(step));
      seconds_.push_back(since(begin));
    }
  }

  Task<void> steps(int tokens) {
    Sequence sequence = engine_.open("step", "ar");
    Step prompt = text_step(prompt_, 0, 1);
    co_await sequence.forward(std::move(prompt));
    for (int i = 0; i < repeats_; ++i) {
      const std::int64_t begin = clock_.now_ns();
      Step step =
          text_step({continuation_.begin(), continuation_.begin() + tokens}, prompt_rows(), tokens);
      const StepResult seen = co_await sequence.forward(std::move(step));
      seconds_.push_back(since(begin));
      choices_.clear();
      for (const RowLogits& row : seen.outputs) choices_.push_back(row.best);
      std::vector<int> fed(static_cast<size_t>(tokens));
      std::iota(fed.begin(), fed.end(), seen.first_row);
      sequence.drop(fed);
    }
  }

  Task<void> decode(int tokens) {
    for (int i = 0; i < repeats_; ++i) {
      Sequence sequence = engine_.open("decode", "ar");
      Step prompt = text_step(prompt_, 0, 1);
      StepResult seen = co_await sequence.forward(std::move(prompt));
      const std::int64_t begin = clock_.now_ns();
      for (int n = 0; n < tokens; ++n) {
        const Token token = seen.outputs[0].best;
        Step step = text_step({token}, prompt_rows() + n, 1);
        seen = co_await sequence.forward(std::move(step));
      }
      seconds_.push_back(since(begin));
    }
  }

  Json work(std::int64_t cached, std::int64_t tokens, std::int64_t asked) const {
    const PassWork pass{.rows = tokens,
                        .head_rows = asked,
                        .cached = cached,
                        .pairs = tokens * cached + tokens * (tokens + 1) / 2};
    const PassBound units = pass_bound(pass, network_size(model_.config(), model_.options().dtype),
                                       {.bytes_per_second = 1, .flop_per_second = 1});
    return {{"bytes", units.memory_seconds}, {"flops", units.compute_seconds}};
  }

  Model& model_;
  SteadyClock clock_;
  Engine engine_;
  Tokens prompt_, continuation_;
  int repeats_ = 1;
  std::vector<double> seconds_;
  Tokens choices_;
};

int serve(const std::string& folder, const std::string& dtype, int wanted_threads) {
  set_threads(wanted_threads);
  Model model = Model::load(folder, {.dtype = parse_dtype(dtype)});
  Peer peer(model);
  std::cout << dump(Json{{"peer", "pardec"},
                         {"version", str(version().version, " ", version().commit)},
                         {"threads", threads()},
                         {"vocabulary", model.config().vocab_size},
                         {"weight_bytes", model.weight_bytes()}})
            << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    Json answer;
    try {
      answer = peer.answer(Json::parse(line));
    } catch (const std::exception& error) {
      answer = {{"error", error.what()}};
    }
    std::cout << dump(answer) << std::endl;
  }
  return 0;
}

/// {"title", "x", "y", "series": [{"name", "colour", "points": [[x, y] or [x, y, low, high]]}]}
int draw_file(const std::string& description, const std::string& output) {
  const Json json = read_json(description);
  Figure figure;
  figure.title = json.at("title");
  figure.x_label = json.at("x");
  figure.y_label = json.at("y");
  figure.height = 420;
  for (const Json& one : json.at("series")) {
    FigureSeries series{.name = one.at("name"), .colour = one.at("colour")};
    for (const Json& at : one.at("points")) {
      FigurePoint point{.x = at.at(0), .y = at.at(1)};
      if (at.size() == 4) point.low = at.at(2), point.high = at.at(3);
      series.points.push_back(point);
    }
    figure.series.push_back(std::move(series));
  }
  write_file(output, draw(figure, figure_format(output)));
  return 0;
}

int run(const std::vector<std::string>& args) {
  std::string model, dtype = "bf16", threads = "0";
  for (size_t i = 0; i < args.size(); i += 2) {
    const auto value = [&](size_t ahead) {
      if (i + ahead >= args.size()) throw ConfigError(str(args[i], " misses its value"));
      return args[i + ahead];
    };
    if (args[i] == "--draw") return draw_file(value(1), value(2));
    if (args[i] == "--model")
      model = value(1);
    else if (args[i] == "--dtype")
      dtype = value(1);
    else if (args[i] == "--threads")
      threads = value(1);
    else
      throw ConfigError(str("'", args[i], "' is unknown, expected --model, --dtype, --threads"));
  }
  if (model.empty()) throw ConfigError("no network was named; give --model DIR");
  return serve(model, dtype, std::atoi(threads.c_str()));
}

}  // namespace
}  // namespace pardec

int main(int argc, char** argv) {
  try {
    return pardec::run({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    std::cerr << "pardec_peer: " << error.what() << "\n";
    return 1;
  }
}
