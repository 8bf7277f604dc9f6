#pragma once
#include <string>

#include "src/support/gguf.hpp"
#include "src/support/json.hpp"

namespace pardec {

/// One supported `general.architecture` of GGUF files.
struct GgufFamily {
  const char* architecture;  ///< the value of `general.architecture`
  const char* model_type;    ///< Family::model_type
  /// ggml rotates neighbouring dimensions. Therefore the rows of q and k are stored in another
  /// order than in transformers (GgufForm::heads).
  bool rotates_neighbours = false;
  /// Every n-th layer has no sliding window, where n is this number; 0: no layer has a window.
  int pattern = 0;
  /// One network of the family divides attention scores by sqrt(hidden_size / heads) instead of by
  /// sqrt(head_dim). Like ggml, this program recognises that network by its number of layers, which
  /// is this number. 0: there is no such network.
  int scaled_by_width = 0;
  const char* mlp_norm = "ffn_norm";  ///< name of the norm before the MLP
};
/// The supported architecture of the file. ModelError: the file names no architecture, or one that
/// is not supported; then the message lists what is supported.
const GgufFamily& gguf_family(const Gguf& gguf);

/// The config.json that transformers would have for the network in a GGUF file. ModelError: the
/// file is of an unsupported architecture, does not have a required key, has an unsupported value,
/// or is only a part of a network.
Json gguf_config(const Gguf& gguf);

/// The type in which the file stores most numbers, e.g. "Q4_1"; empty: the file has no tensors.
std::string main_type(const Gguf& gguf);

}  // namespace pardec
