#include "src/runs/oracle.hpp"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/runs/arms.hpp"
#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

AcceptanceLaw rates_in(const std::string& text, const std::string& where) {
  AcceptanceLaw law;
  for (const std::string& part : split(text, ',')) {
    const auto rate = number_in<double>(part);
    if (!rate || !(*rate >= 0 && *rate <= 1))
      throw ConfigError(str(where, " accept: a rate is '", part, "', expected 0 to 1"));
    law.rates.push_back(*rate);
  }
  return law;
}

AcceptanceLaw length_in(const std::string& text, const std::string& where) {
  const auto length = number_in<double>(text);
  if (!length || !(*length >= 1 && *length <= kMostRows))
    throw ConfigError(str(where, " accept-length: the length is '", text,
                          "', expected the mean tokens of a pass, 1 or more"));
  return {{}, *length};
}

bool drives(const OracleSpec& oracle, std::string_view decoder) {
  const auto& kinds = find_decoder(decoder).oracles;
  return std::find(kinds.begin(), kinds.end(), oracle.kind) != kinds.end();
}

/// Sets the acceptance for an arm that verifies at most `guesses` guesses per pass.
void read_curve(OracleSpec& oracle, const Arm& arm, std::optional<int> guesses) {
  if (!guesses)
    throw ConfigError(str("`oracle=accept-curve`: arm '", arm.label,
                          "' has no constant draft length, expected one to look up; give "
                          "accept-length:L, or a constant schedule"));
  const double length = published_accept_length(oracle.curves, oracle.network, *guesses);
  oracle.acceptance = AcceptanceLaw{{}, length};
  oracle.text = str("accept-length:", dump(Json(length)), " (", oracle.network, ", ",
                    std::filesystem::path(oracle.curves).filename().string(), ")");
}

}  // namespace

OracleSpec parse_oracle(const std::string& text, const std::string& where) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  const std::string value = colon == std::string::npos ? "" : text.substr(colon + 1);
  OracleSpec oracle;
  oracle.text = text;
  if (text.empty() || text == "references") {
    oracle.kind = text;
  } else if (name == "recorded" && !value.empty()) {
    oracle.kind = name;
    oracle.run = value;
  } else if (name == "accept" && colon != std::string::npos) {
    oracle.kind = "accept";
    oracle.acceptance = rates_in(value, where);
  } else if (name == "accept-length" && colon != std::string::npos) {
    oracle.kind = "accept";
    oracle.acceptance = length_in(value, where);
  } else if (const size_t last = value.rfind(':'); name == "accept-curve" &&
                                                   last != std::string::npos && last > 0 &&
                                                   last + 1 < value.size()) {
    oracle.kind = "accept";
    oracle.curves = value.substr(0, last);
    oracle.network = value.substr(last + 1);
  } else {
    throw ConfigError(str(where, " is '", text,
                          "', expected references, recorded:RUN, accept:A[,A...], "
                          "accept-length:L or accept-curve:FILE:NETWORK"));
  }
  return oracle;
}

void check_driven(const OracleSpec& oracle, const Arm& arm) {
  if (drives(oracle, arm.decoder)) {
    if (const std::string why = arm.algorithm->why_not_forced(oracle.kind); !why.empty())
      throw ConfigError(str("`oracle` ", oracle.kind, " does not drive arm '", arm.label, "': it ",
                            why, "; leave one out"));
    return;
  }
  std::vector<std::string> driven;
  for (const auto& entry : decoders())
    if (drives(oracle, entry.name)) driven.emplace_back(entry.name);
  throw ConfigError(str("`oracle` ", oracle.kind, " drives decoders that ",
                        oracle.kind == "accept"     ? "draft"
                        : oracle.kind == "recorded" ? "choose their tokens one by one"
                                                    : "answer in a form of references",
                        " (", join(driven, ", "), "), arm '", arm.label, "' is ", arm.decoder,
                        "; run it separately"));
}

void give_oracle(Arm& arm, const OracleSpec& of_run) {
  if (arm.oracle.text.empty()) {
    if (of_run.text.empty() || (of_run.kind == "accept" && arm.decoder == kPlainDecoder)) return;
    arm.oracle = of_run;
  }
  check_driven(arm.oracle, arm);
  if (arm.oracle.kind != "accept") return;
  const std::optional<int> guesses = arm.algorithm->draft_length();
  if (!arm.oracle.curves.empty()) read_curve(arm.oracle, arm, guesses);
  if (guesses && arm.oracle.acceptance->length > *guesses + 1)
    throw ConfigError(str("`oracle` ", arm.oracle.text, ": arm '", arm.label, "' checks ", *guesses,
                          " ", plural(*guesses, "guess"), " a pass, expected a length of at most ",
                          *guesses + 1, ": these and the network's own token"));
}

double published_accept_length(const std::string& file, const std::string& network,
                               int draft_length) {
  const Json whole = read_json(file);
  JsonReader read(whole, file);
  read.optional<std::string>("source", "");
  const auto measure = read.required<std::string>("measure");
  if (measure != "accept_length" && measure != "accept_rate")
    throw ConfigError(
        str(file, ": 'measure' is '", measure, "', expected accept_length or accept_rate"));
  const auto lengths = read.required<std::vector<int>>("draft_lengths");
  const Json& networks = read.any("networks");
  read.finish();
  if (!networks.is_object())
    throw ConfigError(str(file, ": 'networks' is ", networks.type_name(),
                          ", expected an object of names and lists, a value for each of "
                          "draft_lengths"));
  const auto row = networks.find(network);
  if (row == networks.end()) {
    std::vector<std::string> names;
    for (const auto& [name, values] : networks.items()) names.push_back(name);
    throw ConfigError(
        str(file, ": no network is named '", network, "'", known_names(network, names)));
  }
  if (!row->is_array() || row->size() != lengths.size())
    throw ConfigError(str(file, ": 'networks': '", network, "' is ", dump(*row), ", expected ",
                          counted(std::ssize(lengths), "value"),
                          ", one for each of draft_lengths"));
  std::vector<std::string> there;
  for (size_t i = 0; i < lengths.size(); ++i) {
    const Json& value = (*row)[i];
    if (value.is_null()) continue;
    there.push_back(std::to_string(lengths[i]));
    if (lengths[i] != draft_length) continue;
    const double most = measure == "accept_rate" ? 1 : draft_length + 1;
    const double least = measure == "accept_rate" ? 0 : 1;
    if (!value.is_number() || value.get<double>() < least || value.get<double>() > most)
      throw ConfigError(str(file, ": 'networks': '", network, "': the ", measure,
                            " at draft length ", draft_length, " is ", dump(value), ", expected ",
                            least, " to ", most));
    const auto number = value.get<double>();
    return measure == "accept_rate" ? 1 + number * draft_length : number;
  }
  throw ConfigError(str(file, ": '", network, "' has nothing at draft length ", draft_length,
                        ", expected one of ", join(there, ", ")));
}

}  // namespace pardec
