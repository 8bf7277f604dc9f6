#pragma once
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/tasks/decode_options.hpp"

namespace pardec::serve {

/// The settings of `serve`.
struct ServeSpec {
  ModelOptions model;
  DecodeOptions decode;
  /// names of decoders, at least one; the first decoder is the default
  std::vector<std::string> decoders;
  std::vector<std::string> aliases;  ///< further model ids, each as ID=DECODER,OPTION=VALUE...
  /// the first model id (served_models); empty: ORG/NAME if the network is in the Hub's cache,
  /// otherwise the name of the network's folder
  std::string name;
  std::string listen = "127.0.0.1:8000";  ///< IP address and port; port 0: any free port
  int batch_size = 64;                    ///< maximum number of answers decoded at a time
  int queue = 1024;  ///< maximum number of answers that wait until the batch has room
  /// name of an environment variable with a key that clients must send; empty: no variable
  std::string key_env;
  std::string key_file;  ///< path of a file with such keys, one on each line; empty: no file
  /// paths of PEM files (TlsFiles); both empty: connections are not encrypted
  std::string tls_certificate, tls_key;
  int drain_seconds = 30;  ///< time that running answers have after a stop request, in seconds
};

/// Checks the settings that can be checked without files: `listen`, `batch_size`, `queue` and
/// `drain_seconds`. ConfigError: one of these settings is invalid.
void check(const ServeSpec& spec);

/// Loads the network, and serves it until `stop` requests a stop. After that, new requests are
/// refused, and running requests have `drain_seconds` to end. Running requests that do not end in
/// this time are ended with an error (status 503). Returns whether all running requests ended in
/// time. `note`: called with each message for the user, as text; the last message before serving
/// has the address. ConfigError: a setting is invalid, or does not fit the network; or the server
/// cannot listen on the address. DataError: a file that a setting names, or the checkpoint's
/// generation_config.json, cannot be read. ModelError: the network cannot be loaded.
bool serve(const ServeSpec& spec, const std::stop_token& stop,
           const std::function<void(const std::string&)>& note);

}  // namespace pardec::serve
