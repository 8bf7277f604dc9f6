#include "decoders/ar/shared_prefix.hpp"

#include <iterator>
#include <utility>

#include "decoders/ar/ar.hpp"
#include "src/engine/prefix_cache.hpp"

namespace pardec {

namespace {

/// Continues each field after a fork of `prefix`, which is then freed so that it holds no unused
/// rows.
std::vector<Task<Stream>> continue_behind(Sequence prefix, std::vector<StreamRequest> fields,
                                          std::int64_t asked, const DecoderContext& context) {
  std::vector<Task<Stream>> tasks;
  for (StreamRequest& field : fields) {
    Sequence sequence = prefix.fork(field.name);
    sequence.start_clock_at(asked);
    field.prompt.erase(field.prompt.begin(), field.prompt.begin() + prefix.rows_fed());
    tasks.push_back(continue_prompt(std::move(sequence), std::move(field), context));
  }
  return tasks;
}

/// Decodes the fields of one context in parallel, each after a fork of `prefix` and of the
/// following `shared` tokens, which are computed once. `waited`: number of earlier forward passes
/// of this job.
Task<std::vector<Stream>> decode_behind(Sequence prefix, Tokens shared,
                                        std::vector<StreamRequest> fields, std::int64_t asked,
                                        std::int64_t waited, const DecoderContext& context) {
  Counters cost;
  if (!shared.empty()) {
    co_await prefix.forward(prompt_step(shared, prefix.rows_fed()));
    cost = prefix.counters();
    ++waited;
  }
  std::vector<Task<Stream>> tasks =
      continue_behind(std::move(prefix), std::move(fields), asked, context);
  std::vector<Stream> streams = co_await all(std::move(tasks));
  for (Stream& stream : streams)
    stream.passes.insert(stream.passes.begin(), static_cast<size_t>(waited), 0);
  if (!streams.empty()) streams.front().counters.add_beside(cost);
  co_return streams;
}

}  // namespace

Task<Answers> decode_after_prefix(const Request& request, bool with_context,
                                  const DecoderContext& context) {
  std::vector<StreamRequest> fields = field_requests(request);
  for (const StreamRequest& field : fields)
    check_prompt(field.name, field.prompt.size(), context.engine.model().config());
  const std::int64_t asked = context.engine.clock().now_ns();
  std::vector<Task<std::vector<Stream>>> tasks;
  Counters prefix_cost;
  {
    Prefixed prefix =
        co_await context.engine.prefixes().begin(request.pieces.prefix, request.job.id, "ar");
    prefix_cost = prefix.cost;
    auto next = std::make_move_iterator(fields.begin());
    for (size_t c = 0; c < request.pieces.fields.size(); ++c) {
      const auto end = next + std::ssize(request.pieces.fields[c]);
      tasks.push_back(decode_behind(prefix.sequence.fork(request.job.id),
                                    with_context ? request.pieces.contexts[c] : Tokens{},
                                    {next, end}, asked, prefix_cost.forwards, context));
      next = end;
    }
  }  // the contexts have their forks
  std::vector<std::vector<Stream>> contexts = co_await all(std::move(tasks));
  std::vector<Stream> streams;
  for (auto& of_context : contexts)
    std::move(of_context.begin(), of_context.end(), std::back_inserter(streams));
  if (!streams.empty()) streams.front().counters.add_beside(prefix_cost);
  Counters cost = shared_cost(streams);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

}  // namespace pardec
