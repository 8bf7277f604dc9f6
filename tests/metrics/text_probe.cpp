// text_probe < calls
// Each line is a JSON object, {"call": NAME, arguments}; each answer is a line with a JSON value.
#include <string>

#include "metrics/choice_letter.hpp"
#include "metrics/decoding_metrics.hpp"
#include "metrics/exact_match.hpp"
#include "metrics/judge_f1.hpp"
#include "metrics/pass_at_k.hpp"
#include "metrics/porter_stemmer.hpp"
#include "metrics/program_text.hpp"
#include "metrics/python_text.hpp"
#include "metrics/rouge.hpp"
#include "metrics/token_f1.hpp"
#include "src/support/choice_letters.hpp"
#include "src/support/json.hpp"
#include "tests/metrics/probe.hpp"

namespace {

using namespace pardec;

Json to_json(const RougeScore& score) { return {score.precision, score.recall, score.f1}; }

Json to_json(const SquadSummary::Part& part) { return {part.exact, part.f1, part.total}; }

Json summary(const Json& request) {
  std::vector<SquadQuestion> questions;
  for (const auto& question : request.at("questions"))
    questions.push_back(
        {squad_scores(question.at(0).get<std::string>(), question.at(1)), !question.at(1).empty()});
  Json each = Json::array();
  for (const auto& question : questions)
    each.push_back({question.scores.exact, question.scores.f1});
  const SquadSummary all = squad_summary(questions);
  return {{"each", each},
          {"all", to_json(all.all)},
          {"has_answer", to_json(all.has_answer)},
          {"no_answer", to_json(all.no_answer)}};
}

Json answer(const Json& request) {
  const auto call = request.at("call").get<std::string>();
  const auto text = request.value("text", "");
  if (call == "lower") return python_lower(text);
  if (call == "split") return python_split(text);
  if (call == "strip") return python_strip(text);
  if (call == "words") return words_of(text);
  if (call == "normalise") return normalise_answer(text);
  if (call == "stem") return porter_stem(text);
  if (call == "repetition") return repetition(text);
  if (call == "exact") return exact_match(text, request.at("references"));
  if (call == "letter" || call == "reference_letter") {
    const auto letter =
        (call == "letter" ? chosen_letter : reference_letter)(text, request.at("choices"));
    return letter ? Json(std::string(1, *letter)) : Json();
  }
  if (call == "program") return task_program(request.at("prompt").get<std::string>(), text);
  if (call == "outside_rouge") return is_outside_rouge(text);
  if (call == "pass_at_k") return pass_at_k(request.at("n"), request.at("c"), request.at("k"));
  if (call == "judge") {
    const JudgeCounts counts{request.at("C"), request.at("I"), request.at("M"), request.at("CN"),
                             request.at("H")};
    return {counts.precision(), counts.recall(), counts.f1()};
  }
  if (call == "squad") return summary(request);
  const RougeScores scores = rouge(text, request.at("references"), request.at("stem"),
                                   call == "rouge_unicode" ? unicode_tokens : rouge_tokens);
  return {to_json(scores.rouge1), to_json(scores.rouge2), to_json(scores.rougel)};
}

}  // namespace

int main() { return test::answer_lines(answer); }
