// Loads a checkpoint, asks HPD and AR for one Job, and prints both answers.
// Usage: decode_job MODEL JOB.json
#include <exception>
#include <iostream>

#include "decoders/decoder.hpp"
#include "src/tasks/conversation.hpp"
#include "src/tasks/given_requests.hpp"
#include "src/tasks/session.hpp"

using namespace pardec;

namespace {

Task<void> answer(const Decoder& decoder, const Request& request, const DecoderContext& context,
                  Answers& answers) {
  answers = co_await decode_request(decoder, request, context);
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 3) {
    std::cerr << "usage: decode_job MODEL JOB.json\n";
    return 2;
  }
  ModelOptions model;
  model.model = argv[1];
  const DecodeOptions options;
  Checkpoints loaded;
  Session session(model, options, {}, loaded);
  for (const char* name : {"hpd", "ar"}) {
    const auto decoder = make_decoder(name, Json::object());
    const GivenRequests given =
        job_requests(read_jobs(argv[2], options), /*open=*/false, *decoder, options, session);
    Answers answers;
    session.engine.run(
        1, 1, [&](int) { return answer(*decoder, given.requests[0], session.context, answers); },
        [](const Ended& end) { end.rethrow(); });
    std::cout << name << ", " << answers.counters.forwards << " passes:\n" << answers.text << "\n";
  }
} catch (const std::exception& error) {
  std::cerr << "decode_job: " << error.what() << "\n";
  return 1;
}
