// Adaptive Serial-Parallel Decoding (ASPD).
//
// Idea: the network itself says which parts of its answer do not depend on one another. It names
// them by titles and goes parallel with <Para>: every branch is forced to begin with <Branch> T ":"
// and decodes to its </Branch>, all branches at the same positions and none seeing another. </Para>
// then takes the main branch on, which sees all of them where they lie in the cache. Any number of
// such rounds; nothing is copied or computed again (but in Same-Re).
//
//   u <Title> a </Title> <Title> b </Title> <Para>   <Branch> a : x0 x1 </Branch>   </Para> z ...
//                                                    <Branch> b : y0 y1 </Branch>
//   positions (Same-Seq)                          8      9   10 11 12 13     14        21  22
//
// Source: Chen et al., "ASPD: Unlocking Adaptive Serial-Parallel Decoding by Exploring Intrinsic
// Parallelism in LLMs", arXiv:2508.08895, sections 3.2 and 3.3, Eq. 1 to 4, ablations of 4.5.
// Letters are the paper's.
//
// Differs from the paper, which leaves these open: <Para> is fed before the branches, and the space
// behind "T:" is the network's own choice. What ends a branch other than </Branch> (end of
// sequence, max_steps, the network's last position) is not fed: a forced </Branch> takes its place.
// The limit of an answer ends all branches at once. One forward feeds <Para> and all prefixes; with
// the shared mask a prefix takes a forward a token. Same-Re feeds the moved branches in a forward of
// their own. Requests are packed, the paper has batch 1.
#include "decoders/aspd.hpp"

#include <algorithm>
#include <charconv>

#include "decoders/aspd_format.hpp"
#include "decoders/control_tokens.hpp"
#include "decoders/free_running.hpp"
#include "decoders/options.hpp"
#include "src/prompt/json_answer.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

bool contains(const std::vector<Token>& ids, Token id) {
  return std::find(ids.begin(), ids.end(), id) != ids.end();
}

}  // namespace

// --- Control tokens ---

bool AspdTokens::has(Token token) const {
  return contains({title, title_end, branch, branch_end, para, para_end}, token);
}

AspdTokens find_aspd_tokens(const std::string& given, const Tokenizer* tokenizer, int vocab_size) {
  std::vector<std::string> settings(6);
  if (!given.empty()) settings = split(replace_all(given, ";", ","), ',');
  const bool gap = std::find(settings.begin(), settings.end(), "") != settings.end();
  if (settings.size() != 6 || (!given.empty() && gap))
    throw ConfigError(str("aspd.tokens is '", given,
                          "', expected six ids or texts: title, /title, branch, /branch, para, "
                          "/para"));
  std::vector<ControlToken> wanted;
  for (const char* name : {"Title", "Branch", "Para"})
    for (const char* slash : {"", "/"}) {
      std::string lower = name;
      lower.front() = static_cast<char>(lower.front() - 'A' + 'a');
      wanted.push_back({"aspd.tokens",
                        settings[wanted.size()],
                        {str("<", slash, name, ">"), str("<|", slash, lower, "|>")},
                        "aspd.tokens=TITLE,/TITLE,BRANCH,/BRANCH,PARA,/PARA"});
    }
  Tokens ids;
  for (const ControlToken& token : wanted)
    ids.push_back(find_control_token(token, tokenizer, vocab_size));
  check_different(wanted, ids);
  return {ids[0], ids[1], ids[2], ids[3], ids[4], ids[5]};
}

Tokens branch_prefix(const Tokens& title, const AspdTokens& tokens, const Tokenizer* tokenizer) {
  Tokens prefix{tokens.branch};
  prefix.insert(prefix.end(), title.begin(), title.end());
  if (tokenizer)
    for (const Token id : tokenizer->encode_piece(":", false)) prefix.push_back(id);
  return prefix;
}

// --- What may come next ---

void AspdGrammar::take(Token token) {
  if (phase_ == Phase::after_title || phase_ == Phase::in_title) {
    if (token != tokens_.title_end) {
      title_.push_back(token);
      phase_ = Phase::in_title;
      return;
    }
    if (std::find(titles_.begin(), titles_.end(), title_) == titles_.end())
      titles_.push_back(title_);
    title_.clear();
    phase_ = Phase::after_title_end;
  } else if (token == tokens_.title) {
    phase_ = Phase::after_title;
  } else if (token == tokens_.para_end) {
    titles_.clear();
    phase_ = Phase::after_block;
  } else {
    phase_ = tokens_.has(token) ? Phase::control : Phase::text;
  }
}

std::vector<Token> AspdGrammar::banned() const {
  const AspdTokens& t = tokens_;
  std::vector<Token> ids{t.branch, t.branch_end, t.para_end};
  switch (phase_) {
    case Phase::text:
    case Phase::control:
      ids.insert(ids.end(), {t.title_end, t.para});
      break;
    case Phase::after_block:
    case Phase::after_title:
      ids.insert(ids.end(), {t.title, t.title_end, t.para});
      break;
    case Phase::in_title:
      ids.insert(ids.end(), {t.title, t.para});
      break;
    case Phase::after_title_end:
      return {};
  }
  return ids;
}

std::vector<Token> AspdGrammar::allowed() const {
  if (phase_ != Phase::after_title_end) return {};
  return {tokens_.title, tokens_.para};
}

std::vector<Token> AspdGrammar::banned_in_branch() const {
  return {tokens_.title, tokens_.title_end, tokens_.para, tokens_.para_end, tokens_.branch};
}

bool AspdGrammar::begins_block(Token token) const {
  return token == tokens_.para && phase_ == Phase::after_title_end;
}

AspdStreams split_streams(const Tokens& flattened, const AspdTokens& tokens,
                          const std::vector<Token>& eos,
                          std::span<const std::int64_t> lengths) {
  AspdStreams streams;
  AspdGrammar grammar(tokens);
  for (size_t i = 0; i < flattened.size();) {
    const Token token = flattened[i++];
    streams.main.push_back(token);
    const bool block = grammar.begins_block(token);
    grammar.take(token);
    if (!block) continue;
    for (size_t k = 0; k < grammar.titles().size(); ++k) {
      const size_t number = streams.branches.size();
      const std::int64_t most = number < lengths.size() ? lengths[number] : std::ssize(flattened);
      if (i >= flattened.size() && most > 0) break;  // the block was not begun
      Tokens& branch = streams.branches.emplace_back();
      while (i < flattened.size() && std::ssize(branch) < most) {
        branch.push_back(flattened[i++]);
        if (branch.back() == tokens.branch_end || contains(eos, branch.back())) break;
      }
    }
    grammar.take(tokens.para_end);
  }
  return streams;
}

namespace {

/// What one stream of choices, or several in flattened order, gave.
struct Choices {
  Tokens tokens, unforced;
  std::vector<float> gaps;

  void add(const Choice& choice, bool forced) {
    tokens.push_back(choice.token);
    gaps.push_back(choice.gap);
    if (forced) unforced.push_back(choice.unforced);
  }
  void add(const Choices& more) {
    tokens.insert(tokens.end(), more.tokens.begin(), more.tokens.end());
    gaps.insert(gaps.end(), more.gaps.begin(), more.gaps.end());
    unforced.insert(unforced.end(), more.unforced.begin(), more.unforced.end());
  }
};

struct Branch {
  Choices choices;
  Tokens fed;        ///< prefix, choices, </Branch>
  std::string text;  ///< without the prefix and what ended it
  Stop stop = Stop::limit;
};

struct Response {
  Choices choices;  ///< in flattened order
  std::string text;
  std::optional<Stop> stop;
  std::vector<std::int64_t> branch_lengths;  ///< ids chosen for each branch
  std::vector<int> emitted;                  ///< ids chosen after each forward pass
  Counters counters;
};

/// One response while it is decoded: what the main branch and the others share.
struct Hybrid {
  const DecoderContext& context;
  const AspdOptions& options;
  Sampling sampling;
  StopRule rule;  ///< `until`: of the main branch's text
  Chance& chance;
  AspdTokens tokens;
  std::vector<Token> eos;
  std::optional<AspdStreams> oracle;
  Sequence sequence;
  AspdLayout layout;
  AspdGrammar grammar;
  size_t branches_begun = 0;
  std::vector<int> emitted;

  Counters& counters() { return sequence.counters(); }
  int positions() const { return context.engine.model().config().positions(); }
  /// All ids that may be chosen for the answer are there.
  bool spent() { return counters().chosen >= rule.limit; }
  /// For the next branch. An oracle that has no ids for it closes it at once.
  Chooser branch_chooser() {
    if (!oracle) return Chooser(chance);
    const size_t next = branches_begun++;
    return Chooser(chance, next < oracle->branches.size() ? oracle->branches[next]
                                                          : Tokens{tokens.branch_end});
  }
  /// An oracle has branches that have not begun.
  bool branches_recorded() const { return oracle && branches_begun < oracle->branches.size(); }
  void count_choice(int row) {
    sequence.emit(row);
    ++counters().generated;
    ++counters().chosen;
    emitted.resize(static_cast<size_t>(counters().forwards));
    ++emitted.back();
  }
  std::string_view bytes(Token token) const {
    return context.tokenizer ? context.tokenizer->bytes(token) : std::string_view();
  }
};

/// The prompt.
Step prefill(Hybrid& h, const std::string& id, const Tokens& prompt) {
  if (prompt.empty())
    throw ConfigError(str(id, ": the prompt has no token, expected at least one"));
  if (std::ssize(prompt) > h.positions())
    throw ModelError(id, str("context overflow: the prompt has ", prompt.size(), " tokens, ",
                             h.context.engine.model().config().positions_key(), " is ",
                             h.positions(), "; use a shorter prompt"));
  Step step;
  for (const Token token : prompt) step.add(token, h.layout.main(), Origin::prompt);
  return step;
}

/// Why the main branch ends with `token`, if it does. `text`: its own since the last block.
std::optional<Stop> serial_end(Hybrid& h, Token token, std::string_view text, const Chooser& x,
                               bool block) {
  const std::string_view until = h.rule.until;
  if (contains(h.eos, token)) return Stop::eos;
  if (!until.empty() && text.find(until) != std::string_view::npos) return Stop::terminator;
  if (h.spent() || (x.used_up() && !(block && h.branches_recorded()))) return Stop::limit;
  if (h.layout.next_position() >= h.positions()) return Stop::context;
  return std::nullopt;
}

/// Why the main branch cannot go on behind a block, if it cannot: it needs room for a choice.
std::optional<Stop> no_return(Hybrid& h, const Chooser& x) {
  if (h.spent() || x.used_up()) return Stop::limit;
  if (h.layout.next_position() >= h.positions()) return Stop::context;
  return std::nullopt;
}

/// Opens a block for these prefixes behind <Para>, which the choice of row `from` was (-1: forced)
/// and `step` gets. Gives the reason where it cannot begin: each branch needs room for one choice,
/// which stands where </Branch> will.
std::optional<Stop> open_block(Hybrid& h, const std::vector<Tokens>& prefixes, int from,
                               Step& step) {
  const int branches = static_cast<int>(prefixes.size());
  if (h.options.shared && branches > AspdLayout::kMostSharedBranches) return Stop::limit;
  step.add(h.tokens.para, h.layout.main(), Origin::chosen, from);
  h.layout.open(branches);
  std::int64_t forced = 0;
  for (int k = 0; k < branches; ++k) {
    const int length = static_cast<int>(prefixes[static_cast<size_t>(k)].size());
    if (length + 1 > h.options.max_steps) return Stop::limit;
    if (h.layout.branch(k, length).position >= h.positions()) return Stop::context;
    forced += length;
  }
  if (h.counters().chosen + branches > h.rule.limit) return Stop::limit;
  h.counters().generated += forced;
  h.counters().branch_tokens += forced;
  return std::nullopt;
}

/// Why branch k ends with `token`, which would be its `length`-th, if it does.
std::optional<Stop> branch_end(Hybrid& h, Token token, int k, int length) {
  if (token == h.tokens.branch_end) return Stop::terminator;
  if (contains(h.eos, token)) return Stop::eos;
  if (length >= h.options.max_steps || h.spent()) return Stop::limit;
  if (h.layout.branch(k, length).position >= h.positions()) return Stop::context;
  return std::nullopt;
}

Task<Branch> decode_branch(Hybrid& h, int k, Tokens prefix, Step step, Chooser chooser);

/// All branches of the open block side by side, from <Para>, which `step` holds, to the last
/// </Branch>. `x` chooses for the main branch.
Task<std::vector<Branch>> decode_block(Hybrid& h, const Chooser& x, std::vector<Tokens> prefixes,
                                       Step step) {
  const std::int64_t begin_ns = h.context.engine.clock().now_ns();
  const int first_row = h.sequence.rows_fed() + step.size();
  std::vector<Task<Branch>> tasks;
  for (size_t k = 0; k < prefixes.size(); ++k)
    tasks.push_back(decode_branch(h, static_cast<int>(k), std::move(prefixes[k]),
                                  std::exchange(step, Step{}), h.branch_chooser()));
  std::vector<Branch> branches = co_await all(std::move(tasks));
  std::vector<int> lengths;
  for (const Branch& branch : branches) lengths.push_back(static_cast<int>(branch.fed.size()));
  h.layout.close(lengths);
  if (h.layout.moves() && !no_return(h, x)) {
    // Same-Re: keys and values anew, at their places in the flattened text.
    h.sequence.keep(first_row, {});
    Step moved;
    for (size_t k = 0; k < branches.size(); ++k)
      for (int r = 0; r < lengths[k]; ++r)
        moved.add(branches[k].fed[static_cast<size_t>(r)], h.layout.copy(static_cast<int>(k), r),
                  Origin::forced);
    co_await h.sequence.forward(std::move(moved));
  }
  ++h.counters().groups;
  h.counters().group_branches += std::ssize(branches);
  h.counters().parallel_ns += h.context.engine.clock().now_ns() - begin_ns;
  co_return branches;
}

/// Branch k: its prefix, then choices until it ends. `step` goes with the prefix's first token.
Task<Branch> decode_branch(Hybrid& h, int k, Tokens prefix, Step step, Chooser chooser) {
  Branch x;
  const auto feed = [&](Token token, Origin origin, int from) {
    step.add(token, h.layout.branch(k, static_cast<int>(x.fed.size())), origin, from);
    x.fed.push_back(token);
  };
  for (size_t i = 0; i < prefix.size(); ++i) {
    feed(prefix[i], Origin::forced, -1);
    if (!h.options.shared || i + 1 == prefix.size()) continue;
    co_await h.sequence.forward(std::exchange(step, Step{}));
    if (h.spent()) co_return x;  // branches of shorter titles have chosen the answer's last tokens
  }
  for (;;) {
    const int last = step.size() - 1;
    step.want(last, h.sampling, h.grammar.banned_in_branch());
    const StepResult seen = co_await h.sequence.forward(std::exchange(step, Step{}));
    if (h.spent()) co_return x;  // another branch has chosen the answer's last token
    if (chooser.used_up()) {     // a recording that went no further
      feed(h.tokens.branch_end, Origin::forced, -1);
      break;
    }
    const int row = seen.first_row + last;
    const Choice choice = chooser.choose(seen.outputs[0]);
    h.count_choice(row);
    ++h.counters().branch_tokens;
    x.choices.add(choice, chooser.forced());
    const auto end = branch_end(h, choice.token, k, static_cast<int>(x.fed.size()) + 1);
    if (end) x.stop = *end;
    if (x.stop != Stop::terminator && x.stop != Stop::eos) {
      x.text += h.bytes(choice.token);
      ++h.counters().text;
    }
    if (h.spent()) co_return x;
    const bool chosen = !end || *end == Stop::terminator;
    feed(end ? h.tokens.branch_end : choice.token, chosen ? Origin::chosen : Origin::forced,
         chosen && !chooser.forced() ? row : -1);
    if (end) break;
  }
  co_await h.sequence.forward(std::move(step));
  co_return x;
}

/// Puts a block behind what is there: ids in flattened order, texts without prefixes, joined by
/// line breaks. The paper's prefix is "<Branch>T: ", so the space that a branch may begin with
/// belongs to it.
void add_block(Response& y, const std::vector<Branch>& branches) {
  for (size_t k = 0; k < branches.size(); ++k) {
    const std::string& text = branches[k].text;
    y.text += (k ? "\n" : "") + text.substr(text.starts_with(' '));
    y.choices.add(branches[k].choices);
    y.branch_lengths.push_back(std::ssize(branches[k].choices.tokens));
  }
}

/// The main branch from what `step` holds to <Para>, or to the end of the answer (y.stop). Gives
/// the row that chose the last token; -1 under an oracle.
Task<int> decode_serial(Hybrid& h, Response& y, Chooser& x, Step step) {
  const size_t stage = y.text.size();
  for (;;) {
    const int last = step.size() - 1;
    step.want(last, h.sampling, h.grammar.banned(), h.grammar.allowed());
    const StepResult seen = co_await h.sequence.forward(std::exchange(step, Step{}));
    const int row = seen.first_row + last;
    const Choice choice = x.choose(seen.outputs[0]);
    h.count_choice(row);
    y.choices.add(choice, x.forced());
    const bool block = h.grammar.begins_block(choice.token);
    h.grammar.take(choice.token);
    if (h.grammar.in_text()) {
      y.text += h.bytes(choice.token);
      h.counters().text += !contains(h.eos, choice.token);
    }
    const int from = x.forced() ? -1 : row;
    y.stop = serial_end(h, choice.token, std::string_view(y.text).substr(stage), x, block);
    if (y.stop || block) co_return from;
    step.add(choice.token, h.layout.main(), Origin::chosen, from);
  }
}

/// One response: serial stages of the main branch, and a block wherever it chooses <Para>.
Task<Response> respond(Hybrid& h, std::string id, Tokens prompt) {
  Response y;
  Chooser x(h.chance, h.oracle ? std::optional(h.oracle->main) : std::nullopt);
  Step step = prefill(h, id, prompt);
  for (;;) {
    // 1. Serial, with the titles T of the block that comes.
    const int from = co_await decode_serial(h, y, x, std::exchange(step, Step{}));
    if (y.stop) break;
    // 2. <Para>, and every branch with <Branch> T ":" for a prefix.
    std::vector<Tokens> prefixes;
    for (const Tokens& T : h.grammar.titles())
      prefixes.push_back(branch_prefix(T, h.tokens, h.context.tokenizer));
    y.stop = open_block(h, prefixes, from, step);
    if (y.stop) break;
    // 3. Parallel, until all branches have reached </Branch>.
    add_block(y, co_await decode_block(h, x, std::move(prefixes), std::exchange(step, Step{})));
    // 4. </Para>, and on.
    y.stop = no_return(h, x);
    if (y.stop) break;
    step.add(h.tokens.para_end, h.layout.main(), Origin::forced);
    ++h.counters().generated;
    h.grammar.take(h.tokens.para_end);
  }
  if (!h.context.tokenizer) y.text.clear();  // of line breaks between branches
  if (y.branch_lengths.empty()) y.branch_lengths.push_back(std::ssize(y.choices.tokens));
  h.counters().branch_lengths = y.branch_lengths;
  h.emitted.resize(static_cast<size_t>(h.counters().forwards));  // the last may have fed </Branch>
  y.emitted = std::move(h.emitted);
  y.counters = h.sequence.finish();
  co_return y;
}

class Aspd final : public Decoder {
 public:
  Aspd(const Options& options, AspdOptions chosen)
      : Decoder(options), options_(std::move(chosen)) {}

  Form form() const override { return options_.together ? Form::json : Form::value; }
  std::string needs(const Tokenizer* tokenizer, const ModelConfig& config) const override {
    const AspdTokens t = find_aspd_tokens(options_.tokens, tokenizer, config.vocab_size);
    return told({"<Title>", "</Title>", "<Branch>", "</Branch>", "<Para>", "</Para>"},
                {t.title, t.title_end, t.branch, t.branch_end, t.para, t.para_end});
  }
  Oracle reference_oracle(const Request&,
                          const std::vector<std::vector<std::optional<std::string>>>&,
                          const DecoderContext&) const override {
    throw ConfigError(
        "--oracle references does not go with aspd: references say nothing of its control tokens");
  }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

 private:
  Task<Response> answer(const Request& request, const DecoderContext& context, std::string id,
                        Tokens prompt, int stream, StopRule rule) const;
  Task<Answers> decode_together(const Request& request, const DecoderContext& context) const;
  Task<Answers> decode_separately(const Request& request, const DecoderContext& context) const;

  AspdOptions options_;
};

/// Stream number `stream` of an oracle. Each has its part of the lengths: one for itself where it
/// has no block.
AspdStreams recorded(const Oracle& oracle, int stream, const AspdTokens& tokens,
                     const std::vector<Token>& eos) {
  std::span<const std::int64_t> lengths = oracle.branch_lengths;
  for (int s = 0;; ++s) {
    AspdStreams streams =
        split_streams(oracle.streams[static_cast<size_t>(s)], tokens, eos, lengths);
    if (s == stream) return streams;
    lengths =
        lengths.subspan(std::min(lengths.size(), std::max<size_t>(1, streams.branches.size())));
  }
}

/// One response to one prompt, as sequence `id`; `stream`: which of the request's it is.
Task<Response> Aspd::answer(const Request& request, const DecoderContext& context, std::string id,
                            Tokens prompt, int stream, StopRule rule) const {
  const int vocab = context.engine.model().config().vocab_size;
  const AspdTokens tokens = find_aspd_tokens(options_.tokens, context.tokenizer, vocab);
  const auto chance = context.chance(stream_seed(request.job.seed, stream));
  Sequence sequence = context.engine.open(id, "aspd");
  Hybrid h{.context = context,
           .options = options_,
           .sampling = request.job.sampling,
           .rule = rule,
           .chance = *chance,
           .tokens = tokens,
           .eos = context.eos(),
           .oracle = std::nullopt,
           .sequence = std::move(sequence),
           .layout = AspdLayout(
               options_.positions, options_.shared,
               [&h](const std::vector<int>& sees) { return h.sequence.add_segment(sees); }),
           .grammar = AspdGrammar(tokens)};
  if (request.oracle) h.oracle = recorded(*request.oracle, stream, tokens, h.eos);
  co_return co_await respond(h, std::move(id), std::move(prompt));
}

Task<Answers> Aspd::decode_together(const Request& request, const DecoderContext& context) const {
  if (!context.tokenizer)
    throw ConfigError(
        "aspd ask=together needs a tokenizer: it reads JSON; expected a Job, not token ids");
  const StopRule rule{request.job.limits.max_new_tokens, kAnswerClosing};
  Response y = co_await answer(request, context, request.job.id, request.pieces.whole_prompt(), 0,
                               rule);
  Answers answers;
  const std::string text = repair_utf8(y.text);
  JsonAnswer parsed = parse_json_answer(text, request.job.contexts);
  for (auto& values : parsed.values) {
    auto& fields = answers.fields.emplace_back();
    for (auto& read : values) {
      FieldResult& field = fields.emplace_back();
      field.text = std::move(read);
      field.stop = *y.stop;
    }
  }
  answers.text = std::string(kAnswerOpening) + text;
  answers.tokens = std::move(y.choices.tokens);
  answers.unforced = std::move(y.choices.unforced);
  answers.gaps = std::move(y.choices.gaps);
  answers.stop = *y.stop;
  answers.parsed = std::move(parsed.parsed);
  answers.counters = std::move(y.counters);
  co_return answers;
}

/// The responses' steps share their forward passes: pass t gives what each of them chose in it.
void count_shared_passes(const std::vector<Response>& responses, Counters& counters) {
  std::vector<int> emitted;
  for (const Response& y : responses) {
    emitted.resize(std::max(emitted.size(), y.emitted.size()));
    for (size_t t = 0; t < y.emitted.size(); ++t) emitted[t] += y.emitted[t];
    counters += y.counters;
  }
  counters.forwards = std::ssize(emitted);
  counters.emitted.clear();
  for (const int count : emitted) ++counters.emitted[count];
}

Task<Answers> Aspd::decode_separately(const Request& request, const DecoderContext& context) const {
  const StopRule rule{request.form == Form::value ? request.job.limits.per_field
                                                  : request.job.limits.max_new_tokens,
                      {}};
  std::vector<Task<Response>> tasks;
  for (size_t c = 0; c < request.pieces.fields.size(); ++c)
    for (size_t f = 0; f < request.pieces.fields[c].size(); ++f)
      tasks.push_back(answer(request, context, str(request.job.id, "/", c, "/", f),
                             request.pieces.field_prompt(c, f), static_cast<int>(tasks.size()),
                             rule));
  std::vector<Response> responses = co_await all(std::move(tasks));
  Answers answers;
  count_shared_passes(responses, answers.counters);
  size_t next = 0;
  for (const auto& fields : request.pieces.fields) {
    auto& out = answers.fields.emplace_back();
    for (size_t f = 0; f < fields.size(); ++f) {
      Response& y = responses[next++];
      FieldResult& field = out.emplace_back();
      const std::string text = repair_utf8(y.text);
      answers.text += (next > 1 ? "\n" : "") + text;
      field.text = request.form == Form::value ? parse_plain_value(text) : std::optional(text);
      field.tokens = std::move(y.choices.tokens);
      field.unforced = std::move(y.choices.unforced);
      field.gaps = std::move(y.choices.gaps);
      field.stop = *y.stop;
    }
    answers.parsed.push_back(true);
  }
  if (next == 1) {  // one stream is an answer of its own; several stand with their fields
    const FieldResult& only = answers.fields.front().front();
    answers.tokens = only.tokens;
    answers.unforced = only.unforced;
    answers.gaps = only.gaps;
    answers.stop = only.stop;
  }
  co_return answers;
}

Task<Answers> Aspd::decode(const Request& request, const DecoderContext& context) const {
  return request.form == Form::json ? decode_together(request, context)
                                    : decode_separately(request, context);
}

std::string text_of(const AspdPositions& positions) {
  switch (positions.scheme) {
    case AspdScheme::same_seq:
      return "same-seq";
    case AspdScheme::same_max:
      return "same-max";
    case AspdScheme::same_re:
      return "same-re";
    case AspdScheme::fix:
      return str("fix-", positions.n);
  }
  return "";
}

}  // namespace

AspdPositions parse_aspd_positions(const std::string& text) {
  for (const AspdScheme scheme : {AspdScheme::same_seq, AspdScheme::same_max, AspdScheme::same_re})
    if (text == text_of({scheme, 0})) return {scheme, 0};
  int n = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with("fix-")) {
    const auto [stop, error] = std::from_chars(text.data() + 4, end, n);
    if (error == std::errc() && stop == end && n > 0 && n <= kMostGap) return {AspdScheme::fix, n};
  }
  throw ConfigError(str("aspd.positions is '", text,
                        "', expected same-seq, same-max, same-re or fix-N with N from 1 to ",
                        kMostGap, ", e.g. fix-32"));
}

namespace {

std::unique_ptr<Decoder> make(Options options) {
  const AspdOptions chosen{.together = options.text("ask") == "together",
                           .positions = parse_aspd_positions(options.text("positions")),
                           .shared = options.text("mask") == "shared",
                           .max_steps = options.whole("max_steps"),
                           .tokens = options.text("tokens")};
  options.set("positions", text_of(chosen.positions));
  return std::make_unique<Aspd>(options, chosen);
}

}  // namespace

DecoderEntry aspd_entry() {
  return {.name = "aspd",
          .source = "Chen et al., arXiv:2508.08895",
          .options = {ask_option(),
                      Option::text("positions", "same-seq",
                                   "where branches stand: same-seq, same-max, same-re or fix-N"),
                      Option::one_of("mask", {"independent", "shared"},
                                     "whether the branches of a block see one another"),
                      // <Branch>, a title, </Branch>
                      Option::whole("max_steps", AspdOptions{}.max_steps, {3, 1 << 20},
                                    "tokens of a branch at most, prefix and </Branch> included"),
                      Option::text("tokens", "",
                                   "title, /title, branch, /branch, para, /para by id or text, ; "
                                   "between them; else by their usual names")},
          .make = make,
          .oracles = {"recorded"},
          .trained = true,
          .own_columns = aspd_columns(),
          .formats = aspd_formats(),
          .training_options = aspd_training_options()};
}

}  // namespace pardec
