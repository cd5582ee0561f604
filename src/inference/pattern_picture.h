// Which query sees which key, of a mechanism by itself: found by asking a layer of it what rows drawn by chance attend
// to, so that it is what runs and not what a formula says.
#pragma once
#include "attune/mechanisms.h"
#include "base/choice.h"

namespace attune {

/// ErrorKind::usage for a mechanism that has no weights to draw; ErrorKind::recipe for options it does not take.
PatternPicture picture_of(const Choice& mechanism, bool causal, int64_t length);

}  // namespace attune
