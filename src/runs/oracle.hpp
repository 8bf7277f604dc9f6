#pragma once
#include <optional>
#include <string>

#include "decoders/speculation/acceptance.hpp"

namespace pardec {

struct Arm;

/// Defines what an oracle forces. The kind `references` forces the tokens of the reference answers,
/// and `recorded` forces the tokens that a stored run chose. The kind `accept` decides which
/// guesses are accepted, regardless of the logits.
struct OracleSpec {
  /// The text that the run stores; empty: no oracle. It is as the user wrote it, but give_oracle
  /// replaces accept-curve:FILE:NETWORK by the accepted length that it reads from FILE.
  std::string text;
  std::string kind;                         ///< references, recorded or accept; empty: no oracle
  std::string run;                          ///< RUN of recorded:RUN
  std::optional<AcceptanceLaw> acceptance;  ///< for kind accept; for a curve, give_oracle sets it
  std::string curves, network;              ///< FILE and NETWORK of accept-curve:FILE:NETWORK
};

/// Parses the value of --oracle: references, recorded:RUN (read_recording), accept:A[,A...]
/// (AcceptanceLaw::rates, from 0 to 1), accept-length:L (AcceptanceLaw::length, at least 1) or
/// accept-curve:FILE:NETWORK (published_accept_length); empty: no oracle. `where`: the source of
/// the text, for errors. ConfigError: the text has another form, or a number is out of range.
OracleSpec parse_oracle(const std::string& text, const std::string& where);

/// Sets the arm's oracle to the run's oracle, unless the arm has an oracle of its own. If the run's
/// oracle is of kind `accept`, arms with decoder `ar` are left unchanged, because `ar` makes no
/// guesses. An acceptance curve is read at the arm's draft length. ConfigError: the arm does not
/// support the oracle, the accepted length is larger than the arm's number of guesses per pass plus
/// 1, or the acceptance curve has no value for the arm, e.g. because the arm's draft length varies.
/// DataError: see published_accept_length.
void give_oracle(Arm& arm, const OracleSpec& of_run);

/// Checks that the arm's decoder can run with the oracle. ConfigError: the decoder cannot.
void check_driven(const OracleSpec& oracle, const Arm& arm);

/// Reads a published accepted length (the mean number of tokens per pass that verifies guesses)
/// from a file of this form:
///   {"source": "...", "measure": "accept_length" or "accept_rate", "draft_lengths": [1, 3, 5],
///    "networks": {"Vicuna-7B": [1.8, 2.4, null]}}
/// `networks` maps each network to a list with one value for each draft length, in the same order.
/// accept_length includes the network's own token. accept_rate is the share of accepted guesses;
/// the accepted length is then 1 + accept_rate * draft_length. null: not published. `draft_length`:
/// the number of guesses per pass. DataError: the file cannot be read or is not JSON. ConfigError:
/// there is no such network or draft length (the message lists the available ones), the file has
/// another form, or the value is impossible.
double published_accept_length(const std::string& file, const std::string& network,
                               int draft_length);

}  // namespace pardec
