// The JSON header of a safetensors file, apart from the file: what it says, checked against how much data there is.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "checkpoint/safetensors.h"

namespace attune {

/// Longer headers are refused, as the format's own library does.
constexpr int64_t kLargestHeader = 100'000'000;

struct SafetensorsHeader {
  struct Entry {
    StoredTensor tensor;
    int64_t begin = 0, end = 0;  // from where the data begins
  };
  std::vector<Entry> entries;  // in the order of their names
  Metadata metadata;
};

/// Throws ErrorKind::model, naming `path`, unless the header is well formed and its tensors fill `data_bytes` bytes
/// exactly, without holes and without overlaps.
SafetensorsHeader parse_header(std::string_view json, int64_t data_bytes, const std::string& path);

/// The header's bytes, with spaces behind it so that what follows length and header begins at a multiple of 64.
std::string header_text(const SafetensorsHeader& header);

[[noreturn]] void fail_safetensors(const std::string& path, const std::string& what);

}  // namespace attune
