// Visible rows and positions of the rows that decoders compute, compared with the papers. The
// formulas here are written only from the papers' text, by another author than the layouts. Each is
// compared with traces of at least 1,000 random answers of the decoder itself. That attention uses
// the rows that traces record is shown twice: its mask equals the visibility rule bit by bit
// (tests/model), and a transformer of naive loops under this mask makes every choice again.
#include <algorithm>
#include <limits>
#include <map>

#include "src/support/text.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/decoding.hpp"

using namespace pardec;
using namespace pardec::test;

namespace {

/// A computed token in the paper's terms, in the order of a trace.
struct Row {
  Token token = 0;
  int position = 0;
  std::vector<int> sees;  // rows, itself included, ascending
};

/// An answer to be forced and the rows that the paper computes for it.
struct Layout {
  Request request;
  std::vector<Row> rows;
};

/// One layer, so that thousands of answers take little time. Query and key projections are as sharp
/// as those of larger random networks.
TinyNetwork network_of(int positions) {
  return TinyNetwork("llama", 7,
                     {{"hidden_size", 16},
                      {"intermediate_size", 8},
                      {"num_hidden_layers", 1},
                      {"num_attention_heads", 1},
                      {"num_key_value_heads", 1},
                      {"head_dim", 8},
                      {"max_position_embeddings", positions}});
}

const TinyNetwork& smallest() {
  static const TinyNetwork network = network_of(2048);
  return network;
}

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : rng_(seed) {}
  int from(int least, int most) {
    return least + static_cast<int>(rng_.below(static_cast<std::uint64_t>(most - least + 1)));
  }
  bool one_in(int n) { return from(1, n) == 1; }
  double share() { return from(0, 4) / 4.0; }
  /// Single letters: no line break, no control token.
  Tokens letters(int count) {
    Tokens tokens;
    for (int i = 0; i < count; ++i) tokens.push_back(4 + 'a' + from(0, 25));
    return tokens;
  }

 private:
  Rng rng_;
};

const Trace& trace_of(const Ran& ran, const std::string& id) {
  for (const auto& [name, trace] : ran.traces)
    if (name == id || name.starts_with(id + "/")) return trace;
  throw std::runtime_error(str("no trace of ", id));
}

std::string text(const std::vector<int>& rows) { return Json(rows).dump(); }

/// The first difference; empty: none.
std::string difference(const Trace& trace, const std::vector<Row>& rows) {
  if (trace.tokens.size() != rows.size())
    return str(trace.tokens.size(), " rows were fed, in the paper ", rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    if (trace.tokens[i] != rows[i].token)
      return str("row ", i, " is ", trace.tokens[i], ", in the paper ", rows[i].token);
    if (trace.position[i] != rows[i].position)
      return str("row ", i, " stands at ", trace.position[i], ", in the paper ", rows[i].position);
    if (trace.visible[i] != rows[i].sees)
      return str("row ", i, " sees ", text(trace.visible[i]), ", in the paper ",
                 text(rows[i].sees));
  }
  return "";
}

/// Decodes the layouts together and compares.
void compare(Model& model, const Decoder& decoder, const std::vector<Layout>& layouts) {
  std::vector<Request> requests;
  for (const Layout& layout : layouts) requests.push_back(layout.request);
  const Ran ran = run(model, smallest().tokenizer(), decoder, requests,
                      static_cast<int>(requests.size()), true);
  for (size_t i = 0; i < layouts.size(); ++i) {
    INFO(decoder.options().dump() << " " << requests[i].job.id);
    REQUIRE(ran.errors[i] == "");
    const Trace& trace = trace_of(ran, requests[i].job.id);
    REQUIRE(difference(trace, layouts[i].rows) == "");
    REQUIRE(replay(smallest().slow(), trace, 5e-4).wrong == std::vector<std::string>{});
  }
}

// --- HPD ---

struct HpdToken {
  Token token;
  int position;
  int n = 0, k = 0;  // v_nk; k = 0: prompt or attribute
  int product = 0;
  int step = 1;
};

/// Section 4.4: "the standard causal mask, which prevents tokens from attending to those with a
/// higher position ID"; "each token v_n,k cannot attend to tokens v_n',k' for n' < n, k' > k"; "we
/// prevent all attribute tokens from attending to all value tokens". `isolated` is ours.
bool attends(const HpdToken& q, const HpdToken& key, const std::string& isolated) {
  if (key.position > q.position) return false;
  if (key.k == 0) return true;
  if (q.k == 0) return false;
  if (key.n < q.n && key.k > q.k) return false;
  if (isolated == "values") return key.n == q.n;
  if (isolated == "products") return key.product == q.product;
  return true;
}

Layout hpd_layout(const std::string& id, int K_max, int J, int N, const std::string& isolated,
                  Draw& draw) {
  Layout out;
  Request& request = out.request;
  request.form = Form::json;
  request.job.id = id;
  for (int j = 0; j < J; ++j) {
    request.job.contexts.push_back({str(j), "", "", {}});
    for (int n = 0; n < N; ++n) request.job.contexts.back().fields.push_back({str("A", n), "", {}});
  }
  request.pieces.prefix = draw.letters(draw.from(1, 3));
  request.pieces.rest = draw.letters(draw.from(0, 2 + 2 * J));
  request.oracle.emplace();
  for (int r = 0; r < J * N; ++r) {
    request.pieces.segments.push_back(draw.letters(draw.from(1, 3)));
    Tokens value = draw.letters(draw.from(1, K_max));
    if (std::ssize(value) < K_max || draw.one_in(2)) value.back() = kLineBreak;
    request.oracle->streams.push_back(value);
  }

  // s = cat(p, a_1..N), Algorithm 2.
  std::vector<HpdToken> tokens;
  for (const Token token : request.pieces.whole_prompt())
    tokens.push_back({token, static_cast<int>(tokens.size())});
  std::vector<int> end;  // pos_id[end(a_n)]
  int offset = 0;
  for (const Tokens& attribute : request.pieces.segments) {
    for (const Token token : attribute)
      tokens.push_back({token, static_cast<int>(tokens.size()) + offset});
    end.push_back(tokens.back().position);
    offset += K_max;
  }
  // Step t computes the tokens chosen at t - 1, of the values that go on.
  for (int t = 2; t <= K_max; ++t)
    for (int r = 0; r < J * N; ++r) {
      const Tokens& value = request.oracle->streams[static_cast<size_t>(r)];
      if (std::ssize(value) < t) continue;
      tokens.push_back({value[static_cast<size_t>(t - 2)], end[static_cast<size_t>(r)] + t - 1, r,
                        t - 1, r / N, t});
    }
  bool fed_before = true;  // Figure 3: (a) and (b) are the same pattern
  for (const HpdToken& q : tokens) {
    out.rows.push_back({q.token, q.position, {}});
    for (size_t k = 0; k < tokens.size(); ++k)
      if (attends(q, tokens[k], isolated)) {
        fed_before = fed_before && tokens[k].step <= q.step;
        out.rows.back().sees.push_back(static_cast<int>(k));
      }
  }
  REQUIRE(fed_before);
  return out;
}

// --- IPPD ---

struct IppdColumn {
  Token token = 0;
  std::int64_t position = std::numeric_limits<std::int64_t>::max();  // of a pad
  int context = -1, question = -1;                                   // of a pad
  int row = -1;
};

/// Equations 6 to 9.
bool final_mask(const IppdColumn& q, const IppdColumn& k) {
  const bool causal = q.position >= k.position;
  const bool context = q.context == k.context || k.context == 0;
  const bool question = q.question == k.question || k.question == 0;
  return causal && context && question;
}

Request ippd_request(const std::string& id, Draw& draw) {
  Request request;
  request.form = Form::value;
  request.job.id = id;
  request.job.limits.per_field = 5;
  request.pieces.prefix = draw.letters(draw.from(1, 4));
  request.oracle.emplace();
  for (int j = draw.from(1, 3); j > 0; --j) {
    request.job.contexts.push_back({str(j), "", "", {}});
    request.pieces.contexts.push_back(draw.letters(draw.from(1, 4)));
    request.pieces.fields.emplace_back();
    for (int k = draw.from(1, 3); k > 0; --k) {
      request.job.contexts.back().fields.push_back({str(k), "", {}});
      request.pieces.fields.back().push_back(draw.letters(draw.from(1, 3)));
      Tokens answer = draw.letters(draw.from(1, 5));
      if (answer.size() < 5) answer.back() = 0;  // the end of sequence
      request.oracle->streams.push_back(answer);
    }
  }
  return request;
}

/// Section 4.4: prompts of one batch, padded on the left at prefill, and at the end of each step.
std::vector<Layout> padded_ippd(const std::vector<Request>& requests, int& pads) {
  struct Prompt {
    std::vector<IppdColumn> header;
    struct Question {
      int context, question, first;  // first: position of y_1
    };
    std::vector<Question> questions;
  };
  std::vector<Prompt> prompts;
  size_t widest = 0;
  for (const Request& request : requests) {
    Prompt& prompt = prompts.emplace_back();
    const Pieces& s = request.pieces;
    const int p = static_cast<int>(s.prefix.size());
    const auto put = [&](const Tokens& tokens, int first, int context, int question) {
      for (const Token token : tokens)
        prompt.header.push_back({token, first++, context, question, -1});
    };
    put(s.prefix, 0, 0, 0);
    int question = 0;
    for (size_t j = 0; j < s.contexts.size(); ++j) {
      const int context = static_cast<int>(j) + 1, c = static_cast<int>(s.contexts[j].size());
      put(s.contexts[j], p, context, 0);
      for (const Tokens& x : s.fields[j]) {
        put(x, p + c, context, ++question);
        prompt.questions.push_back({context, question, p + c + static_cast<int>(x.size())});
      }
    }
    widest = std::max(widest, prompt.header.size());
  }
  std::vector<std::vector<IppdColumn>> columns;
  for (const Prompt& prompt : prompts) {
    auto& row = columns.emplace_back(widest - prompt.header.size());
    row.insert(row.end(), prompt.header.begin(), prompt.header.end());
  }
  for (size_t t = 1;; ++t) {  // computes y_t of answers that are longer
    size_t most = 0;
    for (size_t b = 0; b < prompts.size(); ++b) {
      const size_t before = columns[b].size();
      for (size_t k = 0; k < prompts[b].questions.size(); ++k) {
        const Tokens& y = requests[b].oracle->streams[k];
        const auto& x = prompts[b].questions[k];
        if (y.size() > t)
          columns[b].push_back(
              {y[t - 1], x.first + static_cast<int>(t) - 1, x.context, x.question, -1});
      }
      most = std::max(most, columns[b].size() - before);
    }
    if (most == 0) break;
    size_t width = 0;
    for (const auto& row : columns) width = std::max(width, row.size());
    for (auto& row : columns) row.resize(width);
  }
  std::vector<Layout> out;
  bool pad_seen = false;
  for (size_t b = 0; b < columns.size(); ++b) {
    Layout& layout = out.emplace_back(Layout{requests[b], {}});
    int row = 0;
    for (IppdColumn& column : columns[b])
      if (column.context >= 0) column.row = row++;
    for (const IppdColumn& q : columns[b]) {
      if (q.row < 0) {
        ++pads;
        continue;
      }
      layout.rows.push_back({q.token, static_cast<int>(q.position), {}});
      for (const IppdColumn& k : columns[b])
        if (final_mask(q, k)) {
          pad_seen = pad_seen || k.row < 0;
          layout.rows.back().sees.push_back(k.row);
        }
    }
  }
  REQUIRE(!pad_seen);
  return out;
}

// --- SPACE ---

/// An item of I (Equation 4): a real token, or [M].
struct SpaceToken {
  bool mask;
  int row;
};

/// A.3: "masked tokens can causally attend only to other mask tokens within the same group and to
/// preceding non-masked tokens", "non-masked tokens are restricted to causally attend to prior
/// non-masked tokens". A group is the masks between two tokens that are not masks.
bool attends(const std::vector<SpaceToken>& I, size_t i, size_t j) {
  if (j > i) return false;
  if (!I[j].mask) return true;
  if (!I[i].mask) return false;
  return std::all_of(I.begin() + static_cast<std::ptrdiff_t>(j),
                     I.begin() + static_cast<std::ptrdiff_t>(i),
                     [](const SpaceToken& between) { return between.mask; });
}

// --- speculative decoders: rows of a trace, step by step ---

/// Rows of a trace from `first` on that were computed in one step.
int end_of_step(const Trace& trace, int first) {
  int end = first;
  while (end < std::ssize(trace.tokens) &&
         trace.step[static_cast<size_t>(end)] == trace.step[static_cast<size_t>(first)])
    ++end;
  return end;
}

/// Whether a row exists when `step` is computed.
bool there(const Trace& trace, int row, int step) {
  const auto& dropped = trace.dropped_at[static_cast<size_t>(row)];
  return !dropped || step <= *dropped;
}

/// The rows of the text must be its ids: the kept rows are the accepted ones.
void check_text(const Trace& trace, const std::vector<int>& rows, Tokens prompt,
                const Tokens& answer) {
  prompt.insert(prompt.end(), answer.begin(), answer.end());
  REQUIRE(rows.size() <= prompt.size());
  Tokens kept;
  for (const int row : rows) kept.push_back(trace.tokens[static_cast<size_t>(row)]);
  prompt.resize(rows.size());
  REQUIRE(kept == prompt);
}

std::vector<Row> space_rows(const Trace& trace, const Tokens& prompt, const Tokens& answer,
                            Token mask) {
  std::vector<Row> rows;
  std::vector<int> kept;  // rows of the text
  bool masks_stay = false;
  for (int first = 0; first < std::ssize(trace.tokens);) {
    const int end = end_of_step(trace, first);
    std::vector<SpaceToken> I;
    for (const int row : kept) I.push_back({false, row});
    for (int row = first; row < end; ++row)
      I.push_back({trace.tokens[static_cast<size_t>(row)] == mask, row});
    for (size_t i = kept.size(); i < I.size(); ++i) {
      Row& row = rows.emplace_back(Row{trace.tokens[static_cast<size_t>(I[i].row)], -1, {}});
      for (size_t j = 0; j < I.size(); ++j) row.position += attends(I, i, j);  // P_i = sum A_ij - 1
      for (size_t j = 0; j < I.size(); ++j)
        if (attends(I, i, j)) row.sees.push_back(I[j].row);
    }
    for (int row = first; row < end; ++row) {
      const bool real = trace.tokens[static_cast<size_t>(row)] != mask;
      const bool stays = there(trace, row, trace.step[static_cast<size_t>(first)] + 1);
      masks_stay = masks_stay || (!real && stays && end < std::ssize(trace.tokens));
      if (real && stays) kept.push_back(row);
    }
    if (end < std::ssize(trace.tokens)) check_text(trace, kept, prompt, answer);
    first = end;
  }
  REQUIRE(!masks_stay);
  return rows;
}

/// The figure of Fu et al.: each guess ends its own text. For a guess of the window, this text is
/// the certain tokens, then the first level of the window up to its column, then its column
/// upwards. For a guess of an n-gram, it is the certain tokens and the n-gram so far.
std::vector<Row> lookahead_rows(const Trace& trace, const Tokens& prompt, const Tokens& answer,
                                int W, int N, int room_at_start, int& branches) {
  std::vector<Row> rows;
  std::vector<int> kept;
  const auto put = [&](const std::vector<int>& line) {  // the row that ends the text `line`
    Row row{trace.tokens[static_cast<size_t>(line.back())], static_cast<int>(line.size()) - 1,
            line};
    std::sort(row.sees.begin(), row.sees.end());
    rows.push_back(std::move(row));
  };
  for (int first = 0; first < std::ssize(trace.tokens);) {
    const int end = end_of_step(trace, first);
    const int pending = first == 0 ? static_cast<int>(prompt.size()) : 1;
    for (int row = first; row < first + pending; ++row) {
      kept.push_back(row);
      put(kept);
    }
    const int window = end - W * (N - 1);
    // An n-gram begins at its first token, which the text has. None goes beyond the answer's end.
    const int emitted = static_cast<int>(kept.size() - prompt.size());
    const int length = std::min(N - 1, room_at_start - emitted - 1);
    for (int row = first + pending; row < window; row += length, ++branches) {
      std::vector<int> line = kept;
      for (int k = 0; k < length; ++k) {
        line.push_back(row + k);
        put(line);
      }
    }
    for (int level = 0; level < N - 1; ++level)
      for (int column = 0; column < W; ++column) {
        std::vector<int> line = kept;
        for (int c = 0; c <= column; ++c) line.push_back(window + c);
        for (int up = 1; up <= level; ++up) line.push_back(window + up * W + column);
        put(line);
      }
    for (int row = first + pending; row < end; ++row)
      if (there(trace, row, trace.step[static_cast<size_t>(first)] + 1)) kept.push_back(row);
    if (end < std::ssize(trace.tokens)) check_text(trace, kept, prompt, answer);
    first = end;
  }
  return rows;
}

// --- APAR ---

constexpr Token kFork = 393, kChild = 394, kEnd = 0;

/// Algorithm 1 with random choices. A sequence attends to itself: forked sequences share their
/// prefix.
Layout apar_layout(const std::string& id, Draw& draw, int& deepest) {
  struct Thread {
    std::vector<int> rows;  // of its tokens that were computed
    Token last;             // its last token, which is computed next
    bool fed = false, finished = false;
    int depth = 1;
  };
  Layout out{open_request(id, draw.letters(draw.from(1, 3)), 1000), {}};
  Tokens stream;
  std::vector<Thread> G(1);
  const Tokens prompt = out.request.pieces.prefix;
  const auto feed = [&](Thread& s, Token token) {
    s.rows.push_back(static_cast<int>(out.rows.size()));
    s.fed = true;
    out.rows.push_back({token, static_cast<int>(s.rows.size()) - 1, s.rows});
  };
  for (const Token token : prompt) feed(G[0], token);
  G[0].last = prompt.back();
  while (std::any_of(G.begin(), G.end(), [](const Thread& s) { return !s.finished; })) {
    for (Thread& s : G)
      if (!s.finished && !s.fed) feed(s, s.last);
    const size_t snapshot = G.size();  // threads born in this pass wait for the next
    for (size_t i = 0; i < snapshot; ++i) {
      if (G[i].finished) continue;
      const bool control = G[i].last == kFork || G[i].last == kChild;
      Token x = draw.letters(1)[0];
      if (out.rows.size() > 45 || draw.one_in(5))
        x = kEnd;
      else if (!control && G[i].depth < 3 && draw.one_in(2))
        x = kFork;
      if (G[i].last == kFork) {
        Thread child = G[i];
        child.last = kChild;
        child.fed = false;
        deepest = std::max(deepest, ++child.depth);
        G.push_back(child);
      }
      stream.push_back(x);
      G[i].last = x;
      G[i].fed = false;
      G[i].finished = x == kEnd;
    }
  }
  out.request.oracle = Oracle{{stream}, {}};
  return out;
}

// --- ASPD ---

constexpr Token kTitle = 1, kTitleEnd = 2, kBranch = 3, kBranchEnd = 393, kPara = 394,
                kParaEnd = 395;

/// A token of an answer in the terms of section 3.2: branch (0: main), stage, index inside the
/// branch, timestamp. `copy`: computed again under Same-Re.
struct AspdToken {
  Token token;
  int b = 0, g = 0, r = 0, t = 0;
  bool copy = false;
  int position = 0;
};

/// Equations 2 and 3, in which a token attends to tokens of other branches that were computed
/// before it. Under Same-Re later stages attend to a block's moved copy instead of the block.
bool attends(const AspdToken& i, const AspdToken& j, bool shared, bool re) {
  const bool replaced = re && j.b > 0 && !j.copy;
  if (j.g < i.g) return !replaced;  // earlier stages
  if (j.g > i.g || i.copy != j.copy) return false;
  if (i.b == j.b) return j.r <= i.r;
  return shared && !i.copy && j.t < i.t;
}

struct AspdScheme {
  std::string name;
  int N = 0;  // of Fix-N
};

Layout aspd_layout(const std::string& id, const AspdScheme& scheme, bool shared, int rounds,
                   Draw& draw) {
  Layout out{open_request(id, draw.letters(draw.from(1, 3)), 1000), {}};
  const bool re = scheme.name == "same-re", fix = scheme.name.starts_with("fix");
  std::vector<AspdToken> fed;
  Tokens stream;
  int g = 0, t = 0, serial = 0;
  // Positions: Equation 4 counts for the main branch the tokens decoded earlier, P_t at each t.
  const auto tokens_before = [&](int time) {
    return static_cast<int>(std::count_if(
        fed.begin(), fed.end(), [&](const AspdToken& j) { return !j.copy && j.t < time; }));
  };
  int stage_start = 0;  // Fix-N: position of the stage's first token
  const auto main = [&](Token token) {
    int position = tokens_before(t);              // Same-Seq: flattened index; so is Same-Re
    if (scheme.name == "same-max") position = t;  // each timestamp is one position
    if (fix) position = stage_start + serial;
    fed.push_back({token, 0, g, serial++, t++, false, position});
  };
  for (const Token token : out.request.pieces.prefix) main(token);
  const auto say = [&](Token token) {
    stream.push_back(token);
    main(token);
  };
  for (int round = 0; round < rounds; ++round) {
    for (const Token token : draw.letters(draw.from(round ? 1 : 0, 2))) say(token);
    std::vector<Tokens> branches;  // whole, from <Branch> through </Branch>
    std::vector<size_t> prefix;
    for (int k = draw.from(1, 4); k > 0; --k) {
      Tokens title = draw.letters(draw.from(1, 2));
      title.push_back(4 + 'A' + k);  // no two alike
      say(kTitle);
      for (const Token token : title) say(token);
      say(kTitleEnd);
      Tokens branch{kBranch};
      branch.insert(branch.end(), title.begin(), title.end());
      branch.push_back(4 + ':');
      prefix.push_back(branch.size());
      for (const Token token : draw.letters(draw.from(0, 4))) branch.push_back(token);
      branch.push_back(kBranchEnd);
      branches.push_back(branch);
    }
    say(kPara);
    const int s = fed.back().position + 1;
    ++g;
    size_t longest = 0;
    const auto put = [&](size_t k, size_t r) {
      fed.push_back({branches[k][r], static_cast<int>(k) + 1, g, static_cast<int>(r),
                     t + static_cast<int>(r), false,
                     s + static_cast<int>(r) + (fix ? static_cast<int>(k) * scheme.N : 0)});
    };
    for (size_t k = 0; k < branches.size(); ++k) {
      stream.insert(stream.end(), branches[k].begin() + static_cast<std::ptrdiff_t>(prefix[k]),
                    branches[k].end());
      longest = std::max(longest, branches[k].size());
    }
    if (shared) {  // one token a step
      for (size_t r = 0; r < longest; ++r)
        for (size_t k = 0; k < branches.size(); ++k)
          if (r < branches[k].size()) put(k, r);
    } else {  // all prefixes, then one token a step
      for (size_t k = 0; k < branches.size(); ++k)
        for (size_t r = 0; r < prefix[k]; ++r) put(k, r);
      for (size_t step = 0; step < longest; ++step)
        for (size_t k = 0; k < branches.size(); ++k)
          if (prefix[k] + step < branches[k].size()) put(k, prefix[k] + step);
    }
    int start = s;
    for (size_t k = 0; re && k < branches.size(); ++k) {
      for (size_t r = 0; r < branches[k].size(); ++r)
        fed.push_back({branches[k][r], static_cast<int>(k) + 1, g, static_cast<int>(r),
                       t + static_cast<int>(r), true, start + static_cast<int>(r)});
      start += static_cast<int>(branches[k].size());
    }
    t += static_cast<int>(longest);
    ++g;
    serial = 0;
    stage_start = s + static_cast<int>(branches.size()) * scheme.N;
    main(kParaEnd);
  }
  for (const Token token : draw.letters(draw.from(1, 3))) say(token);
  stream.push_back(kEnd);
  out.request.oracle = Oracle{{stream}, {}};
  for (const AspdToken& i : fed) {
    out.rows.push_back({i.token, i.position, {}});
    for (size_t j = 0; j < fed.size(); ++j)
      if (attends(i, fed[j], shared, re)) out.rows.back().sees.push_back(static_cast<int>(j));
  }
  return out;
}

constexpr int kTogether = 50;  // answers decoded at the same time

}  // namespace

TEST_CASE("masks: hpd feeds what the paper's mask and Algorithm 2 say, N, J and K_max at random") {
  Model model = smallest().load(Dtype::fp32);
  Draw draw(1);
  int layouts = 0;
  for (const std::string isolated : {"none", "values", "products"})
    for (int round = 0; round < (isolated == "none" ? 24 : 12); ++round) {
      const int K_max = draw.from(1, 7);
      const auto decoder =
          make_decoder("hpd", {{"k_max", K_max}, {"stack", 3}, {"isolated", isolated}});
      std::vector<Layout> some;
      for (int i = 0; i < kTogether / 2; ++i, ++layouts)
        some.push_back(
            hpd_layout(str("r", i), K_max, draw.from(1, 3), draw.from(1, 4), isolated, draw));
      compare(model, *decoder, some);
    }
  CHECK(layouts >= 1000);
}

TEST_CASE("masks: ippd feeds what equations 2 to 9 say for padded batches, without pads") {
  Model model = smallest().load(Dtype::fp32);
  Draw draw(2);
  int layouts = 0, pads = 0;
  for (int round = 0; round < 320; ++round) {
    const auto decoder = make_decoder("ippd", {{"contexts", 3}, {"prefix_cache", round % 2 == 1}});
    std::vector<Request> requests;
    for (int b = draw.from(2, 5); b > 0; --b, ++layouts)
      requests.push_back(ippd_request(str("r", b), draw));
    compare(model, *decoder, padded_ippd(requests, pads));
  }
  CHECK(layouts >= 1000);
  CHECK(pads > 5000);
}

TEST_CASE("masks: space feeds the grid of equation 4 under the group mask of A.3, k = 1 to 6") {
  const TinyNetwork narrow = network_of(14);  // its positions end inside answers
  Model far_model = smallest().load(Dtype::fp32), near_model = narrow.load(Dtype::fp32);
  Draw draw(3);
  constexpr Token kMask = 393;
  int layouts = 0;
  std::map<int, int> whole_grids;
  for (int round = 0; round < 24; ++round) {
    const int k = 1 + round % 6;
    const auto decoder = make_decoder(
        "space", {{"ask", "separately"}, {"k", k}, {"mask_token", static_cast<int>(kMask)}});
    const TinyNetwork& network = round % 4 == 3 ? narrow : smallest();
    Model& model = round % 4 == 3 ? near_model : far_model;
    std::vector<Request> requests;
    for (int i = 0; i < kTogether; ++i, ++layouts) {
      requests.push_back(
          open_request(str("r", i), draw.letters(draw.from(1, 6)), draw.from(1, 14)));
      requests.back().job.seed = static_cast<std::uint64_t>(draw.from(1, 1 << 20));
      requests.back().acceptance = AcceptanceLaw{{draw.share()}};
    }
    const Ran ran = run(model, network.tokenizer(), *decoder, requests, kTogether, true);
    for (size_t i = 0; i < requests.size(); ++i) {
      INFO("k " << k << " request " << i);
      const Trace& trace = trace_of(ran, requests[i].job.id);
      REQUIRE(difference(trace, space_rows(trace, requests[i].pieces.prefix,
                                           flat(ran.of(i))[0].tokens, kMask)) == "");
      REQUIRE(replay(network.slow(), trace, 5e-4).wrong == std::vector<std::string>{});
      for (int first = 0; first < std::ssize(trace.tokens);) {
        const int end = end_of_step(trace, first);
        whole_grids[k] += first > 0 && end - first == (k + 1) * (k + 1);
        first = end;
      }
    }
  }
  CHECK(layouts >= 1000);
  for (int k = 1; k <= 6; ++k) CHECK(whole_grids[k] > 100);
}

TEST_CASE("masks: a token of apar sees its path to the root, in trees of depth 3") {
  Model model = smallest().load(Dtype::fp32);
  Draw draw(4);
  int layouts = 0, deep = 0;
  const auto decoder = make_decoder("apar", {{"ask", "separately"},
                                             {"fork_token", static_cast<int>(kFork)},
                                             {"child_token", static_cast<int>(kChild)},
                                             {"max_threads", 0},
                                             {"max_depth", 3}});
  for (int round = 0; round < 24; ++round) {
    std::vector<Layout> some;
    for (int i = 0; i < kTogether; ++i, ++layouts) {
      int deepest = 1;
      some.push_back(apar_layout(str("r", i), draw, deepest));
      deep += deepest == 3;
    }
    compare(model, *decoder, some);
  }
  CHECK(layouts >= 1000);
  CHECK(deep > 300);
}

TEST_CASE("masks: aspd feeds what equations 2 to 4 say, two rounds and more, in every scheme") {
  Model model = smallest().load(Dtype::fp32);
  Draw draw(5);
  for (const std::string name : {"same-seq", "same-max", "same-re", "fix"})
    for (const bool shared : {false, true}) {
      int layouts = 0;
      for (int round = 0; round < 5; ++round) {
        AspdScheme scheme{name, 0};
        if (name == "fix") {
          scheme.N = draw.from(1, 9);
          scheme.name = str("fix-", scheme.N);
        }
        const auto decoder = make_decoder("aspd", {{"ask", "separately"},
                                                   {"positions", scheme.name},
                                                   {"mask", shared ? "shared" : "independent"},
                                                   {"tokens", "1,2,3,393,394,395"}});
        std::vector<Layout> some;
        for (int i = 0; i < kTogether; ++i, ++layouts)
          some.push_back(aspd_layout(str("r", i), scheme, shared, draw.one_in(5) ? 3 : 2, draw));
        compare(model, *decoder, some);
      }
      CHECK(layouts >= 250);
    }
}

TEST_CASE("masks: a guess of lookahead ends its own text") {
  Model model = smallest().load(Dtype::fp32);
  Draw draw(6);
  int layouts = 0, branches = 0;
  for (int round = 0; round < 40; ++round) {
    const int W = draw.from(1, 5), N = draw.from(2, 5), G = draw.from(1, 4);
    const auto decoder = make_decoder(
        "lookahead", {{"ask", "separately"}, {"window", W}, {"ngram", N}, {"guesses", G}});
    std::vector<Request> requests;
    for (int i = 0; i < kTogether / 2; ++i, ++layouts) {
      Tokens prompt = draw.letters(draw.from(1, 3));  // periodic: n-grams to find
      for (int again = draw.from(0, 6); again > 0; --again)
        prompt.push_back(prompt[static_cast<size_t>(draw.from(0, 1)) % prompt.size()]);
      requests.push_back(open_request(str("r", i), prompt, draw.from(1, 14)));
      requests.back().job.seed = static_cast<std::uint64_t>(draw.from(1, 1 << 20));
      if (draw.one_in(2)) requests.back().acceptance = AcceptanceLaw{{draw.share()}};
    }
    const Ran ran = run(model, smallest().tokenizer(), *decoder, requests, kTogether, true);
    for (size_t i = 0; i < requests.size(); ++i) {
      INFO("W " << W << " N " << N << " G " << G << " request " << i);
      const Trace& trace = trace_of(ran, requests[i].job.id);
      const auto rows = lookahead_rows(trace, requests[i].pieces.prefix, flat(ran.of(i))[0].tokens,
                                       W, N, requests[i].job.limits.max_new_tokens, branches);
      REQUIRE(difference(trace, rows) == "");
      if (i % 5 == 0)
        REQUIRE(replay(smallest().slow(), trace, 5e-4).wrong == std::vector<std::string>{});
    }
  }
  CHECK(layouts >= 1000);
  CHECK(branches > 500);
}
