// Skeleton-of-Thought (SoT): prompting only, without a special mask or training.
//
// Idea: the network is first asked for a skeleton of its answer, a few numbered points. Then each
// point is expanded by a separate request, all of them in parallel, and the answer is the points in
// order. A question whose skeleton has fewer than two points is answered as by ar.
//
//   skeleton:  "1. Water them."  "2. Give light."        one stream
//   points:    "1. Water them." + "Twice a week, ..."    in parallel
//              "2. Give light." + "A window to ..."
//
// Source: Ning et al., "Skeleton-of-Thought: Prompting LLMs for Efficient Parallel Generation",
// arXiv:2307.15337. It is a baseline of ASPD, whose authors criticise that the requests of the
// points repeat the prefill; `shared_prefix` computes their common beginning once.
//
// Under an oracle, the skeletons are forced, one stream per question; the points remain the
// network's own.
//
// Differences from the paper: the wording is this project's; the paper's router, which asks a
// network whether a question suits the method, is left out.
#include "decoders/skeleton_of_thought/skeleton_of_thought.hpp"

#include <algorithm>
#include <cctype>
#include <stdexcept>

#include "decoders/ar/ar.hpp"
#include "src/prompt/prompt_file.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

constexpr size_t kFewestPoints = 2, kMostPoints = 10;

}  // namespace

std::vector<SkeletonPoint> parse_skeleton(std::string_view skeleton) {
  std::vector<SkeletonPoint> points;
  for (const std::string& line : split(std::string(skeleton), '\n')) {
    const std::string_view text = strip(line);
    size_t digits = 0;
    while (digits < text.size() && std::isdigit(static_cast<unsigned char>(text[digits]))) ++digits;
    if (digits == 0 || digits == text.size() || text[digits] != '.') continue;
    const std::string_view point = strip(text.substr(digits + 1));
    if (point.empty()) continue;
    points.push_back({std::string(text.substr(0, digits)), std::string(point)});
    if (points.size() == kMostPoints) break;
  }
  return points;
}

namespace {

class SkeletonOfThought final : public Decoder {
 public:
  explicit SkeletonOfThought(const Options& options)
      : Decoder(options), options_{.shared_prefix = options.flag("shared_prefix")} {}

  Form form() const override { return Form::free; }
  std::string_view wording() const override { return name(); }
  Task<Answers> decode(const Request& request, const DecoderContext& context) const override;

 private:
  SkeletonOptions options_;
};

/// The data needed by the requests of one question.
struct Question {
  const Request& request;
  const DecoderContext& context;
  StreamRequest plain;  ///< as asked by ar; under an oracle, with the ids of its skeleton
  std::string text;
};

/// The ids of a prompt that asks `asked`, up to the point where the answer continues after `begun`.
Tokens encode(const Question& question, const std::string& asked, const std::string& begun) {
  const Pieces& pieces = question.request.pieces;
  Tokens ids = pieces.said;
  const Tokens turn = question.context.tokenizer->encode_piece(pieces.turn_opening + asked + begun,
                                                               ids.empty(), pieces.adds_special);
  ids.insert(ids.end(), turn.begin(), turn.end());
  return ids;
}

/// One request of a question: `prompt` after the rows in `sequence`. `name` distinguishes it from
/// the others.
Task<Stream> ask(Sequence sequence, const Question& question, const std::string& name,
                 Tokens prompt, std::optional<Tokens> forced = std::nullopt) {
  StreamRequest request = question.plain;
  request.name = question.plain.name.text + "/" + name;
  check_prompt(request.name, static_cast<size_t>(sequence.rows_fed()) + prompt.size(),
               question.context.engine.model().config());
  request.prompt = std::move(prompt);
  request.seed = derive_seed(request.seed, name);
  request.oracle = std::move(forced);
  return continue_prompt(std::move(sequence), std::move(request), question.context);
}

Sequence open(const Question& question, const std::string& name) {
  return question.context.engine.open(question.plain.name.text + "/" + name, "skeleton-of-thought");
}

Task<Stream> write_points(const Question& question, std::vector<SkeletonPoint> points,
                          std::string skeleton, bool shared_prefix);

/// The skeleton, then the points; or the plain answer if there are too few points. The stream is
/// the answer; its passes and counters are those of all requests.
Task<Stream> answer_question(Question question, bool shared_prefix) {
  // 1. The skeleton; the answer's first number is already given.
  const PromptFile& wording = *question.request.wording;
  const std::string request = fill(wording.skeleton, {{"question", question.text}}, wording.name);
  Tokens prompt = encode(question, request, question.request.pieces.turn_closing + "1.");
  Stream plan = co_await ask(open(question, "skeleton"), question, "skeleton", std::move(prompt),
                             question.plain.oracle);
  plan.counters.text = plan.counters.text_attended = 0;
  const std::string skeleton = "1." + repair_utf8(plan.bytes);
  if (plan.stop == Stop::interrupted) {
    plan.bytes = skeleton;
    co_return plan;
  }

  // 2. The points, in parallel.
  Stream answer;
  if (std::vector<SkeletonPoint> points = parse_skeleton(skeleton); points.size() >= kFewestPoints)
    answer = co_await write_points(question, std::move(points), skeleton, shared_prefix);
  else
    answer = co_await ask(open(question, "plain"), question, "plain", question.plain.prompt);
  answer.passes.insert(answer.passes.begin(), plan.passes.begin(), plan.passes.end());
  plan.counters.add_after(answer.counters);
  answer.counters = std::move(plan.counters);
  co_return answer;
}

/// One request per point, after a fork of `prefix`. `prefix` contains the first `fed` ids of all
/// prompts, and is then freed.
std::vector<Task<Stream>> point_requests(const Question& question, std::vector<Tokens> prompts,
                                         size_t fed, Sequence prefix) {
  std::vector<Task<Stream>> tasks;
  for (Tokens& prompt : prompts) {
    prompt.erase(prompt.begin(), prompt.begin() + static_cast<std::ptrdiff_t>(fed));
    const std::string name = str("point-", tasks.size() + 1), group = question.plain.name.text;
    tasks.push_back(
        ask(prefix.fork({group + "/" + name, group}), question, name, std::move(prompt)));
  }
  return tasks;
}

Task<Stream> write_points(const Question& question, std::vector<SkeletonPoint> points,
                          std::string skeleton, bool shared_prefix) {
  const PromptFile& wording = *question.request.wording;
  const std::string asked =
      fill(wording.points, {{"question", question.text}, {"skeleton", skeleton}}, wording.name) +
      "\n\n";
  std::vector<Tokens> prompts;
  for (const SkeletonPoint& point : points)
    prompts.push_back(
        encode(question, asked + fill(wording.point, {{"number", point.number}}, wording.name),
               str(question.request.pieces.turn_closing, point.number, ". ", point.text)));
  Stream answer;
  Sequence prefix = open(question, "points");
  size_t shared = 0;
  if (shared_prefix) {
    Tokens ids = encode(question, asked, "");
    for (const Tokens& prompt : prompts) ids.resize(common(ids, prompt));
    shared = ids.size();
    check_prompt(question.plain.name, shared, question.context.engine.model().config());
    co_await prefix.forward(prompt_step(ids, 0));
    answer.counters = prefix.counters();
    answer.passes.push_back(0);
  }
  std::vector<Task<Stream>> tasks =
      point_requests(question, std::move(prompts), shared, std::move(prefix));

  // The answer: each point with its expansion, in order.
  const size_t before = answer.passes.size();
  size_t point = 0;
  const std::vector<Stream> streams = co_await all(std::move(tasks));
  Counters points_cost;
  for (const Stream& stream : streams) {
    answer.bytes += str(point ? "\n" : "", points[point].number, ". ", points[point].text,
                        repair_utf8(stream.bytes));
    answer.passes.resize(std::max(answer.passes.size(), before + stream.passes.size()));
    for (size_t t = 0; t < stream.passes.size(); ++t) answer.passes[before + t] += stream.passes[t];
    answer.append(stream);
    answer.stop = stream.stop;
    points_cost.add_beside(stream.counters);
    ++point;
  }
  answer.counters.add_after(points_cost);
  co_return answer;
}

/// Instruction, context and question as one text.
std::string question_text(const Job& job, size_t c, size_t f) {
  const Context& context = job.contexts[c];
  const Field& field = context.fields[f];
  std::vector<std::string> parts;
  for (const std::string& part :
       {job.instruction, context.text,
        (field.question.empty() ? field.name : field.question) + lettered(field.choices)})
    if (!part.empty()) parts.push_back(part);
  return join(parts, "\n\n");
}

Task<Answers> SkeletonOfThought::decode(const Request& request,
                                        const DecoderContext& context) const {
  if (!context.tokenizer)
    throw ConfigError(
        "skeleton-of-thought needs a tokenizer: it reads its skeleton; expected text, not token "
        "ids");
  if (!request.wording) throw std::logic_error("skeleton-of-thought was given no wording");
  std::vector<StreamRequest> plain = field_requests(request);
  for (StreamRequest& one : plain) one.rule.reader = {};  // the answer is not generated in order
  std::vector<Task<Stream>> tasks;
  for (size_t c = 0; c < request.pieces.fields.size(); ++c)
    for (size_t f = 0; f < request.pieces.fields[c].size(); ++f)
      tasks.push_back(answer_question(Question{request, context, std::move(plain[tasks.size()]),
                                               question_text(request.job, c, f)},
                                      options_.shared_prefix));
  std::vector<Stream> streams = co_await all(std::move(tasks));
  // The questions share their forward passes, like the points of one question.
  Counters cost = shared_cost(streams);
  co_return field_answers(request, std::move(streams), std::move(cost));
}

}  // namespace

DecoderEntry skeleton_of_thought_entry() {
  return {.name = "skeleton-of-thought",
          .source = "Ning et al., Skeleton-of-Thought, arXiv:2307.15337",
          .options = {Option::flag("shared_prefix", SkeletonOptions{}.shared_prefix,
                                   "question and skeleton are computed once for all points")},
          .make = make_as<SkeletonOfThought>};
}

}  // namespace pardec
