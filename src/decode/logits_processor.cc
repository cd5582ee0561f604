#include "decode/logits_processor.h"

#include <algorithm>

#include "decode/min_length.h"
#include "decode/no_repeat_ngram.h"
#include "decode/repetition_penalty.h"

namespace attune {

void weigh_by(const LogitsProcessors& processors, std::vector<int32_t>& said, float* logits) {
  std::sort(said.begin(), said.end());
  said.erase(std::unique(said.begin(), said.end()), said.end());
  for (const auto& p : processors) p->weigh(said, logits);
}

LogitsProcessors make_processors(const ProcessorOptions& o) {
  LogitsProcessors all;
  if (o.shortest > 0 && o.end >= 0) all.push_back(std::make_shared<MinLength>(o.shortest, o.end));
  if (o.no_repeat > 0) all.push_back(std::make_shared<NoRepeatNgram>(o.no_repeat));
  if (o.repetition_penalty != 1) all.push_back(std::make_shared<RepetitionPenalty>(o.repetition_penalty));
  return all;
}

}  // namespace attune
