#include "checkpoint/manifest.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/text.h"
#include "checkpoint/safetensors.h"

namespace attune {

namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

constexpr int kFormat = 1;
constexpr int64_t kLargestManifest = 1 << 20;  // a hundred times what any has: what it becomes takes thirty times that
constexpr const char* kCopyAgain = "\n  fix: copy the folder again, or use another checkpoint";

std::string hash_text(const ContentHash& hash) { return "xxh3:" + hash.hex(); }

[[noreturn]] void fail_manifest(const std::string& folder, const std::string& what) {
  fail(ErrorKind::model, "{}/{}: {}{}", folder, kManifestName, what, kCopyAgain);
}

/// Names from a manifest lead into the folder and nowhere else, and each file has one.
bool inside(const std::string& name) {
  if (name.empty() || name.find('\0') != std::string::npos) return false;
  const fs::path path(name);
  return path.is_relative() && *path.begin() != ".." && *path.begin() != "." && path.has_filename() &&
         path.lexically_normal().generic_string() == name;
}

/// What to name instead of what is no model folder.
std::string fix_for_no_model(const std::string& path) {
  std::error_code ignored;
  const fs::path p(path);
  if (p.extension() == ".toml" && fs::is_regular_file(p, ignored))
    return fmt::format("it is a recipe: attune train {} makes the model", path);
  if (fs::is_regular_file(p, ignored) && fs::is_regular_file(p.parent_path() / kManifestName, ignored))
    return fmt::format("name its folder, {}", p.has_parent_path() ? p.parent_path().string() : ".");
  if (!fs::exists(p, ignored))
    if (const std::string fix = fix_for_missing(path); fix.starts_with("did you mean")) return fix;
  return "name a folder that attune train wrote";
}

Manifest parse(const std::string& text, const std::string& folder) {
  if (!json_within(text, 3)) fail_manifest(folder, "not a manifest");
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || !json.contains("format") || !json.contains("files") || !json["files"].is_object())
    fail_manifest(folder, "not a manifest");
  if (json["format"] != kFormat)
    fail(ErrorKind::model, "{}/{}: written by a newer attune\n  fix: use that one", folder, kManifestName);
  Manifest manifest;
  for (const auto& [name, file] : json["files"].items()) {
    const bool good = inside(name) && file.is_object() && file.contains("bytes") && file.contains("hash") &&
                      file["bytes"].is_number_unsigned() && file["hash"].is_string();
    if (!good) fail_manifest(folder, "what it says about '" + shown_name(name) + "' makes no sense");
    manifest.push_back({name, file["bytes"].get<int64_t>(), file["hash"].get<std::string>()});
  }
  return manifest;  // the JSON object keeps names in order
}

}  // namespace

std::string hash_of(std::string_view bytes) {
  ContentHash hash;
  hash.add(bytes);
  return hash_text(hash);
}

ManifestEntry describe_file(const std::string& folder, const std::string& name) {
  const std::string path = folder + "/" + name;
  const auto cannot = [&](int error) { fail(ErrorKind::io, "cannot read {}: {}", path, std::strerror(error)); };
  std::error_code error;
  if (!fs::is_regular_file(path, error)) cannot(error ? error.value() : ENOENT);
  errno = 0;
  std::ifstream in(path, std::ios::binary);
  if (!in) cannot(errno ? errno : EIO);
  ContentHash hash;
  std::vector<char> buffer(1 << 20);
  ManifestEntry entry{name, 0, ""};
  while (in) {
    in.read(buffer.data(), static_cast<std::streamsize>(buffer.size()));
    if (in.bad()) cannot(EIO);
    hash.add({buffer.data(), static_cast<size_t>(in.gcount())});
    entry.bytes += in.gcount();
  }
  entry.hash = hash_text(hash);
  return entry;
}

std::vector<std::string> files_in(const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::recursive_directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (std::error_code ignored; at->is_directory(ignored)) continue;
    const std::string name = at->path().lexically_relative(folder).generic_string();
    if (name != kManifestName) names.push_back(name);
  }
  if (error) fail(ErrorKind::io, "cannot read {}: {}", folder, error.message());
  std::sort(names.begin(), names.end());
  return names;
}

void write_manifest(const std::string& folder, const std::vector<std::string>& names) {
  Json files = Json::object();
  for (const std::string& name : names) {
    const ManifestEntry e = describe_file(folder, name);
    files[name] = {{"bytes", e.bytes}, {"hash", e.hash}};
  }
  const Json json = {{"format", kFormat}, {"files", files}};
  std::string text;
  try {
    text = json.dump(2) + "\n";
  } catch (const Json::exception&) { fail(ErrorKind::io, "a file name in {} is not valid UTF-8", folder); }
  write_file(folder + "/" + kManifestName, text);
}

Manifest read_manifest(const std::string& folder) {
  const std::string path = folder + "/" + kManifestName;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found || error == std::errc::not_a_directory)
    fail(ErrorKind::model, "{} is not a model folder: {}\n  fix: {}", folder,
         fs::exists(folder, error) ? fmt::format("it has no {}", kManifestName) : "there is nothing of that name",
         fix_for_no_model(folder));
  if (!fs::is_regular_file(status)) fail_manifest(folder, "not a regular file");
  if (const auto bytes = fs::file_size(path, error); !error && std::cmp_greater(bytes, kLargestManifest))
    fail_manifest(folder, "too large to be one");
  return parse(read_regular_file(path, kLargestManifest), folder);
}

bool lists(const Manifest& manifest, std::string_view name) {
  return std::ranges::any_of(manifest, [&](const ManifestEntry& e) { return e.name == name; });
}

Manifest verify_manifest(const std::string& folder) {
  Manifest manifest = read_manifest(folder);
  for (const ManifestEntry& e : manifest) {
    const std::string path = folder + "/" + e.name;
    std::error_code error;
    if (!fs::exists(path, error)) fail(ErrorKind::model, "{} is missing{}", path, kCopyAgain);
    if (!fs::is_regular_file(path, error)) fail(ErrorKind::model, "{} is not a regular file{}", path, kCopyAgain);
    const auto bytes = fs::file_size(path, error);  // the cheap check first
    if (!error && std::cmp_not_equal(bytes, e.bytes))
      fail(ErrorKind::model, "{} has {} bytes instead of {}: {}{}", path, thousands(static_cast<int64_t>(bytes)),
           thousands(e.bytes), std::cmp_less(bytes, e.bytes) ? "it was cut short" : "it was changed", kCopyAgain);
    if (describe_file(folder, e.name).hash != e.hash)
      fail(ErrorKind::model, "{} has changed since it was saved: its hash differs{}", path, kCopyAgain);
  }
  return manifest;
}

}  // namespace attune
