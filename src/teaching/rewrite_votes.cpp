#include "src/teaching/rewrite_votes.hpp"

#include <algorithm>

#include "judges/verdict.hpp"
#include "judges/wording.hpp"
#include "src/support/text.hpp"

namespace pardec {

namespace {

/// The prompt file of a check, and the property with its verdict.
std::pair<const char*, const char*> names_of(RewriteCheck check) {
  switch (check) {
    case RewriteCheck::independence:
      return {"aspd-independence", "independent"};
    case RewriteCheck::format:
      return {"aspd-format", "intact"};
    case RewriteCheck::integrity:
      return {"aspd-integrity", "same"};
  }
  return {};
}

OrderedJson schema_of(RewriteCheck check) {
  return object_schema(
      {{"explanation", {{"type", "string"}}}, {names_of(check).second, {{"type", "boolean"}}}});
}

}  // namespace

Inquiry ask_about(const Rewrite& rewrite, RewriteCheck check) {
  const Wording wording = read_wording(names_of(check).first, {"user"});
  std::vector<std::string> texts{rewrite.question, rewrite.before, rewrite.original,
                                 rewrite.rewritten};
  std::string branches;
  for (const RewrittenBranch& branch : rewrite.group) {
    texts.insert(texts.end(), {branch.title, branch.content});
    branches += str(branches.empty() ? "" : "\n\n", branch.title, ":\n", branch.content);
  }
  return {{{"system", wording.filled("system", {})},
           {"user", wording.filled("user", {{"mark", mark_of(texts)},
                                            {"question", rewrite.question},
                                            {"before", rewrite.before},
                                            {"branches", branches},
                                            {"original", rewrite.original},
                                            {"rewritten", rewrite.rewritten},
                                            {"opens", std::string(kVerdictOpens)},
                                            {"closes", std::string(kVerdictCloses)}})}},
          schema_of(check),
          replace_all(names_of(check).first, "-", "_")};
}

Inquiry ask_about_again(RewriteCheck check, Inquiry inquiry, const std::string& reply,
                        const std::string& problem) {
  return asked_again(read_wording(names_of(check).first, {"user"}), std::move(inquiry), reply,
                     problem);
}

RewriteVote read_vote(std::string_view reply, RewriteCheck check) {
  const FoundVerdict found = find_verdict(reply, schema_of(check), names_of(check).second);
  if (!found.problem.empty()) return {std::nullopt, found.problem};
  return {found.value[names_of(check).second].get<bool>(), ""};
}

bool accepted(const std::vector<RewriteVote>& votes) {
  return std::ssize(votes) == kRewriteVotes &&
         std::all_of(votes.begin(), votes.end(),
                     [](const RewriteVote& vote) { return vote.yes == true; });
}

}  // namespace pardec
