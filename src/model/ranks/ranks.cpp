#include "src/model/ranks/ranks.hpp"

#include <exception>

#include "src/group/group.hpp"
#include "src/model/network.hpp"
#include "src/model/ranks/messages.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

// Longer than a pass, and than reading the weights. A process that ended is noticed by the
// launcher.
constexpr double kPatienceSeconds = 1800;

std::vector<std::uint8_t> as_bytes(const std::vector<bool>& flags) {
  return {flags.begin(), flags.end()};
}

void put(ByteWriter& to, Said what, int number) {
  to.put(what);
  to.put(number);
}

}  // namespace

std::unique_ptr<Ranks> Ranks::join() {
  auto group = Group::join(kPatienceSeconds);
  return group ? std::unique_ptr<Ranks>(new Ranks(std::move(group))) : nullptr;
}

Ranks::Ranks(std::unique_ptr<Group> group) : group_(std::move(group)) {}

Ranks::~Ranks() {
  if (in_pass_) {
    // The other processes are somewhere in a pass and would not answer MPI_Finalize.
    static_cast<void>(group_.release());
    return;
  }
  if (!leads() || std::uncaught_exceptions() > 0) return;
  try {
    unsaid_.put(Said::end);
    group_->tell(unsaid_.take());
  } catch (const std::exception&) {  // the launcher ends the other ranks
  }
}

bool Ranks::leads() const { return group_->rank() == 0; }
int Ranks::size() const { return group_->size(); }

void Ranks::begin() {
  if (in_pass_)
    throw RunError(
        "an earlier pass failed in one of the processes that compute the network together; start "
        "again");
  in_pass_ = true;
}

std::shared_ptr<const RankCopy> Ranks::next_copy() {
  return std::make_shared<const RankCopy>(*this, next_++);
}

void Ranks::forget(int number) {
  if (!leads()) return;
  put(unsaid_, Said::forget, number);
  segments_.erase(number);
}

std::shared_ptr<const RankCopy> Ranks::begin_load(const std::filesystem::path& folder,
                                                  const Model::Options& options) {
  if (!leads()) return nullptr;
  begin();
  auto copy = next_copy();
  put(unsaid_, Said::load, copy->number);
  unsaid_.put_text(folder.string());
  unsaid_.put(options.dtype);
  unsaid_.put_text(options.device);
  unsaid_.put(options.instruction_set.has_value());
  unsaid_.put(options.instruction_set.value_or(InstructionSet{}));
  unsaid_.put_text(options.adapter.string());
  unsaid_.put(options.layers);
  group_->tell(unsaid_.take());
  return copy;
}

void Ranks::end_load(const std::string& error) {
  const std::vector<std::string> errors = group_->gather(error);
  end_pass();
  if (!error.empty()) return;
  for (size_t rank = 1; rank < errors.size(); ++rank)
    if (!errors[rank].empty())
      throw RunError(str("the process of rank ", rank, " (of ", group_->size(),
                         ") could not load the network: ", errors[rank]));
}

std::shared_ptr<const RankCopy> Ranks::open_cache(const RankCopy& model) {
  auto copy = next_copy();
  put(unsaid_, Said::open_cache, copy->number);
  unsaid_.put(model.number);
  segments_[copy->number] = 1;
  return copy;
}

std::shared_ptr<const RankCopy> Ranks::fork_cache(const RankCopy& cache, bool shares) {
  auto copy = next_copy();
  put(unsaid_, Said::fork_cache, copy->number);
  unsaid_.put(cache.number);
  unsaid_.put(shares);
  segments_[copy->number] = segments_[cache.number];
  return copy;
}

void Ranks::drop(const RankCopy& cache, std::span<const int> rows) {
  put(unsaid_, Said::drop, cache.number);
  unsaid_.put_all(rows);
}

void Ranks::retract(const RankCopy& cache, int first) {
  put(unsaid_, Said::retract, cache.number);
  unsaid_.put(first);
}

void Ranks::relabel(const RankCopy& cache, int row, const RowLabel& label) {
  put(unsaid_, Said::relabel, cache.number);
  unsaid_.put(row);
  unsaid_.put(label);
}

void Ranks::evict(const RankCopy& cache) { put(unsaid_, Said::evict, cache.number); }

void Ranks::begin_pass(const RankCopy& model, std::span<const SequenceStep> steps,
                       const SkippedSublayers& skipped) {
  begin();
  put(unsaid_, Said::pass, model.number);
  unsaid_.put_all(as_bytes(skipped.attention));
  unsaid_.put_all(as_bytes(skipped.mlp));
  unsaid_.put(static_cast<int>(steps.size()));
  for (const SequenceStep& step : steps) {
    const int cache = step.cache->storage().remote->number;
    unsaid_.put(cache);
    int& known = segments_[cache];
    unsaid_.put(step.segments->count() - known);
    for (; known < step.segments->count(); ++known) unsaid_.put_all(step.segments->seen_by(known));
    unsaid_.put_all(step.tokens);
    unsaid_.put_all(step.labels);
    unsaid_.put(static_cast<int>(step.outputs.size()));
    for (const OutputRequest& output : step.outputs) put_request(unsaid_, output);
  }
  group_->tell(unsaid_.take());
}

void Ranks::begin_heads(const RankCopy& model, const at::Tensor& rows,
                        const std::vector<int>& heads,
                        std::span<const OutputRequest* const> requests) {
  begin();
  put(unsaid_, Said::heads, model.number);
  const at::Tensor numbers = rows.contiguous();
  unsaid_.put_all(heads);
  unsaid_.put(numbers.scalar_type());
  unsaid_.put(numbers.size(1));
  unsaid_.put_all(std::span(static_cast<const char*>(numbers.const_data_ptr()), numbers.nbytes()));
  for (const OutputRequest* request : requests) put_request(unsaid_, *request);
  group_->tell(unsaid_.take());
}

}  // namespace pardec
