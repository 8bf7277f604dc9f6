#include "tests/support/apar_reference.hpp"

#include <algorithm>
#include <limits>
#include <list>
#include <set>

namespace pardec::test {

namespace {

struct Sequence;

struct PNode {
  Sequence* s;
  size_t start, end;
  PNode *first_child = nullptr, *next_sibling = nullptr;
};
constexpr size_t kNull = std::numeric_limits<size_t>::max();

struct Sequence {
  Tokens tokens;
  PNode* current_node = nullptr;
  int depth = 1;
  size_t fed = 0;  ///< tokens that the network has read
  bool finished = false;
};

bool among(const std::vector<Token>& tokens, Token token) {
  return std::find(tokens.begin(), tokens.end(), token) != tokens.end();
}

}  // namespace

SlowApar slow_apar(const SlowTransformer& theta, const Tokens& prompt, const SlowAparRules& rules) {
  SlowApar out;
  std::list<Sequence> g;  // a list: pointers stay
  std::list<PNode> nodes;
  const auto pnode = [&](Sequence& s, size_t start) {
    return &nodes.emplace_back(PNode{&s, start, kNull});
  };
  Sequence& p = g.emplace_back(Sequence{prompt});
  PNode* const r = p.current_node = pnode(p, prompt.size());
  double attended = 0, text = 0;

  const auto live = [&] {
    return std::count_if(g.begin(), g.end(), [](const Sequence& s) { return !s.finished; });
  };
  const auto spent = [&] { return std::ssize(out.chosen) >= rules.limit; };
  while (live() > 0) {
    std::set<Tokens> held;  // a slot is the path that leads to it
    for (const Sequence& s : g)
      for (size_t n = 1; !s.finished && n <= s.tokens.size(); ++n)
        held.insert(Tokens(s.tokens.begin(), s.tokens.begin() + static_cast<std::ptrdiff_t>(n)));
    out.slots.push_back(std::ssize(held));
    out.live.push_back(static_cast<int>(live()));

    // Which threads may fork so that there are never too many: those that will fork in this step
    // count already, and the oldest come first.
    long threads = live();
    for (const Sequence& s : g) threads += !s.finished && s.tokens.back() == rules.fork;
    std::vector<Sequence*> snapshot;
    std::vector<bool> may_fork;
    for (Sequence& s : g) {
      if (s.finished) continue;
      const bool control = s.tokens.back() == rules.fork || s.tokens.back() == rules.child;
      const bool deepest = rules.max_depth > 0 && s.depth >= rules.max_depth;
      const bool full = rules.max_threads > 0 && threads >= rules.max_threads;
      snapshot.push_back(&s);
      may_fork.push_back(!control && !deepest && !full);
      threads += may_fork.back();
    }

    for (Sequence* s : snapshot) s->fed = s->tokens.size();
    for (size_t i = 0; i < snapshot.size() && !spent(); ++i) {
      Sequence& s = *snapshot[i];
      const std::vector<double> logits = theta.logits(s.tokens).back();
      Token x = -1;
      for (Token id = 0; id < static_cast<Token>(logits.size()); ++id)
        if (id != rules.child && (id != rules.fork || may_fork[i]) &&
            (x < 0 || logits[static_cast<size_t>(id)] > logits[static_cast<size_t>(x)]))
          x = id;
      out.chosen.push_back(x);
      if (s.tokens.back() == rules.fork) {
        Sequence& child = g.emplace_back(s);
        child.tokens.push_back(rules.child);
        child.depth = s.depth + 1;
        PNode *n = pnode(s, s.tokens.size()), *n_child = pnode(child, child.tokens.size());
        s.current_node->end = s.tokens.size();
        s.current_node->next_sibling = n;
        s.current_node->first_child = n_child;
        s.current_node = n;
        child.current_node = n_child;
        child.fed = child.tokens.size() - 1;
      }
      s.tokens.push_back(x);
      if (x != rules.fork && !among(rules.eos, x)) {
        attended += static_cast<double>(s.tokens.size() - 1);
        text += 1;
      }
      s.finished = among(rules.eos, x);
    }
    if (spent())
      for (Sequence& s : g) s.finished = true;
  }

  const auto restore = [&](const auto& self, const PNode* node) -> void {
    if (!node) return;
    for (size_t i = node->start; i < std::min(node->end, node->s->tokens.size()); ++i) {
      const Token token = node->s->tokens[i];
      if (token != rules.fork && token != rules.child && !among(rules.eos, token))
        out.restored.push_back(token);
    }
    self(self, node->first_child);
    self(self, node->next_sibling);
  };
  restore(restore, r);
  for (const Sequence& s : g) {
    out.threads.emplace_back(s.tokens.begin() + std::ssize(prompt), s.tokens.end());
    out.fed.push_back(s.fed - prompt.size());
  }
  out.attended = text > 0 ? attended / text : 0;
  return out;
}

}  // namespace pardec::test
