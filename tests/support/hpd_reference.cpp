#include "tests/support/hpd_reference.hpp"

#include <algorithm>
#include <numeric>

#include "src/support/text.hpp"

namespace pardec::test {

namespace {

using Kind = HpdToken::Kind;

void add_prompt(const HpdCase& c, std::vector<HpdToken>& out) {
  for (int i = 0; i < c.prompt; ++i) out.push_back({Kind::prompt, 0, i});
}
void add_attribute(const HpdCase& c, int n, std::vector<HpdToken>& out) {
  for (int i = 0; i < c.attributes[static_cast<size_t>(n - 1)]; ++i)
    out.push_back({Kind::attribute, n, i});
}
int count(const HpdCase& c) { return static_cast<int>(c.attributes.size()); }

/// Whether `key` is `query` itself, or comes before it in the finished text.
bool not_after(const HpdToken& key, const HpdToken& query) {
  if (key.kind == Kind::prompt && query.kind == Kind::prompt) return key.i <= query.i;
  if (key.kind == Kind::prompt) return true;
  if (query.kind == Kind::prompt) return false;
  if (key.n != query.n) return key.n < query.n;
  if (key.kind == Kind::attribute && query.kind == Kind::value) return true;
  if (key.kind == Kind::value && query.kind == Kind::attribute) return false;
  return key.i <= query.i;
}

/// The additions to the paper: no value sees another, or none of another product.
bool isolated_from(const HpdCase& c, const HpdToken& query, const HpdToken& key) {
  if (query.kind != Kind::value || key.kind != Kind::value) return false;
  const int per_product = count(c) / c.products;
  switch (c.isolated) {
    case HpdIsolation::none:
      return false;
    case HpdIsolation::values:
      return query.n != key.n;
    case HpdIsolation::products:
      return (query.n - 1) / per_product != (key.n - 1) / per_product;
  }
  return false;
}

/// The inference step that computes a token: all of s in step 1; a choice of step k in step k + 1.
int fed_in_step(const HpdToken& token) { return token.kind == Kind::value ? token.i + 1 : 1; }

}  // namespace

std::string HpdCase::text() const {
  std::string out = str("|p|=", prompt, " products=", products, " K_max=", k_max,
                        " isolated=", static_cast<int>(isolated), " attributes");
  for (const int length : attributes) out += str(" ", length);
  out += " values";
  for (const int length : values) out += str(" ", length);
  return out;
}

std::vector<HpdToken> natural_order(const HpdCase& c) {
  std::vector<HpdToken> out;
  add_prompt(c, out);
  for (int n = 1; n <= count(c); ++n) {
    add_attribute(c, n, out);
    for (int k = 1; k <= c.values[static_cast<size_t>(n - 1)]; ++k)
      out.push_back({Kind::value, n, k});
  }
  return out;
}

std::vector<HpdToken> feeding_order(const HpdCase& c) {
  std::vector<HpdToken> out;
  add_prompt(c, out);
  for (int n = 1; n <= count(c); ++n) add_attribute(c, n, out);
  const int longest = c.values.empty() ? 0 : *std::max_element(c.values.begin(), c.values.end());
  for (int k = 1; k <= longest; ++k)
    for (int n = 1; n <= count(c); ++n)
      if (c.values[static_cast<size_t>(n - 1)] >= k) out.push_back({Kind::value, n, k});
  return out;
}

std::vector<int> algorithm_2(const HpdCase& c) {
  std::vector<int> pos_id(
      static_cast<size_t>(c.prompt + std::accumulate(c.attributes.begin(), c.attributes.end(), 0)));
  std::iota(pos_id.begin(), pos_id.end(), 0);
  int offset = 0, start = c.prompt;
  for (const int length : c.attributes) {
    for (int i = start; i < start + length; ++i) pos_id[static_cast<size_t>(i)] += offset;
    offset += c.k_max;
    start += length;
  }
  return pos_id;
}

int position(const HpdCase& c, const HpdToken& token) {
  const std::vector<int> pos_id = algorithm_2(c);
  if (token.kind == Kind::prompt) return pos_id[static_cast<size_t>(token.i)];
  int start = c.prompt;
  for (int n = 1; n < token.n; ++n) start += c.attributes[static_cast<size_t>(n - 1)];
  if (token.kind == Kind::attribute) return pos_id[static_cast<size_t>(start + token.i)];
  const int end = start + c.attributes[static_cast<size_t>(token.n - 1)] - 1;
  return pos_id[static_cast<size_t>(end)] + token.i;
}

bool attends_in_training(const HpdCase& c, const HpdToken& query, const HpdToken& key) {
  if (!not_after(key, query)) return false;
  if (query.kind == Kind::attribute && key.kind == Kind::value) return false;
  // v_{n,k} cannot attend to { v_{n',k'} | n' < n, k' > k }.
  if (query.kind == Kind::value && key.kind == Kind::value && key.n < query.n && key.i > query.i)
    return false;
  return !isolated_from(c, query, key);
}

bool attends_at_inference(const HpdCase& c, const HpdToken& query, const HpdToken& key) {
  return fed_in_step(key) <= fed_in_step(query) && not_after(key, query) &&
         !isolated_from(c, query, key);
}

Trace algorithm_1(const Tokens& prompt, const std::vector<Tokens>& segments,
                  const std::vector<Tokens>& values, int products, const HpdOptions& options) {
  HpdCase c;
  c.prompt = static_cast<int>(prompt.size());
  c.products = products;
  c.k_max = options.k_max;
  c.isolated = options.isolated;
  for (const auto& segment : segments) c.attributes.push_back(static_cast<int>(segment.size()));
  for (const auto& value : values)
    c.values.push_back(static_cast<int>(value.size()) - 1);  // the last one chosen is not computed

  const std::vector<HpdToken> order = feeding_order(c);
  const auto row_of = [&](int n, int k) {  // of v_{n,k}; k = 0: of end(a_n)
    int found = -1;
    for (size_t row = 0; row < order.size(); ++row) {
      const HpdToken& token = order[row];
      if (token.n == n &&
          (k == 0 ? token.kind == Kind::attribute : token.kind == Kind::value && token.i == k))
        found = static_cast<int>(row);
    }
    return found;
  };
  Trace trace;
  for (const HpdToken& query : order) {
    const auto n = static_cast<size_t>(query.n - 1), i = static_cast<size_t>(query.i);
    switch (query.kind) {
      case Kind::prompt:
        trace.tokens.push_back(prompt[i]);
        break;
      case Kind::attribute:
        trace.tokens.push_back(segments[n][i]);
        break;
      case Kind::value:
        trace.tokens.push_back(values[n][i - 1]);
        break;
    }
    trace.position.push_back(position(c, query));
    trace.step.push_back(fed_in_step(query) - 1);
    auto& seen = trace.visible.emplace_back();
    for (size_t key = 0; key < order.size(); ++key)
      if (attends_at_inference(c, query, order[key])) seen.push_back(static_cast<int>(key));
    trace.from.push_back(query.kind == Kind::value ? std::optional(row_of(query.n, query.i - 1))
                                                   : std::nullopt);
    trace.predicts.emplace_back();
    trace.banned.emplace_back();
    trace.dropped_at.emplace_back();
  }
  for (int t = 1; t <= c.k_max; ++t)
    for (int n = 1; n <= count(c); ++n) {
      const Tokens& value = values[static_cast<size_t>(n - 1)];
      if (static_cast<int>(value.size()) < t) continue;  // pruned
      const int row = row_of(n, t - 1);
      trace.predicts[static_cast<size_t>(row)] = value[static_cast<size_t>(t - 1)];
      trace.emitted.push_back(row);
    }
  return trace;
}

}  // namespace pardec::test
