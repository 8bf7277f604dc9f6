#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// The three checks of an answer that was rewritten into branches (ASPD paper, section 3.1; three
/// samples of each, accepted where all of them say yes).
namespace pardec {

struct RewrittenBranch {
  std::string title, content;
};

/// What the checks are shown. Independence looks at one group of branches, the others at the whole.
struct Rewrite {
  std::string question;
  std::string before;  ///< the answer up to the group
  std::vector<RewrittenBranch> group;
  std::string original, rewritten;
};

enum class RewriteCheck {
  independence,  ///< no branch of the group needs another
  format,        ///< nothing lost, nothing added, the form kept
  integrity,     ///< the same result and key points
};

inline constexpr int kRewriteVotes = 3;

Inquiry ask_about(const Rewrite& rewrite, RewriteCheck check);
Inquiry ask_about_again(RewriteCheck check, Inquiry inquiry, const std::string& reply,
                        const std::string& problem);

/// One vote; none, with the problem: the reply holds no verdict.
struct RewriteVote {
  std::optional<bool> yes;
  std::string problem;
};
RewriteVote read_vote(std::string_view reply, RewriteCheck check);

/// Whether all kRewriteVotes votes are there and say yes.
bool accepted(const std::vector<RewriteVote>& votes);

}  // namespace pardec
