// `pardec serve`: answers over HTTP, as OpenAI's service does.
#include "src/serve/serve.hpp"

#include <iostream>
#include <memory>

#include "src/cli/command_line.hpp"
#include "src/cli/common_flags.hpp"
#include "src/cli/setting_flags.hpp"
#include "src/cli/signal_stop.hpp"
#include "src/cli/with_flags.hpp"
#include "src/settings/shared_settings.hpp"

namespace pardec {

namespace {

int serve_until_stopped(const serve::ServeSpec& spec) {
  const SignalStop stop;
  const bool all = serve::serve(spec, stop.token(), [](const std::string& line) {
    std::cerr << with_flags(line) << std::endl;
  });
  std::cerr << (all ? "stopped: all requests were answered\n"
                    : "stopped: requests that took longer were aborted\n");
  return all ? 0 : 3;
}

void add_flags(CLI::App& app, serve::ServeSpec& spec) {
  add_texts(app, "--decoder", spec.decoders,
            "decoders to offer ('pardec list decoders'); the first is the default of requests "
            "(default: ar)");
  app.add_option("--alias", spec.aliases,
                 "a further model id, e.g. deep=prompt-lookup,draft=20; repeatable")
      ->type_name("ID=NAME[,OPTION=VALUE...]");
  app.add_option(
         "--model-name", spec.name,
         "model id of the network; each decoder is NAME:DECODER (default: the name of the folder)")
      ->type_name("NAME");
  app.add_option("--listen", spec.listen, "address and port, e.g. [::1]:8000; port 0: any free one")
      ->capture_default_str()
      ->type_name("ADDRESS");
  app.add_option("--key-env", spec.key_env,
                 "environment variable with the key that clients must send (Authorization: Bearer)")
      ->type_name("NAME");
  app.add_option("--key-file", spec.key_file,
                 "file with keys; clients must send one of them; one key in each line")
      ->type_name("FILE");
  app.add_option("--tls-cert", spec.tls_certificate,
                 "certificate with its chain, in PEM form: connections are encrypted (https)")
      ->type_name("FILE");
  app.add_option("--tls-key", spec.tls_key, "private key of the certificate, in PEM form")
      ->type_name("FILE");
  app.add_option("--batch-size", spec.batch_size, "answers decoded at a time")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--queue", spec.queue,
                 "number of waiting answers; further requests are refused (503)")
      ->capture_default_str()
      ->type_name("N");
  app.add_option("--drain", spec.drain_seconds,
                 "seconds that running answers have to finish after SIGTERM or Ctrl-C")
      ->capture_default_str()
      ->type_name("S");
  add_flags(app, spec.model);
  // Requests say themselves how they are sampled.
  const std::set<std::string> theirs{"seed",  "temperature", "top_k",
                                     "top_p", "ignore_eos",  "prompt_file"};
  for (const Setting& setting : decode_settings(spec.decode))
    if (!theirs.contains(std::string(setting.name))) add_flag(app, setting);
}

}  // namespace

Verb serve_verb() {
  return {"serve", "serve decoders over HTTP (OpenAI-compatible)",
          "pardec serve --model experiments/quickstart/model --decoder ar,hpd",
          [](CLI::App& app) -> std::function<int()> {
            auto spec = std::make_shared<serve::ServeSpec>();
            spec->decoders = {kPlainDecoder};
            add_flags(app, *spec);
            return [spec] { return serve_until_stopped(*spec); };
          }};
}

}  // namespace pardec
