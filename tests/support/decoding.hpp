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

/// A byte-level tokenizer.json: `</s>` is 0, `<s>` 1, byte b is b + 4, then merges. About one token
/// in three contains a line break, most of them with a letter before or after it, so that a random
/// network ends values early, some at once.
Json line_break_tokenizer();
inline constexpr Token kLineBreak = 4 + '\n';

/// Writes tensors of bf16; `value(name, index)` gives each element, which bf16 must represent
/// exactly.
struct WholeTensor {
  std::string name;
  std::vector<std::int64_t> shape;
};
void write_bf16(const std::filesystem::path& file, const std::vector<WholeTensor>& tensors,
                const std::function<float(const std::string& name, std::int64_t index)>& value);

/// A random network of a few thousand weights with that tokenizer, as a separate checkpoint.
class TinyNetwork {
 public:
  /// `changes` are merged over the config of the family ("llama", "qwen3", "qwen3_moe", "gemma2" or
  /// "gemma3_text"). The logits of `loud` ids are doubled, so that control tokens are chosen often.
  explicit TinyNetwork(const std::string& family = "llama", std::uint64_t seed = 1,
                       const Json& changes = Json::object(), const Tokens& loud = {});

  /// Adds random extra heads, each with `blocks` residual blocks and a matrix; or without a matrix,
  /// on the network's own head.
  void add_heads(int heads, int blocks, std::uint64_t seed = 1, bool share_head = false);

  Model load(Dtype dtype) const;
  /// With NaN in a row of a matrix, of the network or of its extra heads.
  Model load_spoiled(Dtype dtype, const std::string& matrix, Token row) const;
  const Tokenizer& tokenizer() const { return *tokenizer_; }
  const SlowTransformer& slow() const { return *slow_; }

 private:
  TemporaryFolder folder_;
  std::optional<Tokenizer> tokenizer_;
  std::optional<SlowTransformer> slow_;
};

/// A job over `products` made-up texts with fields A1 .. An; equal arguments, equal job.
Job random_job(const std::string& id, int products, int fields, std::uint64_t seed);
/// Asked in this wording; without one, in a short wording of the tests.
Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer,
                     const PromptFile& wording);
Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer);
/// An open prompt of these ids, as made by `generate --prompt-tokens`.
Request open_request(const std::string& id, Tokens prompt, int max_new_tokens,
                     const Sampling& sampling = {}, std::uint64_t seed = 1);

/// The results of a list of requests.
struct Ran {
  std::vector<std::optional<Answers>> answers;  ///< in order of the requests; empty if one failed
  std::vector<std::string> errors;              ///< empty if one succeeded
  std::map<std::string, Trace> traces;          ///< by name of the sequence
  CacheReport cache;

  /// Answers of request i, which must not have failed.
  const Answers& of(size_t i = 0) const;
};

/// Decodes with at most `live` requests at a time. With `traced`, traces are recorded (those of a
/// draft network under the sequence's name with "#draft"). `chance`: null, or the source of all
/// random decisions. `cascade`: as Engine::set_cascade.
Ran run(Model& model, const Tokenizer& tokenizer, const Decoder& decoder,
        const std::vector<Request>& requests, int live = 1, bool traced = false,
        const CacheBudget& budget = {}, Model* draft = nullptr, Chance* chance = nullptr,
        bool cascade = false);

/// All values of all contexts in one list, product-major.
std::vector<FieldResult> flat(const Answers& answers);
/// All generated tokens, one list per stream.
std::vector<Tokens> chosen_ids(const Answers& answers);
/// The smallest distance between best and second best logit of any choice: how far an answer is
/// from a different one.
float smallest_gap(const Answers& answers);

/// One full forward over all rows ever computed, each with its recorded visible rows, must make the
/// recorded choices. Also checks the structure: a row sees itself and nothing of a later step or
/// dropped, and computes the choice of its `from` row.
struct Replay {
  int choices = 0;
  std::vector<std::string> wrong;  ///< empty: all is well
  std::vector<TopTwo> top;         ///< per emitted row, in order
};
Replay replay(const SlowTransformer& slow, const Trace& trace, double tolerance);

}  // namespace pardec::test
