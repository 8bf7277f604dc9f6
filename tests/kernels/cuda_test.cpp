// The GPU's kernels, run on the host thread by thread, against float64.
#include "tests/kernels/cuda_on_host.hpp"

#include "src/kernels/cuda/kernels.cu"

#include <algorithm>
#include <limits>

#include "src/kernels/bf16.hpp"
#include "src/model/visibility.hpp"
#include "src/support/rng.hpp"
#include "tests/support/catch.hpp"

using namespace pardec;

namespace {

constexpr double kBf16 = 0x1p-8;  // of rounding to nearest, relative: half of 2^-7
constexpr double kFloat = 0x1p-24;

std::uint16_t random_bf16(Rng& rng) { return narrow(static_cast<float>(rng.uniform() * 2 - 1)); }

/// Several sequences with keys in pieces, like a pass of the engine.
struct Pass {
  int heads, kv_heads, dim, window;
  float scale;
  std::vector<std::uint16_t> queries;
  std::vector<cuda::Sequence> sequences;
  std::vector<std::vector<std::uint16_t>> memory;  // keys, values of each piece
  std::vector<cuda::Piece> pieces;
  std::vector<std::int32_t> piece_ends;
  std::vector<cuda::KeyLabel> labels;
  std::vector<std::uint32_t> sees;
  std::vector<Segments> segments;  // of each sequence
  std::vector<cuda::Tile> tiles;
  std::vector<std::int32_t> row_sequences;
  int rows = 0;

  Pass(Rng& rng, int heads_, int kv_heads_, int dim_, int window_,
       const std::vector<std::pair<int, int>>& sizes)  // keys, queries
      : heads(heads_),
        kv_heads(kv_heads_),
        dim(dim_),
        window(window_),
        scale(2.0f / std::sqrt(static_cast<float>(dim_))) {
    for (const auto& [keys, count] : sizes) add(rng, keys, count);
    for (int i = 0; i < rows * heads * dim; ++i) queries.push_back(random_bf16(rng));
  }

  void add(Rng& rng, int keys, int count) {
    Segments& own = segments.emplace_back();
    const int segment_count = 1 + static_cast<int>(rng.below(70));
    for (int s = 1; s < segment_count; ++s) {
      std::vector<int> seen;
      for (int k = 0; k < s; ++k)
        if (rng.below(4) == 0) seen.push_back(k);
      own.add(seen);
    }
    cuda::Sequence s{rows,
                     count,
                     static_cast<int>(labels.size()),
                     keys,
                     static_cast<int>(pieces.size()),
                     0,
                     static_cast<int>(sees.size()),
                     (segment_count + 31) / 32};
    for (int q = 0; q < segment_count; ++q)
      for (int word = 0; word < s.segment_words; ++word) {
        std::uint32_t bits = 0;
        for (int k = word * 32; k < std::min(segment_count, word * 32 + 32); ++k)
          bits |= static_cast<std::uint32_t>(own.sees(q, k)) << k % 32;
        sees.push_back(bits);
      }
    for (int k = 0; k < keys; ++k) {
      const bool dead = k < keys - count && rng.below(5) == 0;
      labels.push_back(
          {static_cast<int>(rng.below(30)), static_cast<int>(rng.below(2)),
           dead ? -1 : static_cast<int>(rng.below(static_cast<std::uint64_t>(segment_count))),
           static_cast<int>(rng.below(60))});
    }
    // Up to two shared pieces of whole blocks, then the sequence's own.
    for (int begin = 0; begin < keys;) {
      const bool last = s.pieces == 2 || keys - begin <= 64;
      const int slots = last ? keys - begin : 32;
      const int held = (slots + 31) / 32 * 32 + 32 * static_cast<int>(rng.below(2));
      for (int i = 0; i < 2; ++i) {
        auto& numbers = memory.emplace_back();
        for (int j = 0; j < kv_heads * held * dim; ++j) numbers.push_back(random_bf16(rng));
      }
      begin += slots;
      pieces.push_back(
          {memory[memory.size() - 2].data(), memory.back().data(), std::int64_t{held} * dim});
      piece_ends.push_back(begin);
      ++s.pieces;
    }
    for (int row = 0; row < count * heads / kv_heads; row += 16)
      tiles.push_back({static_cast<int>(sequences.size()), row});
    row_sequences.insert(row_sequences.end(), static_cast<size_t>(count),
                         static_cast<int>(sequences.size()));
    sequences.push_back(s);
    rows += count;
  }

  /// Empty rows and tiles, as in a pass that is made larger than needed.
  void pad() {
    for (int i = 0; i < 3; ++i) tiles.push_back({-1, 0});
    for (int i = 0; i < 2; ++i, ++rows) {
      row_sequences.push_back(-1);
      for (int j = 0; j < heads * dim; ++j) queries.push_back(0x7FC0);
    }
  }

  std::vector<std::uint16_t> attend(int splits, bool backwards) const {
    std::vector<std::uint16_t> out(queries.size(), 0x7FC0);
    std::vector<float> partial(static_cast<size_t>(rows * heads * splits * (dim + 2)),
                               std::numeric_limits<float>::quiet_NaN());
    on_host::Order order{backwards};
    const char* error = cuda::attend(described(out, splits, partial), &order);
    REQUIRE(error == nullptr);
    return out;
  }

  cuda::Attention described(std::vector<std::uint16_t>& out, int splits,
                            std::vector<float>& partial) const {
    return {queries.data(),
            out.data(),
            sequences.data(),
            row_sequences.data(),
            pieces.data(),
            piece_ends.data(),
            labels.data(),
            sees.data(),
            tiles.data(),
            static_cast<int>(tiles.size()),
            rows,
            heads,
            kv_heads,
            dim,
            window,
            scale,
            splits,
            partial.data()};
  }

  bool visible_to(size_t sequence, int query, int key) const {
    const cuda::Sequence& s = sequences[sequence];
    const cuda::KeyLabel
        &q = labels[static_cast<size_t>(s.first_label + s.keys - s.queries + query)],
        &k = labels[static_cast<size_t>(s.first_label + key)];
    if (k.segment < 0 || (window > 0 && q.position - k.position >= window)) return false;
    return visible({q.position, q.order, q.segment, q.rank},
                   {k.position, k.order, k.segment, k.rank}, segments[sequence]);
  }

  const std::uint16_t* slot(std::uint16_t* cuda::Piece::*what, size_t sequence, int head,
                            int key) const {
    const cuda::Sequence& s = sequences[sequence];
    for (int p = s.first_piece, begin = 0;; begin = piece_ends[static_cast<size_t>(p)], ++p)
      if (key < piece_ends[static_cast<size_t>(p)]) {
        const cuda::Piece& piece = pieces[static_cast<size_t>(p)];
        return piece.*what + head * piece.head_stride + std::int64_t{key - begin} * dim;
      }
  }

  /// The worst error of a result, as a share of the permitted error.
  double worst(const std::vector<std::uint16_t>& out) const {
    double worst = 0;
    for (size_t i = 0; i < sequences.size(); ++i)
      for (int query = 0; query < sequences[i].queries; ++query)
        for (int head = 0; head < heads; ++head) {
          const auto place =
              static_cast<size_t>(((sequences[i].first_query + query) * heads + head) * dim);
          std::vector<double> score;
          std::vector<int> seen;
          double largest = -1e30, score_error = 0;
          for (int key = 0; key < sequences[i].keys; ++key) {
            if (!visible_to(i, query, key)) continue;
            const std::uint16_t* k = slot(&cuda::Piece::keys, i, head * kv_heads / heads, key);
            double sum = 0, sizes = 0;
            for (int j = 0; j < dim; ++j) {
              const double product =
                  double{widen(queries[place + static_cast<size_t>(j)])} * widen(k[j]);
              sum += product, sizes += std::abs(product);
            }
            seen.push_back(key);
            score.push_back(scale * sum);
            largest = std::max(largest, scale * sum);
            // The sum; the product with the scale; the difference to the largest.
            score_error = std::max(score_error, (dim + 4) * kFloat * scale * sizes);
          }
          double total = 0;
          for (const double s : score) total += std::exp(s - largest);
          // A weight is rounded to bf16; added to that are both scores, and some roundings of
          // exponentials.
          const double weight_error = kBf16 + 2 * score_error + 40 * kFloat;
          for (int j = 0; j < dim; ++j) {
            double mixed = 0, sizes = 0;
            for (size_t n = 0; n < seen.size(); ++n) {
              const double part =
                  std::exp(score[n] - largest) / total *
                  widen(slot(&cuda::Piece::values, i, head * kv_heads / heads, seen[n])[j]);
              mixed += part, sizes += std::abs(part);
            }
            const double wide =
                sizes * (weight_error + static_cast<double>(3 * seen.size()) * kFloat);
            const double allowed = wide + kBf16 * (std::abs(mixed) + wide) + 0x1p-126;
            const double got = widen(out[place + static_cast<size_t>(j)]);
            worst = std::max(worst, std::isnan(got) ? 1e9 : std::abs(got - mixed) / allowed);
          }
        }
    return worst;
  }
};

}  // namespace

TEST_CASE(
    "cuda: attention is softmax of the scores of the keys that the rule makes visible, times the "
    "values") {
  Rng rng(1);
  const std::vector<std::pair<int, int>> sizes = {{1, 1}, {33, 1}, {150, 9}, {40, 20}};
  for (const int dim : {16, 64, 144})
    for (const auto& [heads, kv_heads] : {std::pair{2, 2}, {6, 2}, {20, 1}})
      for (const int window : {0, 20}) {
        const Pass pass(rng, heads, kv_heads, dim, window, sizes);
        const auto once = pass.attend(1, false);
        INFO(dim << " " << heads << "/" << kv_heads << " window " << window);
        CHECK(pass.worst(once) <= 1);
        CHECK(once ==
              pass.attend(1, true));  // no thread waits for another one without a synchronisation
        for (const int splits : {3}) {
          const auto split = pass.attend(splits, false);
          CHECK(pass.worst(split) <= 1);
          CHECK(split == pass.attend(splits, true));
        }
      }
}

TEST_CASE("cuda: padding changes nothing, and is not written") {
  Rng rng(3);
  Pass pass(rng, 6, 2, 16, 0, {{33, 1}, {150, 9}});
  for (const int splits : {1, 3}) {
    Pass padded = pass;  // its pieces are those of `pass`
    padded.pad();
    auto want = pass.attend(splits, false), got = padded.attend(splits, false);
    CHECK(got.size() > want.size());
    want.resize(got.size(), 0x7FC0);
    CHECK(got == want);
  }
}

TEST_CASE("cuda: new rows are stored where attention reads them, and nowhere else") {
  Rng rng(5);
  for (const bool backwards : {false, true}) {
    Pass pass(rng, 6, 2, 80, 0, {{1, 1}, {33, 1}, {150, 9}, {40, 20}});
    const int rows = pass.rows;
    pass.pad();
    std::vector<std::uint16_t> keys, values, out;
    for (int i = 0; i < pass.rows * 2 * 80; ++i)
      keys.push_back(random_bf16(rng)), values.push_back(random_bf16(rng));
    auto want = pass.memory;
    for (int row = 0; row < rows; ++row) {
      const auto sequence = static_cast<size_t>(pass.row_sequences[static_cast<size_t>(row)]);
      const cuda::Sequence& s = pass.sequences[sequence];
      for (int head = 0; head < 2; ++head)
        for (const auto& [from, what, part] : {std::tuple(&keys, &cuda::Piece::keys, 0),
                                               std::tuple(&values, &cuda::Piece::values, 1)}) {
          auto& memory = want[2 * static_cast<size_t>(s.first_piece + s.pieces - 1) + part];
          const std::uint16_t* to =
              pass.slot(what, sequence, head, s.keys - s.queries + row - s.first_query);
          std::copy_n(
              from->data() + (row * 2 + head) * 80, 80,
              memory.data() +
                  (to - pass.pieces[static_cast<size_t>(s.first_piece + s.pieces - 1)].*what));
        }
    }
    std::vector<float> partial;
    on_host::Order order{backwards};
    REQUIRE(cuda::store(pass.described(out, 1, partial), keys.data(), values.data(), &order) ==
            nullptr);
    CHECK(pass.memory == want);
  }
}

TEST_CASE("cuda: the best ids of a row, the lower one of equals first") {
  Rng rng(2);
  for (const int vocab : {2, 31, 300, 1000})
    for (const int count : {1, 2, 7}) {
      if (count > vocab) continue;
      const int rows = 3;
      std::vector<float> logits;
      for (int i = 0; i < rows * vocab; ++i)
        logits.push_back(static_cast<float>(rng.below(20)));  // many equal ones
      logits[1] = -INFINITY;
      std::vector<std::int32_t> ids(static_cast<size_t>(rows * count));
      std::vector<float> values(ids.size());
      for (const bool backwards : {false, true}) {
        on_host::Order order{backwards};
        REQUIRE(cuda::best_ids(logits.data(), rows, vocab, count, ids.data(), values.data(),
                               &order) == nullptr);
        for (int row = 0; row < rows; ++row) {
          std::vector<int> all(static_cast<size_t>(vocab));
          for (int id = 0; id < vocab; ++id) all[static_cast<size_t>(id)] = id;
          const float* from = logits.data() + row * vocab;
          std::stable_sort(all.begin(), all.end(), [&](int a, int b) { return from[a] > from[b]; });
          for (int i = 0; i < count; ++i) {
            CHECK(ids[static_cast<size_t>(row * count + i)] == all[static_cast<size_t>(i)]);
            CHECK(values[static_cast<size_t>(row * count + i)] ==
                  from[all[static_cast<size_t>(i)]]);
          }
        }
      }
    }
}

TEST_CASE("cuda: in a row with NaN, the best value is NaN") {
  for (const int at : {0, 1, 31, 299})
    for (const bool backwards : {false, true}) {
      std::vector<float> logits(300, 1.0f);
      logits[7] = INFINITY;
      logits[static_cast<size_t>(at)] = NAN;
      std::int32_t ids[2];
      float values[2];
      on_host::Order order{backwards};
      REQUIRE(cuda::best_ids(logits.data(), 1, 300, 2, ids, values, &order) == nullptr);
      CHECK(ids[0] == at);
      CHECK(std::isnan(values[0]));
      CHECK(ids[1] == 7);
      CHECK(values[1] == INFINITY);
    }
}
