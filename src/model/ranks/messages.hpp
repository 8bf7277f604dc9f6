#pragma once
// The messages of rank 0 to the other ranks: written by Ranks, read by follow().
#include <cstdint>
#include <vector>

#include "src/model/model.hpp"
#include "src/model/ranks/bytes.hpp"

namespace pardec {

/// What a message is about. Each call of Group::tell sends one or more messages, one after another.
/// A message has one of these kinds, then (except for `end`) the number of a model or cache, then
/// the arguments of the function of Ranks that wrote the message.
enum class Said : std::uint8_t {
  load,
  open_cache,
  fork_cache,
  drop,
  retract,
  relabel,
  evict,
  forget,  ///< rank 0 destroyed the model or cache
  pass,
  heads,
  end,  ///< rank 0 destroyed its Ranks: follow() returns
};

/// Writes all members of `request`.
inline void put_request(ByteWriter& to, const OutputRequest& request) {
  to.put(request.index);
  to.put(request.sampling);
  to.put(request.logits);
  to.put(request.confidence);
  to.put(request.head);
  to.put(request.top);
  std::vector<Token> ids;
  std::vector<double> biases;
  for (const auto& [id, bias] : request.biased) ids.push_back(id), biases.push_back(bias);
  to.put_all(ids);
  to.put_all(biases);
  to.put_all(request.repeated);
  to.put(request.repetition_penalty);
  to.put_all(request.banned);
  to.put_all(request.allowed);
}

/// Reads what put_request wrote. Errors: see ByteReader.
inline OutputRequest get_request(ByteReader& from) {
  OutputRequest request;
  request.index = from.get<int>();
  request.sampling = from.get<Sampling>();
  request.logits = from.get<bool>();
  request.confidence = from.get<bool>();
  request.head = from.get<int>();
  request.top = from.get<int>();
  const auto ids = from.get_all<Token>();
  const auto biases = from.get_all<double>();
  for (size_t i = 0; i < ids.size(); ++i) request.biased.emplace_back(ids[i], biases[i]);
  request.repeated = from.get_all<Token>();
  request.repetition_penalty = from.get<double>();
  request.banned = from.get_all<Token>();
  request.allowed = from.get_all<Token>();
  return request;
}

}  // namespace pardec
