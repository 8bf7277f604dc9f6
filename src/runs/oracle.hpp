#pragma once
#include <optional>
#include <string>

#include "decoders/speculation/acceptance.hpp"

namespace pardec {

struct Arm;

/// Defines what is forced instead of the network's own choices.
struct OracleSpec {
  std::string text;  ///< as given, and as stored by the run; empty: no oracle
  std::string kind;  ///< references, recorded or accept; empty: no oracle
  std::string run;   ///< recorded:RUN
  std::optional<AcceptanceLaw> acceptance;  ///< for kind accept; give_oracle sets it from a curve
  std::string curves, network;              ///< accept-curve:FILE:NETWORK
};

/// `text`: references, recorded:RUN, accept:A[,A...], accept-length:L or accept-curve:FILE:NETWORK.
/// `where`: the source of the text, for errors. ConfigError.
OracleSpec parse_oracle(const std::string& text, const std::string& where);

/// Sets the arm's oracle to that of the run, unless it has its own. Oracles for the acceptance of
/// guesses do not apply to the plain decoder. It makes its own choices, even if other arms are
/// forced. An acceptance curve is read at the arm's draft length. ConfigError: the arm does not
/// support the oracle, or a mean length exceeds what its guesses allow.
void give_oracle(Arm& arm, const OracleSpec& of_run);

/// ConfigError: the arm does not support the oracle.
void check_driven(const OracleSpec& oracle, const Arm& arm);

/// The published mean number of tokens per pass that verifies guesses, from a file
///   {"source": "...", "measure": "accept_length" or "accept_rate", "draft_lengths": [1, 3, 5],
///    "networks": {"Vicuna-7B": [1.8, 2.4, null]}}
/// accept_length includes the network's own token; accept_rate is the share of all guesses that
/// were accepted. null: not published. ConfigError: there is no such file, network or draft length
/// (with the available ones), or the value is impossible.
double published_accept_length(const std::string& file, const std::string& network,
                               int draft_length);

}  // namespace pardec
