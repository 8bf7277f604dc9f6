#include "src/runs/baseline_arms.hpp"

#include <algorithm>

#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr const char* kAsk = "ask";

Json ask_of(const Arm& arm) {
  const OrderedJson options = arm.algorithm->options();
  return options.contains(kAsk) ? Json(options[kAsk]) : Json("together");
}

/// How the plain decoder must ask to be this arm's baseline.
Json wanted_ask(const Arm& arm) {
  const std::string_view asks = find_decoder(arm.decoder).baseline_asks;
  return asks.empty() ? ask_of(arm) : Json(std::string(asks));
}

bool serves(const Arm& plain, const Arm& arm) {
  return baseline_rank({arm.decoder, arm.options}, {plain.decoder, plain.options}) > 0 &&
         ask_of(plain) == wanted_ask(arm);
}

/// A copy of the plain arm that asks in this form.
Arm asking(const Arm& plain, const Json& ask, const std::vector<Arm>& arms) {
  Arm arm = plain;
  put_option(arm, kAsk, ask);
  arm.added = true;
  arm.label = str(plain.label, "-", ask.get<std::string>());
  while (std::any_of(arms.begin(), arms.end(),
                     [&](const Arm& other) { return other.label == arm.label; }))
    arm.label += "-" + plain.label;
  return arm;
}

}  // namespace

void add_baselines(RunSpec& spec) {
  if (!spec.baseline.empty()) return;
  std::vector<Arm>& arms = spec.arms;
  std::vector<Arm> given = arms;
  for (Arm& arm : given)
    take_trained_options(arm, read_training_record(texts_folder(networks_of(spec, arm))).settings);
  std::vector<Arm> all = given;  // including added ones
  for (const Arm& arm : given) {
    if (arm.decoder == kPlainDecoder ||
        std::any_of(all.begin(), all.end(), [&](const Arm& other) { return serves(other, arm); }))
      continue;
    const auto near = [&](const Arm& plain) {
      return plain.model == arm.model && plain.adapter == arm.adapter;
    };
    // the arm to derive the baseline from, preferably on the same network
    const Arm* best = nullptr;
    for (const Arm& plain : given) {
      const bool asked =
          std::find(plain.given.begin(), plain.given.end(), kAsk) != plain.given.end();
      if (plain.decoder != kPlainDecoder || asked || plain.trained_options.contains(kAsk) ||
          !serves(asking(plain, wanted_ask(arm), {}), arm))
        continue;
      if (!best || (near(plain) && !near(*best))) best = &plain;
    }
    if (!best) continue;
    const auto place = std::find_if(arms.begin(), arms.end(),
                                    [&](const Arm& one) { return one.label == best->label; });
    const Arm added = asking(*place, wanted_ask(arm), arms);
    all.push_back(added);
    arms.insert(place + 1, added);
  }
}

std::vector<AddedBaseline> added_baselines(const std::vector<Arm>& arms) {
  std::vector<AddedBaseline> added;
  for (size_t a = 0; a < arms.size(); ++a) {
    if (!arms[a].added) continue;
    AddedBaseline& one = added.emplace_back(AddedBaseline{a, arms[a].label, {}});
    for (size_t other = 0; other < arms.size(); ++other)
      if (baseline_of(arms, other, "") == a) one.serves.push_back(arms[other].label);
  }
  return added;
}

}  // namespace pardec
