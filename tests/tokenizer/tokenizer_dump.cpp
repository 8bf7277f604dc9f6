// tokenizer_dump TOKENIZER_JSON < requests > answers, one JSON value a line:
//   {"encode": text, "special": bool}   ids; with "decode": [skip, ...] after them their texts
//   {"piece": text, "first": bool}      ids
//   {"decode": ids, "skip": bool}       text
//   {"round": text}                     the text of its ids, without adding or skipping special
//   tokens
//   {"bytes": ids}                      their bytes, joined, as [0..255]
//   {"token": id}                       [spelling, is_special, the id of that spelling or null]
//   {"size": true}                      vocab_size
#include <iostream>
#include <string>
#include <vector>

#include "src/support/error.hpp"
#include "src/support/json.hpp"
#include "src/tokenizer/tokenizer.hpp"

namespace {

using pardec::Json;

Json answer(const pardec::Tokenizer& tokenizer, const Json& request) {
  const auto text = [&](const char* key) -> const std::string& {
    return request.at(key).get_ref<const std::string&>();
  };
  if (request.contains("encode")) {
    const auto ids = tokenizer.encode(text("encode"), request.at("special").get<bool>());
    if (!request.contains("decode")) return ids;
    Json out = Json::array({ids});
    for (const bool skip : request.at("decode").get<std::vector<bool>>()) {
      out.push_back(tokenizer.decode(ids, skip));
    }
    return out;
  }
  if (request.contains("piece")) {
    return tokenizer.encode_piece(text("piece"), request.at("first").get<bool>());
  }
  if (request.contains("decode")) {
    return tokenizer.decode(request.at("decode").get<pardec::Tokens>(),
                            request.at("skip").get<bool>());
  }
  if (request.contains("round")) {
    return tokenizer.decode(tokenizer.encode(text("round"), false), false);
  }
  if (request.contains("bytes")) {
    Json out = Json::array();
    for (const auto id : request.at("bytes").get<pardec::Tokens>()) {
      for (const char byte : tokenizer.bytes(id)) out.push_back(static_cast<unsigned char>(byte));
    }
    return out;
  }
  if (request.contains("token")) {
    const auto id = request.at("token").get<pardec::Token>();
    const auto back = tokenizer.id(tokenizer.token(id));
    return {tokenizer.token(id), tokenizer.is_special(id), back ? Json(*back) : Json()};
  }
  return tokenizer.vocab_size();
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::cerr << "usage: tokenizer_dump TOKENIZER_JSON < requests > answers\n";
    return 2;
  }
  std::ios::sync_with_stdio(false);
  const auto tokenizer = pardec::Tokenizer::load(argv[1]);
  for (std::string line; std::getline(std::cin, line);) {
    std::cout << pardec::dump(answer(tokenizer, Json::parse(line))) << '\n';
  }
  return 0;
} catch (const pardec::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
