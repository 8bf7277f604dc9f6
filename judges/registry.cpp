#include "judges/judge.hpp"
#include "judges/protocols.hpp"
#include "src/support/error.hpp"
#include "src/support/text.hpp"

namespace pardec {

const std::vector<std::string>& protocol_names() {
  static const std::vector<std::string> kNames{"five-classes", "single", "pairwise"};
  return kNames;
}

JudgeProtocol find_protocol(const std::string& name, ShowReferences references) {
  if (name.ends_with(".json")) return from_template(name);
  if (name == "five-classes") return five_classes();
  if (name == "single") return single(references);
  if (name == "pairwise") return pairwise(references);
  throw ConfigError(str("there is no protocol '", name, "'", known_names(name, protocol_names()),
                        "; a template of your own is a file whose name ends in .json"));
}

}  // namespace pardec
