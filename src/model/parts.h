// Parts of a model by the names of its parameters: "encoder", "decoder.0", "embedding". What recipes freeze, and what
// they take of another model.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "autograd/parameters.h"

namespace attune {

/// Whether a parameter belongs to a part: "encoder.0.self.query.weight" to "encoder" and "encoder.0", not to
/// "encoder.00".
bool in_part(std::string_view name, std::string_view part);
bool in_any_part(std::string_view name, const std::vector<std::string>& parts);
/// The parts that people name: whole stacks, and each of their layers. "decoder, decoder.0, encoder, encoder.0"
std::string parts_there_are(const std::vector<std::string>& names);
/// Throws ErrorKind::recipe, naming the recipe's key, for a part that has no parameter.
void check_parts(const Parameters& parameters, const std::vector<std::string>& parts, const char* key);
/// Freezes them, before the parameters are allocated. ErrorKind::recipe for a part that is none, for one that shares
/// its memory with another (query with key and value), and when nothing is left to train.
void freeze_parts(Parameters& parameters, const std::vector<std::string>& parts);

}  // namespace attune
