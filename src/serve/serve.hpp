#pragma once
#include <functional>
#include <stop_token>
#include <string>
#include <vector>

#include "src/checkpoint/checkpoint.hpp"
#include "src/tasks/decode_options.hpp"

namespace pardec::serve {

/// What `serve` serves, and where.
struct ServeSpec {
  ModelOptions model;
  DecodeOptions decode;
  std::vector<std::string> decoders;  ///< the first one is the default
  std::vector<std::string> aliases;   ///< ID=DECODER,OPTION=VALUE...
  std::string name;                   ///< of the model; empty: the name of its folder
  std::string listen = "127.0.0.1:8000";
  int batch_size = 64;   ///< most answers decoded at a time
  int queue = 1024;      ///< most answers that wait for that
  std::string key_env;   ///< environment variable with the key that clients send; empty: none
  std::string key_file;  ///< file with keys, one in each line; empty: none
  std::string tls_certificate, tls_key;  ///< files in PEM form; empty: connections are unencrypted
  int drain_seconds = 30;                ///< time for running answers once a stop is requested
};

/// Checks what can be checked without weights. ConfigError.
void check(const ServeSpec& spec);

/// Loads the network and serves it until a stop is requested: then new requests are refused, and
/// running ones have `drain_seconds` to end. Returns whether all ended. `note` receives messages,
/// the last one before serving with the address. ConfigError, ModelError.
bool serve(const ServeSpec& spec, const std::stop_token& stop,
           const std::function<void(const std::string&)>& note);

}  // namespace pardec::serve
