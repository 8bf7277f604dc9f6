#include "src/cli/generate_notes.hpp"

#include <algorithm>
#include <iostream>

#include "decoders/training_formats.hpp"
#include "src/report/table.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"
#include "src/tasks/generation_speed.hpp"

namespace pardec {

void print_profile(const Profile& profile, std::int64_t wall_ns) {
  const auto share = [&](const char* what, std::int64_t ns) {
    const double percent = 100.0 * static_cast<double>(ns) / static_cast<double>(wall_ns);
    return str(what, " ", number_cell(percent, 2).text, " %");
  };
  std::cerr << "profile: " << number_cell(static_cast<double>(wall_ns) * 1e-9, 3).text
            << " s: " << share("linear", profile.linear_ns) << ", "
            << share("attention", profile.attention_ns) << ", "
            << share("norm and rope", profile.rows_ns) << ", "
            << share("logit reduction", profile.logits_ns) << ", "
            << (profile.exchange_ns > 0 ? share("other processes", profile.exchange_ns) + ", " : "")
            << share("rest", wall_ns - profile.sum()) << "\n";
}

void print_speed(const std::vector<std::optional<Answers>>& answers, std::int64_t wall_ns,
                 int in_flight, AnswerFormat format) {
  std::vector<Counters> costs;
  for (const auto& one : answers)
    if (one) costs.push_back(one->counters);
  if (costs.empty()) return;
  const GenerationSpeed speed = generation_speed(costs, wall_ns, in_flight);
  if (format == AnswerFormat::json)
    std::cerr << dump(OrderedJson{{"speed", json_of(speed)}}) << "\n";
  else
    std::cerr << "speed: " << text_of(speed) << "\n";
}

namespace {

bool stops_by(const std::optional<Answers>& one, Stop stop) {
  return one && (one->stop == stop ||
                 std::any_of(one->fields.begin(), one->fields.end(), [&](const auto& fields) {
                   return std::any_of(fields.begin(), fields.end(),
                                      [&](const FieldResult& field) { return field.stop == stop; });
                 }));
}

}  // namespace

void print_positions_end(const std::vector<std::optional<Answers>>& answers,
                         const ModelConfig& config) {
  const auto count = std::count_if(answers.begin(), answers.end(),
                                   [](const auto& one) { return stops_by(one, Stop::context); });
  if (count > 0)
    std::cerr << str(counted(count, "answer"), count > 1 ? " end" : " ends",
                     " early: the network has ", config.positions(), " positions (",
                     config.positions_key(), ")\n");
}

std::string describe_stop(const std::vector<std::optional<Answers>>& answers,
                          const std::vector<std::string>& errors) {
  const auto cut = std::count_if(answers.begin(), answers.end(),
                                 [](const auto& one) { return stops_by(one, Stop::interrupted); });
  std::int64_t open = 0;
  for (size_t i = 0; i < answers.size(); ++i) open += !answers[i] && errors[i].empty();
  std::vector<std::string> parts;
  if (cut > 0) parts.push_back(str(counted(cut, "answer"), cut > 1 ? " were cut" : " was cut"));
  if (open > 0) parts.push_back(str(counted(open, "prompt"), " not begun"));
  return "stopped" + (parts.empty() ? " after the last answer" : ": " + join(parts, ", "));
}

void print_trained_options(const Arm& arm) {
  std::vector<std::string> options;
  for (const auto& [name, value] : arm.trained_options.items())
    if (name != find_decoder(arm.decoder).stack_option) options.push_back(option_text(name, value));
  if (!options.empty())
    std::cerr << "model: " << join(options, ", ")
              << ", as the network was trained (training.json); --set gives others\n";
}

}  // namespace pardec
