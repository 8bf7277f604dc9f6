#include "tests/support/decoding.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <stdexcept>

#include "src/model/device.hpp"
#include "src/model/files/safetensors.hpp"
#include "src/support/clock.hpp"
#include "src/support/error.hpp"
#include "src/support/files.hpp"
#include "src/support/text.hpp"
#include "tests/support/outcomes.hpp"
#include "tests/support/ranks.hpp"

namespace pardec::test {

namespace {

std::string utf8(int code) {  // two bytes are enough for the byte alphabet
  if (code < 0x80) return std::string(1, static_cast<char>(code));
  return {static_cast<char>(0xC0 | code >> 6), static_cast<char>(0x80 | (code & 0x3F))};
}

/// GPT-2's alphabet: printable bytes stand for themselves, the others for U+0100 and on, in order.
std::vector<std::string> byte_alphabet() {
  std::vector<std::string> letters;
  int next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable =
        (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || (byte >= 0xAE);
    letters.push_back(utf8(printable ? byte : next++));
  }
  return letters;
}

constexpr const char* kPrompt = R"([instruction]
{category}: {fields}

[context]
{n}) {text}

[field]
{name}?

[answer json]
JSON.

[answer value]
Value.
)";

/// Changes the numbers, bf16, in these rows of a matrix.
void change_rows(const std::filesystem::path& file, const char* matrix, const Tokens& ids,
                 const std::function<std::uint16_t(std::uint16_t)>& change) {
  std::string bytes = read_file(file);
  std::uint64_t header = 0;
  std::memcpy(&header, bytes.data(), sizeof header);
  const Json head = Json::parse(bytes.substr(sizeof header, header)).at(matrix);
  const auto columns = head.at("shape").at(1).get<size_t>();
  char* rows = bytes.data() + sizeof header + header + head.at("data_offsets").at(0).get<size_t>();
  for (const Token id : ids)
    for (size_t i = 0; i < columns; ++i) {
      char* at = rows + 2 * (static_cast<size_t>(id) * columns + i);
      std::uint16_t value = 0;
      std::memcpy(&value, at, sizeof value);
      value = change(value);
      std::memcpy(at, &value, sizeof value);
    }
  write_file(file, bytes);
}

Task<void> decode_into(const Decoder& decoder, const Request& request,
                       const DecoderContext& context, std::optional<Answers>& answers) {
  answers = co_await decoder.decode(request, context);
}

}  // namespace

Json line_break_tokenizer() {
  const std::vector<std::string> bytes = byte_alphabet();
  const std::string line = bytes['\n'], space = bytes[' '];
  Json vocab = {{"</s>", 0}, {"<s>", 1}, {"<unk>", 2}, {"<pad>", 3}};
  int next = 4;
  for (const auto& letter : bytes) vocab[letter] = next++;
  Json merges = Json::array();
  const auto merge = [&](const std::string& a, const std::string& b) {
    if (vocab.contains(a + b)) return;
    merges.push_back(Json::array({a, b}));
    vocab[a + b] = next++;
  };
  merge("\"", ",");
  merge("\",", line);
  merge("\"", line);
  merge(space, space);
  merge(space + space, space + space);
  merge(space, "\"");
  merge("\"", ":");
  merge("n", "/");
  merge("n/", "a");
  for (const char c :
       std::string("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")) {
    merge(std::string(1, c), line);
    merge(line, std::string(1, c));
  }
  Json json = {{"version", "1.0"},
               {"truncation", nullptr},
               {"padding", nullptr},
               {"normalizer", nullptr},
               {"pre_tokenizer",
                {{"type", "ByteLevel"},
                 {"add_prefix_space", false},
                 {"trim_offsets", true},
                 {"use_regex", false}}},
               {"post_processor", nullptr},
               {"decoder",
                {{"type", "ByteLevel"},
                 {"add_prefix_space", true},
                 {"trim_offsets", true},
                 {"use_regex", true}}},
               {"model",
                {{"type", "BPE"},
                 {"dropout", nullptr},
                 {"unk_token", nullptr},
                 {"continuing_subword_prefix", nullptr},
                 {"end_of_word_suffix", nullptr},
                 {"fuse_unk", false},
                 {"byte_fallback", false},
                 {"ignore_merges", false}}}};
  json["model"]["vocab"] = vocab;
  json["model"]["merges"] = merges;
  json["added_tokens"] = Json::array();
  for (const char* token : {"</s>", "<s>", "<unk>", "<pad>"})
    json["added_tokens"].push_back({{"id", vocab[token]},
                                    {"content", token},
                                    {"single_word", false},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"normalized", false},
                                    {"special", true}});
  return json;
}

void write_bf16(const std::filesystem::path& file, const std::vector<WholeTensor>& tensors,
                const std::function<float(const std::string& name, std::int64_t index)>& value) {
  std::vector<TensorToWrite> all;
  for (const WholeTensor& tensor : tensors)
    all.push_back({tensor.name, StoredType::bf16, tensor.shape, [&](std::span<std::byte> bytes) {
                     for (size_t at = 0; at < bytes.size(); at += 2) {
                       const float x = value(tensor.name, static_cast<std::int64_t>(at / 2));
                       const auto half =
                           static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(x) >> 16);
                       std::memcpy(bytes.data() + at, &half, 2);
                     }
                   }});
  write_safetensors(file, all);
}

TinyNetwork::TinyNetwork(const std::string& family, std::uint64_t seed, const Json& changes,
                         const Tokens& loud) {
  set_threads(
      1);  // such a small network gains nothing from more threads, and loses much on a busy machine
  write_file(folder_.path() / "tokenizer.json", line_break_tokenizer().dump());
  tokenizer_.emplace(Tokenizer::load(folder_.path() / "tokenizer.json"));
  Json config = {
      {"model_type", family},
      {"vocab_size", tokenizer_->vocab_size() + 3},
      {"hidden_size", 64},
      {"intermediate_size", 96},
      {"num_hidden_layers", family == "llama" ? 3 : 2},
      {"num_attention_heads", 4},
      {"num_key_value_heads", 2},
      {"head_dim", 16},
      {"max_position_embeddings", 2048},
      {"eos_token_id", 0},
      {"tie_word_embeddings", false}};  // a tied random head would mostly repeat its input
  // Small caps and scalars, so that they have an effect on scores and logits of some units.
  if (family == "gemma2")
    config.update({{"query_pre_attn_scalar", 12},
                   {"attn_logit_softcapping", 10},
                   {"final_logit_softcapping", 5}});
  if (family == "gemma3_text")
    config.update({{"query_pre_attn_scalar", 12}, {"sliding_window_pattern", 2}});
  const Family& row = *find_family(family);
  if (row.experts.count > 0)
    config.update({{"num_experts", 5},
                   {"num_experts_per_tok", 2},
                   {row.experts.inner_key, 40},
                   {"norm_topk_prob", true}});
  if (row.experts.shared_inner > 0) config["shared_expert_intermediate_size"] = 24;
  config.update(changes);
  synthesise_checkpoint(config, seed, folder_.path());
  if (!loud.empty())
    change_rows(folder_.path() / "model.safetensors", parameter_name(row, Role::head).c_str(), loud,
                [](std::uint16_t value) {  // twice as much: one more in the exponent
                  return static_cast<std::uint16_t>((value & 0x7F80) != 0 ? value + 0x80 : value);
                });
}

void TinyNetwork::add_heads(int heads, int blocks, std::uint64_t seed, bool share_head) {
  const Json config = read_json(folder_.path() / "config.json");
  const auto hidden = config.at("hidden_size").get<std::int64_t>();
  std::vector<WholeTensor> tensors;
  for (int head = 0; head < heads; ++head) {
    for (int block = 0; block < blocks; ++block) {
      tensors.push_back({str(head, ".", block, ".linear.weight"), {hidden, hidden}});
      tensors.push_back({str(head, ".", block, ".linear.bias"), {hidden}});
    }
    if (!share_head)
      tensors.push_back({str(head, ".", blocks, ".weight"),
                         {config.at("vocab_size").get<std::int64_t>(), hidden}});
  }
  Rng rng(seed);  // sixteenths from -1 to 1 by deviation: bf16 holds them
  write_bf16(folder_.path() / "medusa_heads.safetensors", tensors,
             [&](const std::string& name, std::int64_t) {
               const float step = name.ends_with(".bias") ? 1 / 16.f : 1 / 64.f;
               return static_cast<float>(static_cast<int>(rng.below(33)) - 16) * step;
             });
  slow_.reset();
}

Model TinyNetwork::load(Dtype dtype) const {
  return Model::load(folder_.path(), {.dtype = dtype, .ranks = ranks()});
}

Model TinyNetwork::load_spoiled(Dtype dtype, const std::string& matrix, Token row) const {
  const TemporaryFolder copy;
  std::filesystem::copy(folder_.path(), copy.path());
  const bool of_heads = matrix.find('.') == 1;
  change_rows(copy.path() / (of_heads ? "medusa_heads.safetensors" : "model.safetensors"),
              matrix.c_str(), {row}, [](std::uint16_t) { return std::uint16_t{0x7FC0}; });
  return Model::load(copy.path(), {.dtype = dtype, .ranks = ranks()});
}

Job random_job(const std::string& id, int products, int fields, std::uint64_t seed) {
  Rng rng(derive_seed(seed, id));
  Job job;
  job.id = id;
  job.seed = seed;
  for (int j = 0; j < products; ++j) {
    Context context;
    context.id = str(id, "-", j + 1);
    context.category = "hat";
    const int words = 1 + static_cast<int>(rng.below(4));
    for (int word = 0; word < words; ++word) {
      if (word) context.text += ' ';
      const int letters = 1 + static_cast<int>(rng.below(6));
      for (int i = 0; i < letters; ++i) context.text += static_cast<char>('a' + rng.below(26));
    }
    for (int n = 0; n < fields; ++n) context.fields.push_back({str("A", n + 1), "", {}});
    job.contexts.push_back(std::move(context));
  }
  return job;
}

Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer,
                     const PromptFile& wording) {
  Request request;
  request.form = decoder.form();
  job.instruction = instruction_for(wording, job.contexts, request.form);
  request.pieces = make_pieces(job, request.form, wording, find_chat_template("plain"), tokenizer);
  if (!decoder.wording().empty()) {
    static const PromptFile own = parse_prompt_file(
        read_file(PARDEC_SOURCE_DIR "/datasets/prompts/skeleton-of-thought.txt"), "test");
    request.wording = &own;
  }
  request.job = std::move(job);
  return request;
}
Request make_request(Job job, const Decoder& decoder, const Tokenizer& tokenizer) {
  return make_request(std::move(job), decoder, tokenizer, parse_prompt_file(kPrompt, "test"));
}

Request open_request(const std::string& id, Tokens prompt, int max_new_tokens,
                     const Sampling& sampling, std::uint64_t seed) {
  Request request;
  request.form = Form::free;
  request.job.id = id;
  request.job.contexts.push_back({"prompt", "", "", {{"answer", "", {}}}});
  request.job.limits.max_new_tokens = max_new_tokens;
  request.job.sampling = sampling;
  request.job.seed = seed;
  request.pieces.prefix = std::move(prompt);
  request.pieces.contexts.emplace_back();
  request.pieces.fields.push_back({Tokens{}});
  return request;
}

const Answers& Ran::of(size_t i) const {
  if (!answers.at(i)) throw std::runtime_error(str("request ", i, " failed: ", errors[i]));
  return *answers[i];
}

Ran run(Model& model, const Tokenizer& tokenizer, const Decoder& decoder,
        const std::vector<Request>& requests, int live, bool traced, const CacheBudget& budget,
        Model* draft, Chance* chance, bool cascade) {
  const SteadyClock clock;
  Engine engine(model, clock);
  engine.set_cascade(cascade);
  engine.set_cache_budget(budget);
  Ran ran;
  ran.answers.resize(requests.size());
  ran.errors.resize(requests.size());
  if (traced)
    engine.set_trace_sink([&](const Trace& trace) {
      ran.traces[trace.request + (trace.model.empty() ? "" : "#" + trace.model)] = trace;
    });
  DecoderContext context{engine, &tokenizer};
  context.draft = draft;
  if (chance)
    context.chance = [chance](std::uint64_t) { return std::make_unique<Borrowed>(*chance); };
  engine.run(
      static_cast<int>(requests.size()), live,
      [&](int i) {
        return decode_into(decoder, requests[static_cast<size_t>(i)], context,
                           ran.answers[static_cast<size_t>(i)]);
      },
      [&](const Ended& end) {
        try {
          end.rethrow();
        } catch (const Error& error) {
          ran.errors[static_cast<size_t>(end.job)] = error.what();
        }
      });
  ran.cache = engine.cache_report();
  return ran;
}

std::vector<FieldResult> flat(const Answers& answers) {
  std::vector<FieldResult> values;
  for (const auto& fields : answers.fields)
    values.insert(values.end(), fields.begin(), fields.end());
  return values;
}

std::vector<Tokens> chosen_ids(const Answers& answers) {
  std::vector<Tokens> ids{answers.tokens};
  for (const auto& value : flat(answers)) ids.push_back(value.tokens);
  return ids;
}

float smallest_gap(const Answers& answers) {
  float smallest = std::numeric_limits<float>::infinity();
  for (const float gap : answers.gaps) smallest = std::min(smallest, gap);
  for (const auto& value : flat(answers))
    for (const float gap : value.gaps) smallest = std::min(smallest, gap);
  return smallest;
}

Replay replay(const SlowTransformer& slow, const Trace& trace, double tolerance) {
  Replay out;
  const auto wrong = [&](size_t row, const auto&... what) {
    out.wrong.push_back(str(trace.request, " row ", row, ": ", what...));
  };
  for (size_t i = 0; i < trace.tokens.size(); ++i) {
    const auto& seen = trace.visible[i];
    if (std::find(seen.begin(), seen.end(), static_cast<int>(i)) == seen.end())
      wrong(i, "does not see itself");
    for (const int key : seen) {
      const auto k = static_cast<size_t>(key);
      if (trace.step[k] > trace.step[i]) wrong(i, "sees row ", key, " of a later step");
      if (trace.dropped_at[k] && trace.step[i] > *trace.dropped_at[k])
        wrong(i, "sees row ", key, ", which was dropped");
    }
    if (!trace.from[i]) continue;
    const auto from = static_cast<size_t>(*trace.from[i]);
    if (trace.step[from] >= trace.step[i] || trace.predicts[from] != trace.tokens[i])
      wrong(i, "is not what row ", from, " chose before");
  }
  auto logits = slow.logits(trace.tokens, trace.position, trace.visible);
  for (size_t i = 0; i < trace.tokens.size(); ++i)
    for (const Token id : trace.banned[i])
      logits[i][static_cast<size_t>(id)] = -std::numeric_limits<double>::infinity();
  for (size_t i = 0; i < trace.tokens.size(); ++i) {
    if (!trace.predicts[i]) continue;
    ++out.choices;
    const TopTwo top = top_two(logits[i]);
    const double short_of = top.best_logit - logits[i][static_cast<size_t>(*trace.predicts[i])];
    if (short_of > tolerance)
      wrong(i, "chose ", *trace.predicts[i], ", but ", top.best, " is better by ", short_of);
  }
  for (const int row : trace.emitted) {
    // Only `banned` decides the choice again; `allowed` says how far it is from the next one.
    const auto at = static_cast<size_t>(row);
    std::vector<double>& own = logits[at];
    const Tokens allowed = at < trace.allowed.size() ? trace.allowed[at] : Tokens{};
    for (Token id = 0; !allowed.empty() && id < std::ssize(own); ++id)
      if (std::find(allowed.begin(), allowed.end(), id) == allowed.end())
        own[static_cast<size_t>(id)] = -std::numeric_limits<double>::infinity();
    out.top.push_back(top_two(own));
  }
  return out;
}

}  // namespace pardec::test
