// `pardec model merge`, `draft` and `add-tokens`: derives a checkpoint from another one.
#include <iostream>

#include "src/checkpoint/checkpoint.hpp"
#include "src/checkpoint/derived_checkpoint.hpp"
#include "src/cli/model.hpp"
#include "src/model/files/parameters.hpp"
#include "src/support/error.hpp"
#include "src/support/number_text.hpp"
#include "src/support/text.hpp"

namespace pardec {

int merge_model(const ModelVerbFlags& flags) {
  if (flags.adapter.empty() || flags.out.empty())
    throw ConfigError("model merge: expected --adapter DIR and --out DIR");
  merge_checkpoint(flags.folder, flags.adapter, flags.out);
  std::cerr << flags.out << ": " << flags.folder << ", changed by " << flags.adapter << "\n";
  return 0;
}

int make_draft(const ModelVerbFlags& flags) {
  if (flags.layers == 0 || flags.out.empty())
    throw ConfigError("model draft: expected --layers N and --out DIR");
  first_layers(flags.folder, flags.layers, flags.out);
  std::cerr << flags.out << ": the first " << counted(flags.layers, "layer") << " of "
            << flags.folder << ", " << grouped(parameter_count(read_model_config(flags.out)))
            << " parameters\n";
  return 0;
}

int give_tokens(const ModelVerbFlags& flags) {
  if ((flags.tokens.empty() && flags.rename.empty()) || flags.out.empty())
    throw ConfigError("model add-tokens: expected --tokens A,B or --rename OLD=NEW, and --out DIR");
  NewTokens tokens{flags.tokens, {}, flags.seed};
  for (const std::string& pair : flags.rename) {
    const size_t equals = pair.find('=');
    if (equals == std::string::npos)
      throw ConfigError(str("--rename has '", pair, "', expected OLD=NEW"));
    tokens.renamed.emplace_back(pair.substr(0, equals), pair.substr(equals + 1));
  }
  add_tokens(flags.folder, tokens, flags.out);
  const Tokenizer tokenizer = load_tokenizer(flags.out);
  std::vector<std::string> told;
  for (const auto& [from, to] : tokens.renamed)
    told.push_back(str(to, " is ", *tokenizer.id(to), " (was ", from, ")"));
  for (const std::string& text : tokens.added)
    told.push_back(str(text, " is ", *tokenizer.id(text)));
  std::cerr << flags.out << ": " << join(told, ", ")
            << (told.size() == 1 ? "; it is not trained yet\n" : "; they are not trained yet\n");
  return 0;
}

}  // namespace pardec
