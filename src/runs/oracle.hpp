#pragma once
#include <optional>
#include <string>

#include "decoders/speculation/acceptance.hpp"

namespace pardec {

struct Arm;

/// What is forced in place of the network's own choices.
struct OracleSpec {
  std::string text;  ///< as it was given, and as the run stores it; empty: no oracle
  std::string kind;  ///< references, recorded or accept; empty: no oracle
  std::string run;   ///< recorded:RUN
  std::optional<AcceptanceLaw> acceptance;  ///< of kind accept; give_oracle fills it from a curve
  std::string curves, network;              ///< accept-curve:FILE:NETWORK
};

/// references, recorded:RUN, accept:A[,A...], accept-length:L or accept-curve:FILE:NETWORK.
/// `where`: what it was given by, for errors. ConfigError.
OracleSpec parse_oracle(const std::string& text, const std::string& where);

/// Gives the arm that of the run, unless it has its own. What guesses are accepted by says nothing
/// of the plain decoder, which stays free next to arms that guess. An acceptance curve is read at
/// the arm's draft length. ConfigError where the oracle does not drive the arm, or a mean length is
/// more than its guesses can give.
void give_oracle(Arm& arm, const OracleSpec& of_run);

/// ConfigError where the oracle does not drive the arm.
void check_driven(const OracleSpec& oracle, const Arm& arm);

/// The mean tokens of a pass that checks guesses, as somebody published them, from a file
///   {"source": "...", "measure": "accept_length" or "accept_rate", "draft_lengths": [1, 3, 5],
///    "networks": {"Vicuna-7B": [1.8, 2.4, null]}}
/// accept_length counts the network's own token too; accept_rate is the share of all guesses that
/// were accepted. null: not published. ConfigError: no such file, network or draft length (with
/// those that are there), or a value that no acceptance gives.
double published_accept_length(const std::string& file, const std::string& network,
                               int draft_length);

}  // namespace pardec
