#include "tests/support/ippd_reference.hpp"

#include <algorithm>
#include <limits>

#include "src/support/text.hpp"

namespace pardec::test {

namespace {

using Kind = IppdToken::Kind;

int length_c(const IppdCase& prompt, int j) { return prompt.c[static_cast<size_t>(j - 1)]; }
int length_x(const IppdCase& prompt, int j, int k) {
  return prompt.x[static_cast<size_t>(j - 1)][static_cast<size_t>(k - 1)];
}

/// context(i): 0 indicates tokens in p.
int context(const IppdToken& token) { return token.kind == Kind::pad ? -1 : token.j; }
/// question(i): 0 for tokens that are global context.
int question(const IppdToken& token) { return token.kind == Kind::pad ? -1 : token.k; }

/// Calls visit(j, k) for every question in the order of the prompt.
template <typename Visit>
void for_each_question(const IppdCase& prompt, Visit visit) {
  for (int j = 1; j <= static_cast<int>(prompt.c.size()); ++j)
    for (int k = 1; k <= static_cast<int>(prompt.x[static_cast<size_t>(j - 1)].size()); ++k)
      visit(j, k);
}

}  // namespace

std::string IppdCase::text() const {
  std::string out = str("|p|=", p);
  for (size_t j = 0; j < c.size(); ++j) {
    out += str(" |c|=", c[j], " |x|,|y|:");
    for (size_t k = 0; k < x[j].size(); ++k) out += str(" ", x[j][k], ",", y[j][k]);
  }
  return out;
}

std::vector<IppdToken> header(const IppdCase& prompt) {
  std::vector<IppdToken> s;
  for (int i = 0; i < prompt.p; ++i) s.push_back({Kind::instruction, 0, 0, i});
  for (int j = 1; j <= static_cast<int>(prompt.c.size()); ++j) {
    for (int i = 0; i < length_c(prompt, j); ++i) s.push_back({Kind::context, j, 0, i});
    for (int k = 1; k <= static_cast<int>(prompt.x[static_cast<size_t>(j - 1)].size()); ++k)
      for (int i = 0; i < length_x(prompt, j, k); ++i) s.push_back({Kind::question, j, k, i});
  }
  return s;
}

std::vector<std::vector<IppdToken>> padded_batch(const std::vector<IppdCase>& prompts) {
  std::vector<std::vector<IppdToken>> rows;
  size_t longest = 0;
  int steps = 0;
  for (const IppdCase& prompt : prompts) {
    longest = std::max(longest, header(prompt).size());
    for (const auto& lengths : prompt.y)
      for (const int length : lengths) steps = std::max(steps, length);
  }
  for (const IppdCase& prompt : prompts) {
    const auto s = header(prompt);
    auto& row = rows.emplace_back(longest - s.size(), IppdToken{});
    row.insert(row.end(), s.begin(), s.end());
  }
  for (int t = 1; t <= steps; ++t) {
    size_t widest = 0;
    for (size_t b = 0; b < prompts.size(); ++b) {
      for_each_question(prompts[b], [&](int j, int k) {
        if (t <= prompts[b].y[static_cast<size_t>(j - 1)][static_cast<size_t>(k - 1)])
          rows[b].push_back({Kind::answer, j, k, t});
      });
      widest = std::max(widest, rows[b].size());
    }
    for (auto& row : rows) row.resize(widest, IppdToken{});
  }
  return rows;
}

std::int64_t virtual_position(const IppdCase& prompt, const IppdToken& token) {
  switch (token.kind) {
    case Kind::pad:
      return std::numeric_limits<std::int64_t>::max();
    case Kind::instruction:  // [0, |p|)
      return token.i;
    case Kind::context:  // [|p|, |p| + |c_j|)
      return prompt.p + token.i;
    case Kind::question:  // [|p| + |c_j|, |p| + |c_j| + |x_jk|)
      return prompt.p + length_c(prompt, token.j) + token.i;
    case Kind::answer:  // |p| + |c_j| + |x_jk| + (t - 1)
      return prompt.p + length_c(prompt, token.j) + length_x(prompt, token.j, token.k) +
             (token.i - 1);
  }
  return -1;
}

bool final_mask(const IppdCase& prompt, const IppdToken& query, const IppdToken& key) {
  const bool causal_mask = virtual_position(prompt, query) >= virtual_position(prompt, key);
  const bool context_mask = context(query) == context(key) || context(key) == 0;
  const bool question_mask = question(query) == question(key) || question(key) == 0;
  return causal_mask && context_mask && question_mask;
}

namespace {

IppdCase lengths_of(const IppdPrompt& prompt) {
  IppdCase lengths;
  lengths.p = static_cast<int>(prompt.p.size());
  for (size_t j = 0; j < prompt.c.size(); ++j) {
    lengths.c.push_back(static_cast<int>(prompt.c[j].size()));
    lengths.x.emplace_back();
    for (const Tokens& x : prompt.x[j]) lengths.x.back().push_back(static_cast<int>(x.size()));
    lengths.y.emplace_back(prompt.x[j].size(), 0);
  }
  return lengths;
}

}  // namespace

std::vector<std::vector<Tokens>> slow_ippd(const SlowTransformer& slow,
                                           const std::vector<IppdPrompt>& prompts, int limit,
                                           const std::vector<Token>& eos) {
  std::vector<IppdCase> cases;
  std::vector<std::vector<Tokens>> chosen;
  std::vector<std::vector<bool>> open;
  for (const IppdPrompt& prompt : prompts) {
    cases.push_back(lengths_of(prompt));
    size_t questions = 0;
    for_each_question(cases.back(), [&](int, int) { ++questions; });
    chosen.emplace_back(questions);
    open.emplace_back(questions, true);
  }
  const auto any_open = [&] {
    return std::any_of(open.begin(), open.end(), [](const std::vector<bool>& of_prompt) {
      return std::find(of_prompt.begin(), of_prompt.end(), true) != of_prompt.end();
    });
  };
  while (any_open()) {
    const auto rows = padded_batch(cases);
    for (size_t b = 0; b < prompts.size(); ++b) {
      const auto number = [&](int j, int k) {  // of a question, over all contexts, from 0
        size_t at = 0, found = 0;
        for_each_question(cases[b], [&](int jj, int kk) {
          if (jj == j && kk == k) found = at;
          ++at;
        });
        return found;
      };
      Tokens tokens;
      std::vector<int> rope;
      std::vector<std::vector<int>> seen;
      for (const IppdToken& q : rows[b]) {
        const auto j = static_cast<size_t>(q.j - 1), k = static_cast<size_t>(q.k - 1),
                   i = static_cast<size_t>(q.i);
        switch (q.kind) {
          case Kind::pad:
            tokens.push_back(3);
            break;
          case Kind::instruction:
            tokens.push_back(prompts[b].p[i]);
            break;
          case Kind::context:
            tokens.push_back(prompts[b].c[j][i]);
            break;
          case Kind::question:
            tokens.push_back(prompts[b].x[j][k][i]);
            break;
          case Kind::answer:
            tokens.push_back(chosen[b][number(q.j, q.k)][i - 1]);
            break;
        }
        // A rotary table has no row for infinity, and the result of a pad is not used.
        rope.push_back(q.kind == Kind::pad ? 0 : static_cast<int>(virtual_position(cases[b], q)));
        auto& of_query = seen.emplace_back();
        for (size_t key = 0; key < rows[b].size(); ++key)
          if (final_mask(cases[b], q, rows[b][key])) of_query.push_back(static_cast<int>(key));
      }
      const auto logits = slow.logits(tokens, rope, seen);
      for_each_question(cases[b], [&](int j, int k) {
        const size_t question_number = number(j, k);
        if (!open[b][question_number]) return;
        size_t last = 0;  // the newest token of x_jk or its answer
        for (size_t row = 0; row < rows[b].size(); ++row)
          if (rows[b][row].j == j && rows[b][row].k == k) last = row;
        const Token next = top_two(logits[last]).best;
        Tokens& y = chosen[b][question_number];
        y.push_back(next);
        open[b][question_number] = static_cast<int>(y.size()) < limit &&
                                   std::find(eos.begin(), eos.end(), next) == eos.end();
      });
    }
    for (size_t b = 0; b < prompts.size(); ++b) {
      size_t question_number = 0;
      for_each_question(cases[b], [&](int j, int k) {
        cases[b].y[static_cast<size_t>(j - 1)][static_cast<size_t>(k - 1)] +=
            open[b][question_number++];
      });
    }
  }
  return chosen;
}

std::vector<std::vector<Tokens>> slow_independent(const SlowTransformer& slow,
                                                  const std::vector<IppdPrompt>& prompts, int limit,
                                                  const std::vector<Token>& eos) {
  std::vector<std::vector<Tokens>> answers;
  for (const IppdPrompt& prompt : prompts) {
    auto& of_prompt = answers.emplace_back();
    for (size_t j = 0; j < prompt.c.size(); ++j)
      for (const Tokens& x : prompt.x[j]) {
        Tokens text = prompt.p;
        text.insert(text.end(), prompt.c[j].begin(), prompt.c[j].end());
        text.insert(text.end(), x.begin(), x.end());
        Tokens& y = of_prompt.emplace_back();
        do {
          y.push_back(slow.next(text));
          text.push_back(y.back());
        } while (static_cast<int>(y.size()) < limit &&
                 std::find(eos.begin(), eos.end(), y.back()) == eos.end());
      }
  }
  return answers;
}

}  // namespace pardec::test
