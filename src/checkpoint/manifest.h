// manifest.json: the size and hash of every file of a model folder, so that a file that was cut short, changed or lost
// is found before anything uses it. Hashes find accidents; they are not signatures.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace attune {

constexpr const char* kManifestName = "manifest.json";

struct ManifestEntry {
  std::string name;  // relative to the folder: "tokenizer/vocabulary"
  int64_t bytes = 0;
  std::string hash;  // "xxh3:" and 32 hexadecimal digits
  bool operator==(const ManifestEntry&) const = default;
};
using Manifest = std::vector<ManifestEntry>;  // in the order of names

/// "xxh3:" and the 128-bit hash.
std::string hash_of(std::string_view bytes);
/// Size and hash of a file, read once in pieces. ErrorKind::io when it can't be read.
ManifestEntry describe_file(const std::string& folder, const std::string& name);

/// All files in and under a folder, by relative name, in order; the manifest itself is left out.
std::vector<std::string> files_in(const std::string& folder);

/// Describes the named files of a folder and writes its manifest.json.
void write_manifest(const std::string& folder, const std::vector<std::string>& names);
/// ErrorKind::model when it is missing or not a manifest.
Manifest read_manifest(const std::string& folder);
/// Whether it lists a file of this name.
bool lists(const Manifest& manifest, std::string_view name);
/// Reads every file that the manifest lists. ErrorKind::model names the first that is missing, cut short or changed.
Manifest verify_manifest(const std::string& folder);
}  // namespace attune
