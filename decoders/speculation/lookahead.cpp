// Lookahead decoding (Fu et al. 2024, "Break the Sequential Dependency of LLM Inference Using
// Lookahead Decoding", arXiv:2402.02057).
//
// Idea: no draft network. Each forward pass does two things after the newest token, whose position
// is n - 1:
//   lookahead  a window of W columns by N - 1 levels contains guesses of the last N - 1 Jacobi
//              iterations; level i of column j is at position n + i + j. The top level's choices
//              are the next iteration. A column with its new choice is an n-gram, which goes into a
//              pool; the window moves up by one level.
//   verify     up to G n-grams of the pool that begin with the newest token are verified, each as a
//              separate path; the one with the longest agreement is kept (verify_paths).
//
// Visibility (their figure 5; level 0 is a row of text, and the levels above continue its tokens):
// level i of column j sees the text, level 0 up to column j, and levels 1..i of its own column. A
// path sees the text and itself.
//
// Differences from the paper: the window begins with tokens drawn from the prompt, for all levels
// at once; it is left out of forward passes in which it would exceed the network's positions.
#include "decoders/speculation/lookahead.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "decoders/speculation/speculation.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

void NgramPool::add(const Tokens& ngram) {
  std::list<Tokens>& known = behind_[ngram.front()];
  const Tokens rest(ngram.begin() + 1, ngram.end());
  known.remove(rest);
  known.push_front(rest);
  if (std::ssize(known) > G_) known.pop_back();
}

std::vector<Tokens> NgramPool::starting_with(Token first) const {
  const auto found = behind_.find(first);
  if (found == behind_.end()) return {};
  return {found->second.begin(), found->second.end()};
}

namespace {

/// The next guesses of the paths that are still followed, without duplicates, in the order of the
/// paths.
Tokens next_guesses(const std::vector<Tokens>& paths, const std::vector<int>& followed,
                    size_t depth) {
  Tokens guesses;
  for (const int p : followed) {
    const Tokens& path = paths[static_cast<size_t>(p)];
    if (depth < path.size() && !contains(guesses, path[depth])) guesses.push_back(path[depth]);
  }
  return guesses;
}

/// The verdict of one row on the guesses at this place: its choice, and whether that is one of
/// them.
std::pair<Choice, bool> judge(const RowLogits& row, const Tokens& guesses, size_t place,
                              Chance& chance, ForcedAcceptance& forced) {
  if (forced) {
    Choice choice = own_choice(row, chance);
    const bool accepted = !guesses.empty() && forced.accepts(static_cast<int>(place));
    if (accepted) choice.token = guesses.front();
    return {choice, accepted};
  }
  if (row.probabilities.empty()) return {own_choice(row, chance), contains(guesses, row.best)};
  const float gap = row.best_logit - row.second_logit;
  std::vector<double> p = row.probabilities;
  for (const Token guess : guesses) {
    if (chance.happens(p[static_cast<size_t>(guess)])) return {{guess, guess, gap}, true};
    p = residual(p, guess);
  }
  const Token token = chance.draw(p);
  return {{token, token, gap}, false};
}

}  // namespace

PathVerdict verify_paths(const RowLogits& root, const std::vector<std::vector<RowLogits>>& rows,
                         const std::vector<Tokens>& paths, Chance& chance,
                         ForcedAcceptance forced) {
  PathVerdict verdict;
  std::vector<int> followed(paths.size());
  std::iota(followed.begin(), followed.end(), 0);
  const RowLogits* row = &root;
  for (size_t depth = 0;; ++depth) {
    const auto [choice, accepted] =
        judge(*row, next_guesses(paths, followed, depth), depth, chance, forced);
    verdict.choices.push_back(choice);
    if (!accepted) return verdict;
    std::erase_if(followed, [&, token = choice.token](int p) {
      const Tokens& path = paths[static_cast<size_t>(p)];
      return depth >= path.size() || path[depth] != token;
    });
    verdict.path = followed.front();
    row = &rows[static_cast<size_t>(verdict.path)][depth];
    ++verdict.accepted;
  }
}

namespace {

/// The lookahead branch: guesses [level][column], and the labels of their rows.
class Window {
 public:
  Window(const LookaheadOptions& options, const Tokens& prompt, Chance& chance)
      : W_(options.W), levels_(static_cast<size_t>(options.N) - 1) {
    const std::vector<double> any(prompt.size(), 1.0 / static_cast<double>(prompt.size()));
    for (Tokens& level : levels_)
      for (int j = 0; j < W_; ++j) level.push_back(prompt[static_cast<size_t>(chance.draw(any))]);
  }

  int levels() const { return static_cast<int>(levels_.size()); }
  /// Number of positions that it occupies after the text.
  int reach() const { return levels() + W_ - 1; }

  /// Adds its rows after a text of n tokens, level by level, and requests the best ids of the top
  /// level. `segments`: one for level 0, then one per column.
  void feed(Step& step, int n, std::span<const int> segments) const {
    for (int i = 0; i < levels(); ++i)
      for (int j = 0; j < W_; ++j) {
        // A column's rows have the order of its level 0; their rank is their level.
        const RowLabel label{.position = n + i + j,
                             .order = n + j,
                             .segment = segments[static_cast<size_t>(i == 0 ? 0 : j + 1)],
                             .rank = i};
        step.add(levels_[static_cast<size_t>(i)][static_cast<size_t>(j)], label, Origin::draft);
        if (i + 1 == levels()) step.want(step.size() - 1);
      }
  }

  /// The next iteration: the columns with their new choices are n-grams; the window moves up.
  void advance(std::span<const RowLogits> top, NgramPool& pool) {
    Tokens next;
    for (int j = 0; j < W_; ++j) {
      next.push_back(top[static_cast<size_t>(j)].best);
      Tokens ngram;
      for (const Tokens& level : levels_) ngram.push_back(level[static_cast<size_t>(j)]);
      ngram.push_back(next.back());
      pool.add(ngram);
    }
    levels_.erase(levels_.begin());
    levels_.push_back(std::move(next));
  }

 private:
  int W_;
  std::vector<Tokens> levels_;
};

class Lookahead final : public FreeRunningDecoder {
 public:
  explicit Lookahead(const Options& options)
      : FreeRunningDecoder(options),
        options_{.W = options.whole("window"),
                 .N = options.whole("ngram"),
                 .G = options.whole("guesses")} {
    const auto& [W, N, G] = options_;
    if (const int rows = (W + G) * (N - 1); rows > kMostRows)
      throw ConfigError(str("lookahead.window=", W, ", guesses=", G, " and ngram=", N, " make ",
                            rows, " rows a pass, expected at most ", kMostRows));
  }

  std::optional<int> draft_length() const override { return options_.N - 1; }
  Task<Stream> stream(StreamRequest request, const DecoderContext& context) const override;

 private:
  LookaheadOptions options_;
};

/// Adds the guesses of the paths, as far as there is room, each as a row after the text's n tokens.
void feed_paths(Step& step, const std::vector<Tokens>& paths, int n, std::span<const int> segments,
                const Sampling& sampling) {
  for (size_t g = 0; g < paths.size(); ++g)
    for (size_t k = 0; k < paths[g].size(); ++k) {
      const int position = n + static_cast<int>(k);
      step.add(paths[g][k],
               {.position = position, .order = position, .segment = segments[g], .rank = 0},
               Origin::draft);
      step.want(step.size() - 1, sampling);
    }
}

Task<Stream> Lookahead::stream(StreamRequest request, const DecoderContext& context) const {
  const ModelConfig& config = context.engine.model().config();
  check_prompt(request.name, request.prompt.size(), config);
  const auto chance = context.chance(request.seed);
  const AcceptanceOracle oracle = acceptance_oracle(request, context);
  SeededChance first_guesses(derive_seed(request.seed, "window"));

  Sequence sequence = context.engine.open(request.name, "lookahead");
  std::vector<int> columns{sequence.add_segment({0})}, branches;
  for (int j = 0; j < options_.W; ++j) columns.push_back(sequence.add_segment({0, columns[0]}));
  for (int g = 0; g < options_.G; ++g) branches.push_back(sequence.add_segment({0}));

  NgramPool pool(options_.G);
  Window window(options_, request.prompt, first_guesses);
  Tokens pending = request.prompt;  // the end of the text that is not yet computed
  int n = static_cast<int>(pending.size()), newest_from = -1;
  StreamWriter writer(sequence, request.rule, request.acceptance.has_value(), n, context);
  while (!writer.ended()) {
    Step step;
    for (const Token token : pending)
      step.add(token, text_label(n - static_cast<int>(pending.size()) + step.size()),
               newest_from < 0 ? Origin::prompt : Origin::chosen, newest_from);
    step.want(step.size() - 1, request.sampling);
    // Verification branch.
    std::vector<Tokens> paths = pool.starting_with(pending.back());
    for (Tokens& path : paths)
      path.resize(std::min(path.size(), static_cast<size_t>(writer.room())));
    feed_paths(step, paths, n, branches, request.sampling);
    // Lookahead branch.
    const bool looks = n + window.reach() <= config.positions();
    if (looks) window.feed(step, n, columns);
    const int text_rows = static_cast<int>(pending.size());
    StepResult seen = co_await sequence.forward(std::move(step));

    std::vector<std::vector<RowLogits>> rows;
    auto next = seen.outputs.begin() + 1;
    for (const Tokens& path : paths) {
      rows.emplace_back(std::make_move_iterator(next),
                        std::make_move_iterator(next + std::ssize(path)));
      next += std::ssize(path);
    }
    if (looks) window.advance({next, seen.outputs.end()}, pool);
    const PathVerdict verdict = verify_paths(seen.outputs[0], rows, paths, *chance, oracle.forced);

    // The accepted guesses join the text; all other rows of both branches are dropped.
    const int newest = seen.first_row + text_rows - 1;
    int first_of_path = newest + 1;
    for (int p = 0; p < verdict.path; ++p)
      first_of_path += static_cast<int>(paths[static_cast<size_t>(p)].size());
    std::vector<int> choosing{newest};
    for (int k = 0; k < verdict.accepted; ++k) choosing.push_back(first_of_path + k);
    std::span<const Token> rejected;
    if (!paths.empty())
      rejected = std::span(paths[static_cast<size_t>(verdict.path)])
                     .subspan(static_cast<size_t>(verdict.accepted));
    const int added = writer.add(verdict.choices, choosing, rejected);
    const int kept = std::min(added, verdict.accepted);
    const std::span joined = std::span(choosing).subspan(1, static_cast<size_t>(kept));
    sequence.keep(newest + 1, joined);
    for (int k = 0; k < kept; ++k)
      sequence.relabel(joined[static_cast<size_t>(k)], text_label(n + k));
    sequence.counters().count_draft(paths.empty() ? 0 : static_cast<int>(paths[0].size()), kept);
    newest_from = choosing[static_cast<size_t>(added) - 1];
    n += added;
    pending = {verdict.choices[static_cast<size_t>(added) - 1].token};
  }
  Stream stream = writer.finish();
  stream.counters = sequence.finish();
  co_return stream;
}

}  // namespace

DecoderEntry lookahead_entry() {
  const LookaheadOptions usual;
  return {.name = "lookahead",
          .source = "Fu et al., arXiv:2402.02057",
          .options = with_asking(
              {Option::whole("window", usual.W, {1, kMostRows},
                             "W: number of future positions guessed in parallel"),
               Option::whole("ngram", usual.N, {2, kMostRows}, "N: length of an n-gram"),
               Option::whole("guesses", usual.G, {1, kMostRows},
                             "G: limit of n-grams verified in a pass")}),
          .make = make_as<Lookahead>,
          .oracles = {"accept"},
          .exact = true,
          .stack_option = "stack"};
}

}  // namespace pardec
