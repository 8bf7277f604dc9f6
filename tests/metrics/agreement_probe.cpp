// agreement_probe < calls
// Each line is a JSON object, {"call": NAME, arguments}; each answer is a line with a JSON value.
#include <string>

#include "metrics/agreement.hpp"
#include "metrics/preference.hpp"
#include "src/support/json.hpp"
#include "tests/metrics/probe.hpp"

namespace {

using namespace pardec;

std::vector<Votes> votes_of(const Json& rows) {
  std::vector<Votes> items;
  for (const Json& row : rows) {
    Votes& votes = items.emplace_back();
    for (const Json& vote : row)
      votes.push_back(vote.is_null() ? std::nullopt : std::optional(vote.get<double>()));
  }
  return items;
}

Json ends(const Interval& interval) {
  return Json::array({interval.estimate, interval.low, interval.high});
}

Json answer(const Json& request) {
  const auto call = request.at("call").get<std::string>();
  if (call == "cohen") return cohen_kappa(request.at("pairs").get<std::vector<LabelPair>>());
  if (call == "fleiss") return fleiss_kappa(votes_of(request.at("items")));
  if (call == "alpha") return krippendorff_alpha_ordinal(votes_of(request.at("items")));
  if (call == "flip") return flip_rate(votes_of(request.at("items")));
  if (call == "length") {
    std::vector<LengthPair> pairs;
    for (const Json& one : request.at("pairs")) pairs.push_back({one[0], one[1], one[2]});
    return ends(length_adjusted_win_rate(pairs, request.at("clusters")));
  }
  std::vector<Game> games;
  for (const Json& one : request.at("games")) games.push_back({one[0], one[1], one[2], one[3]});
  Json out = Json::array();
  for (const Interval& one : bradley_terry(games, request.at("arms"), request.at("clusters")))
    out.push_back(ends(one));
  return out;
}

}  // namespace

int main() { return test::answer_lines(answer); }
