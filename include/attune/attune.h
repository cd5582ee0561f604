// Everything a program that uses attune needs.
#pragma once
#include "attune/bench.h"
#include "attune/demo.h"
#include "attune/error.h"
#include "attune/machine.h"
#include "attune/metric.h"
#include "attune/recipe.h"
#include "attune/test.h"
#include "attune/show.h"
#include "attune/text.h"
#include "attune/tokenizer.h"
#include "attune/translator.h"
#include "attune/version.h"
