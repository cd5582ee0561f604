// The lines of probe tasks: each function draws one line and its answer. attune/probe.h makes corpora of them.
#pragma once
#include <cstdint>
#include <string>

#include "base/random.h"

namespace attune {

struct ProbeLine {
  std::string source, target;
};

/// Groups of beads, each bead a colour and a number; a gap of words that mean nothing; then a colour. The answer are
/// the beads of that colour: "b3 b7 d2 d9 a6 a0 lo la ... lu d" -> "d2 d9".
struct CopyLines {
  int64_t groups = 4, beads = 3;  // of 8 colours, of 10 numbers
  int64_t gap = 96;               // words at most; at least three quarters of it
};
ProbeLine draw_copy(Random& random, const CopyLines& options);

/// Lists of digits and lists with an operation on them, after Nangia and Bowman 2018, "ListOps: A Diagnostic Dataset
/// for Latent Tree Learning": "[MAX 4 3 [MIN 2 3 ] 1 ]" -> "4". MED is the middle one, the mean of both rounded down
/// where there are two; SM the sum modulo 10. Each digit is as frequent as an answer as any other.
struct ListOpsLines {
  int64_t depth = 2;      // lists within lists; 1: digits alone
  int64_t arguments = 4;  // of a list at most, at least 2
  int64_t words = 24;     // of a line at most
};
ProbeLine draw_listops(Random& random, const ListOpsLines& options);

/// A language that was made up: phrases of a particle (agent, patient, place, tool), a noun and adjectives, in any
/// order; adverbs; and last the verb's voice and its stem. The verb agrees in gender and number with the phrase that
/// its voice names, whatever nouns stand in between, as in languages of the Philippines the voice names the subject.
/// The answer is the stem and its ending: "ka belun tiro po sumi ... ma daro" -> "daro es".
struct AgreementLines {
  int64_t gap = 96;  // words between the last noun and the verb at most; at least three quarters of it
};
ProbeLine draw_agreement(Random& random, const AgreementLines& options);

}  // namespace attune
