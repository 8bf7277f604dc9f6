#include "src/cli/manual_page.hpp"

#include "src/cli/command_line.hpp"
#include "src/support/text.hpp"
#include "src/support/version.hpp"

namespace pardec {

std::string manual_page(const std::vector<KnownVerb>& verbs) {
  const auto text = [](const std::string& said) {
    const std::string escaped = replace_all(replace_all(said, "\\", "\\e"), "-", "\\-");
    return escaped.starts_with('.') || escaped.starts_with('\'') ? "\\&" + escaped : escaped;
  };
  std::string out = str(".TH PARDEC 1 \"\" \"pardec ", version().version,
                        "\"\n.SH NAME\npardec \\- runs parallel decoders of large language models "
                        "side by side\n.SH SYNOPSIS\n.B pardec\n.I VERB\n[flags]\n.SH VERBS\n");
  for (const KnownVerb& verb : verbs) {
    out += str(".SS ", verb.name, "\n", text(verb.summary), "\n");
    if (!verb.actions.empty()) out += str(".PP\nActions: ", text(join(verb.actions, ", ")), "\n");
    for (const KnownFlag& flag : verb.flags)
      out += str(".TP\n\\fB", text(flag.name), "\\fR ", text(flag.type), "\n", text(flag.meaning),
                 "\n");
    out += ".PP\nExample:\n.nf\n";
    for (const std::string& line : split(verb.example, '\n'))
      out += text(std::string(strip(line))) + "\n";
    out += ".fi\n";
  }
  return out + str(".SH EXIT STATUS\n", text(kExitCodes), "\n");
}

}  // namespace pardec
