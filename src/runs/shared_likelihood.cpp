#include "src/runs/shared_likelihood.hpp"

#include <utility>

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// What AnswerLikelihood reads of an example.
Json to_json(const ScoredExample& example) {
  Json fields = Json::array();
  for (const ScoredField& field : example.fields)
    fields.push_back({field.name, field.question, field.answer});
  return {{"text", example.text}, {"fields", std::move(fields)}};
}

ScoredExample example_of(const Json& json) {
  ScoredExample example;
  example.text = json.at("text").get<std::string>();
  for (const Json& field : json.at("fields")) {
    ScoredField& read = example.fields.emplace_back();
    read.name = field.at(0).get<std::string>();
    read.question = field.at(1).get<std::string>();
    read.answer = field.at(2).get<std::string>();
  }
  return example;
}

Json to_json(const ScoreRow& row) {
  return {row.metric, row.value, row.field, row.version, row.details};
}

ScoreRow row_of(const Json& json) {
  return {.metric = json.at(0).get<std::string>(),
          .value = json.at(1).get<double>(),
          .field = json.at(2).get<std::string>(),
          .version = json.at(3).get<std::string>(),
          .details = json.at(4)};
}

}  // namespace

std::vector<std::vector<ScoreRow>> share_likelihoods(
    Group& group, const std::vector<ScoredExample>& examples, const ScoreExample& likelihood,
    const std::string& network, const std::function<void(std::int64_t count)>& taken) {
  Json all = Json::array();
  for (const ScoredExample& example : examples) all.push_back(to_json(example));
  all = Json::parse(group.broadcast(dump(all)));
  Json scored = Json::array();  // numbers of examples, with their rows
  {
    Dealer dealer(group);
    for (std::int64_t i = dealer.next(); i < std::ssize(all); i = dealer.next()) {
      taken(i);
      Json rows = Json::array();
      for (const ScoreRow& row : likelihood(example_of(all[static_cast<std::size_t>(i)])))
        rows.push_back(to_json(row));
      scored.push_back({i, std::move(rows)});
    }
  }
  if (group.rank() > 0) {
    group.send(dump(Json{{"network", network}, {"scored", std::move(scored)}}));
    return {};
  }
  std::vector<std::vector<ScoreRow>> rows(examples.size());
  const auto take = [&](const Json& some) {
    for (const Json& one : some)
      for (const Json& row : one.at(1))
        rows.at(one.at(0).get<std::size_t>()).push_back(row_of(row));
  };
  take(scored);
  for (int rank = 1; rank < group.size(); ++rank) {
    const Json theirs = Json::parse(group.receive(rank));
    if (theirs.at("network") != network)
      throw ConfigError(str("the process of rank ", rank, " has another network than that of rank ",
                            "0; give all processes the same checkpoint"));
    take(theirs.at("scored"));
  }
  return rows;
}

}  // namespace pardec
