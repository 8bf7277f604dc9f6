#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "judges/judge.hpp"

/// The three checks of an answer that was rewritten into branches (paper of ASPD, arXiv:2508.08895,
/// section 3.1). Each check is asked kRewriteVotes times, and passes if every reply is yes.
namespace pardec {

/// A branch of a rewritten answer.
struct RewrittenBranch {
  std::string title, content;
};

/// What a check is about. Independence is checked for one group of branches at a time; format and
/// integrity are checked for the whole answer.
struct Rewrite {
  std::string question;  ///< the prompt of the answer
  std::string before;    ///< for independence: the part of the rewritten answer before the group
  std::vector<RewrittenBranch> group;  ///< for independence: the branches of the group
  std::string original, rewritten;     ///< the whole answer, before and after the rewrite
};

/// The checks. The comments say when the verdict is yes.
enum class RewriteCheck {
  independence,  ///< no branch of the group depends on another
  format,        ///< nothing is lost or added, and the form is the same
  integrity,     ///< the result and the key points are the same
};

inline constexpr int kRewriteVotes = 3;

/// The inquiry for one vote. Errors: see read_wording and Wording::filled.
Inquiry ask_about(const Rewrite& rewrite, RewriteCheck check);
/// The inquiry to send after a reply without a verdict. `reply`: this reply, to `inquiry`.
/// `problem`: why the reply has no verdict. Errors: see ask_about.
Inquiry ask_about_again(RewriteCheck check, Inquiry inquiry, const std::string& reply,
                        const std::string& problem);

/// One vote.
struct RewriteVote {
  std::optional<bool> yes;  ///< the verdict; none: the reply contains no verdict
  std::string problem;      ///< why there is no verdict; empty: there is one
};
/// Reads the vote in a reply to ask_about or ask_about_again with the same check.
RewriteVote read_vote(std::string_view reply, RewriteCheck check);

/// Whether there are kRewriteVotes votes, and `yes` is true in all of them.
bool accepted(const std::vector<RewriteVote>& votes);

}  // namespace pardec
