#pragma once
// Functions for a network that several processes compute together, each with a part of it
// (share.hpp).
#include <span>
#include <string>
#include <vector>

#include "src/model/network.hpp"

namespace pardec {

/// The part of one weight that belongs to `share`, in the shape that the weight has in a network of
/// part_of(config, share). `config`: the config of the whole network. `parameter`: an element of
/// parameters(config) or extra_head_parameters. `whole`: this weight in the whole network. The
/// result may use the memory of `whole`.
at::Tensor part_of(const Parameter& parameter, const at::Tensor& whole, const ModelConfig& config,
                   const Share& share);

/// Returns the sums of `x` over all processes, in the shape and type of `x`. `x` itself must not be
/// used afterwards: it may or may not contain the sums. Sums are computed in float32, or in float64
/// for float64. RunError: another process does not answer. REQUIRES: all processes call this with
/// tensors of one shape and type.
at::Tensor sum_over(Group& group, at::Tensor x);

/// As reduce_logits, with one request per row of `logits`. But each process passes only the logits
/// of its own ids, [m, Share::vocab.count]. The results are valid in rank 0; in other ranks, they
/// have no meaning. Rank 0 collects all logits of a row only if the request for this row needs more
/// than the two best ids. RunError: another process does not answer. REQUIRES: all processes call
/// this with the same requests.
std::vector<RowLogits> reduce_split_logits(const NetworkSplit& split, const at::Tensor& logits,
                                           std::span<const OutputRequest* const> requests);

}  // namespace pardec
