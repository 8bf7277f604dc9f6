#pragma once
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "decoders/decoder.hpp"
#include "src/support/rng.hpp"
#include "tests/support/data.hpp"
#include "tests/support/slow_transformer.hpp"

namespace pardec::test {

/// A byte-level tokenizer.json: `</s>` has id 0, `<s>` 1, and byte b has id b + 4; merges follow.
/// About one token in three contains a line break, in most cases with a letter before or after it.
/// Thus a random network ends values early, some of them at once.
Json line_break_tokenizer();
inline constexpr Token kLineBreak = 4 + '\n';

/// A tensor for write_bf16.
struct WholeTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};
/// Writes a safetensors file of bf16 tensors. `value`: an element by its tensor's name and its
/// index; bf16 must represent it exactly.
void write_bf16(const std::filesystem::path& file, const std::vector<WholeTensor>& tensors,
                const std::function<float(const std::string& name, std::int64_t index)>& value);

/// A checkpoint in a temporary folder: a random network of a few thousand weights, with
/// line_break_tokenizer(). The constructor also sets the number of threads of the process to 1.
class TinyNetwork {
 public:
  /// `family`: the `model_type` of any supported family. `changes`: merged into the family's
  /// config. `loud`: ids whose logits are doubled, so that control tokens are chosen often.
  explicit TinyNetwork(const std::string& family = "llama", std::uint64_t seed = 1,
                       const Json& changes = Json::object(), const Tokens& loud = {});

  /// Adds random extra heads with `blocks` residual blocks each. `share_head`: they use the matrix
  /// of the network's head instead of separate matrices.
  void add_heads(int heads, int blocks, std::uint64_t seed = 1, bool share_head = false);

  /// Loads the network.
  Model load(Dtype dtype) const;
  /// Loads the network with NaN in row `row` of a matrix of the network or of its extra heads.
  /// `matrix`: the name of the matrix in its file.
  Model load_spoiled(Dtype dtype, const std::string& matrix, Token row) const;
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  /// Only for llama, qwen3, qwen3_moe, gemma2 and gemma3_text.
  const SlowTransformer& slow() const {
    if (!slow_) slow_.emplace(folder_.path());
    return *slow_;
  }

 private:
  TemporaryFolder folder_;
  std::optional<Tokenizer> tokenizer_;
  mutable std::optional<SlowTransformer> slow_;  // made when it is asked for
};

/// A job with `products` random texts and fields A1, A2, ...; equal arguments give the same job.
Job random_job(const std::string& id, int products, int fields, std::uint64_t seed);
/// Makes a request with this prompt file. The default is a short prompt file for tests.
Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer,
                     const PromptFile& wording);
Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer);
/// A request with these ids as an open prompt, as `generate --prompt-tokens` makes it.
Request open_request(const std::string& id, Tokens prompt, int max_new_tokens,
                     const Sampling& sampling = {}, std::uint64_t seed = 1);

/// The results of a list of requests.
struct Ran {
  std::vector<std::optional<Answers>> answers;  ///< one per request; none: the request failed
  std::vector<std::string> errors;              ///< one per request; empty: it succeeded
  std::map<std::string, Trace> traces;          ///< name of the sequence -> trace
  CacheReport cache;

  /// The answers of request i. REQUIRES: it has not failed.
  const Answers& of(size_t i = 0) const;
};

/// Decodes requests, at most `live` at a time. `traced`: whether traces are recorded (a trace of a
/// draft network has the sequence's name followed by "#draft"). `draft`: the draft network; null:
/// none. `chance`: the source of all random decisions; null: the default sources. `cascade`: see
/// Engine::set_cascade. An Error of a request is in Ran::errors; other exceptions are passed on.
Ran run(Model& model, const Tokenizer& tokenizer, const Decoder& decoder,
        const std::vector<Request>& requests, int live = 1, bool traced = false,
        const CacheBudget& budget = {}, Model* draft = nullptr, Chance* chance = nullptr,
        bool cascade = false);

/// All values of all contexts in one list, by context, then field.
std::vector<FieldResult> flat(const Answers& answers);
/// The generated tokens of an answer: first Answers::tokens (which may be empty), then those of
/// each value, in the order of flat().
std::vector<Tokens> chosen_ids(const Answers& answers);
/// The smallest gap (largest logit minus second largest) over all choices of an answer; infinity if
/// it has no choice.
float smallest_gap(const Answers& answers);

/// The result of replaying one trace: all rows of the trace are computed again in one pass of the
/// slow transformer, each with its recorded visible rows. The replay must make the recorded
/// choices. It also checks the structure of the trace: a row sees itself, and no row that is
/// dropped or belongs to a later step; and its token is the choice of its `from` row.
struct Replay {
  int choices = 0;
  std::vector<std::string> wrong;  ///< what is wrong; empty: nothing
  std::vector<TopTwo> top;         ///< the two best ids of each emitted row, in order
};
/// `tolerance`: how far the logit of a recorded choice may be below the best logit.
Replay replay(const SlowTransformer& slow, const Trace& trace, double tolerance);

}  // namespace pardec::test
