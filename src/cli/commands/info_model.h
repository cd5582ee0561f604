// A model folder, told to people or as JSON.
#pragma once
#include <string>

#include "cli/session.h"

namespace attune::cli {

/// Throws ErrorKind::model, once all is told, when the model is damaged.
void tell_model(const std::string& folder, const Session& session);

}  // namespace attune::cli
