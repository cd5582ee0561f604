// The lines of probe tasks: each function draws one line and its answer. attune/probe.h makes corpora of them.
#pragma once
#include <cstdint>
#include <string>

#include "base/random.h"

namespace attune {

struct ProbeLine {
  std::string source, target;
};

/// Training lines are `easier`: of every size up to the one that is tested. What is learned on short ones soon holds on
/// long ones too, where the same number of long ones alone teaches nothing yet.
///
/// Colours; a gap of words that mean nothing; then a numbered bead of each colour in another order. The answer are the
/// beads in the order of the colours: "d a b lo la ... lu b3 d2 a6" -> "d2 a6 b3".
struct CopyLines {
  int64_t beads = 8;  // at most 8: each has a colour of its own, and one of 10 numbers
  int64_t gap = 96;   // words at most; at least three quarters of it
  bool easier = false;
};
ProbeLine draw_copy(Random& random, const CopyLines& options);

/// Lists of digits and lists with an operation on them, after Nangia and Bowman 2018, "ListOps: A Diagnostic Dataset
/// for Latent Tree Learning": "[MAX 4 3 [FIRST 2 3 ] 1 ]" -> "4". Theirs has the median and the sum modulo 10 where
/// this has FIRST and LAST: small models learn arithmetic slowly, whatever their attention, while these two ask for
/// order. Each digit is as frequent as an answer as any other.
struct ListOpsLines {
  int64_t depth = 2;      // lists within lists; 1: digits alone
  int64_t arguments = 4;  // of a list at most, at least 2
  int64_t words = 24;     // of a line at most
  bool easier = false;
};
ProbeLine draw_listops(Random& random, const ListOpsLines& options);

/// A language that was made up: auxiliary verbs first, each of another voice; adverbs; then nouns, whose prefix tells
/// their role (agent, patient, place, tool), with adjectives, in any order. A verb agrees in gender and number with the
/// noun that its voice names, whatever nouns stand in between, as in languages of the Philippines, where the verb comes
/// first and its voice names the subject. The answer are the verbs with their endings:
/// "ma in osko ... kabelun tiro posumi" -> "maast inas".
struct AgreementLines {
  int64_t verbs = 3, nouns = 4;  // at most 4; no more verbs than nouns
  int64_t gap = 96;              // adverbs at most; at least three quarters of it
  bool easier = false;
};
ProbeLine draw_agreement(Random& random, const AgreementLines& options);

/// How many words a gap of at most `most` gets.
inline uint64_t draw_gap(Random& random, int64_t most, bool easier) {
  const auto least = static_cast<uint64_t>(easier ? 0 : most * 3 / 4);
  return least + random.below(static_cast<uint64_t>(most) - least + 1);
}

}  // namespace attune
