// The ranks above 0 of a network that several processes compute.
#include <c10/core/GradMode.h>

#include <cstring>
#include <map>

#include "src/group/group.hpp"
#include "src/model/network.hpp"
#include "src/model/ranks/messages.hpp"
#include "src/model/ranks/ranks.hpp"
#include "src/support/error.hpp"

namespace pardec {

namespace {

/// The models and caches of rank 0, by their numbers: this rank's part of them.
class Follower {
 public:
  explicit Follower(Ranks& ranks) : ranks_(ranks) {}

  /// Does what one message says. False: it was the last one.
  bool obey(ByteReader& message) {
    const auto what = message.get<Said>();
    if (what == Said::end) return false;
    const int number = message.get<int>();
    switch (what) {
      case Said::load:
        load(message, number);
        break;
      case Said::open_cache:
        caches_.emplace(number, Followed{KvCache(models_.at(message.get<int>())), Segments()});
        break;
      case Said::fork_cache: {
        Followed& from = caches_.at(message.get<int>());
        KvCache copy = message.get<bool>() ? from.cache.share() : from.cache.fork();
        caches_.emplace(number, Followed{std::move(copy), from.segments});
        break;
      }
      case Said::drop:
        cache(number).drop(message.get_all<int>());
        break;
      case Said::retract:
        cache(number).retract(message.get<int>());
        break;
      case Said::relabel: {
        const int row = message.get<int>();
        cache(number).relabel(row, message.get<RowLabel>());
        break;
      }
      case Said::evict:
        cache(number).evict();
        break;
      case Said::forget:
        models_.erase(number);
        caches_.erase(number);
        break;
      case Said::pass:
        pass(message, models_.at(number));
        break;
      case Said::heads:
        heads(message, models_.at(number));
        break;
      case Said::end:
        break;
    }
    return true;
  }

 private:
  struct Followed {
    KvCache cache;
    Segments segments;
  };

  KvCache& cache(int number) { return caches_.at(number).cache; }

  void load(ByteReader& message, int number) {
    const std::string folder = message.get_text();
    Model::Options options;
    options.dtype = message.get<Dtype>();
    options.device = message.get_text();
    const bool set = message.get<bool>();
    const auto instructions = message.get<InstructionSet>();
    if (set) options.instruction_set = instructions;
    options.adapter = message.get_text();
    options.layers = message.get<int>();
    options.ranks = &ranks_;
    try {
      models_.emplace(number, Model::load(folder, options));
    } catch (const std::exception&) {  // Model::load has told rank 0, which decides
    }
  }

  void pass(ByteReader& message, Model& model) {
    SkippedSublayers skipped;
    for (std::vector<bool>* flags : {&skipped.attention, &skipped.mlp}) {
      const auto bytes = message.get_all<std::uint8_t>();
      flags->assign(bytes.begin(), bytes.end());
    }
    struct Read {
      Followed* of;
      std::vector<Token> tokens;
      std::vector<RowLabel> labels;
      std::vector<OutputRequest> outputs;
    };
    std::vector<Read> read(static_cast<size_t>(message.get<int>()));
    for (Read& step : read) {
      step.of = &caches_.at(message.get<int>());
      for (int more = message.get<int>(); more > 0; --more)
        add_segment(message.get_all<std::uint64_t>(), step.of->segments);
      step.tokens = message.get_all<Token>();
      step.labels = message.get_all<RowLabel>();
      step.outputs.resize(static_cast<size_t>(message.get<int>()));
      for (OutputRequest& output : step.outputs) output = get_request(message);
    }
    std::vector<SequenceStep> steps;
    for (const Read& step : read)
      steps.push_back(
          {&step.of->cache, &step.of->segments, step.tokens, step.labels, step.outputs});
    model.forward(steps, skipped);
  }

  static void add_segment(const std::vector<std::uint64_t>& words, Segments& segments) {
    std::vector<int> sees;
    for (int segment = 0; segment < segments.count(); ++segment)
      if (const size_t word = static_cast<size_t>(segment) / 64;
          word < words.size() && (words[word] >> (segment % 64) & 1) != 0)
        sees.push_back(segment);
    segments.add(sees);
  }

  static void heads(ByteReader& message, const Model& model) {
    const auto of_rows = message.get_all<int>();
    const auto type = message.get<at::ScalarType>();
    const auto hidden = message.get<std::int64_t>();
    const auto bytes = message.get_all<char>();
    const at::Tensor rows = at::empty({std::ssize(of_rows), hidden}, type);
    if (rows.nbytes() != bytes.size()) throw std::logic_error("rows of another size");
    std::memcpy(rows.mutable_data_ptr(), bytes.data(), bytes.size());
    std::vector<OutputRequest> requests;
    for (size_t i = 0; i < of_rows.size(); ++i) requests.push_back(get_request(message));
    std::vector<const OutputRequest*> asked;
    for (const OutputRequest& request : requests) asked.push_back(&request);
    reduce_rows(model.network(), rows, of_rows, asked);
  }

  Ranks& ranks_;
  std::map<int, Model> models_;
  std::map<int, Followed> caches_;
};

}  // namespace

void follow(Ranks& ranks) {
  const c10::NoGradGuard no_grad;
  Follower follower(ranks);
  for (;;) {
    ByteReader message(ranks.group().hear());
    while (!message.done())
      if (!follower.obey(message)) return;
  }
}

}  // namespace pardec
