#include "data/corpus/corpus_manifest.h"

#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/hash.h"

namespace attune {

namespace {

using Json = nlohmann::json;
constexpr int kVersion = 3;
constexpr const char* kName = "/manifest.json";

Json json_of(const Tally& t) { return {{"count", t.count}, {"places", t.places}}; }
Tally tally_of(const Json& j) { return {j.at("count").get<int64_t>(), j.at("places").get<std::vector<std::string>>()}; }

Json json_of(const Layout& l) {
  Json columns = Json::array();
  for (const TypedColumn& c : l.columns)
    columns.push_back({static_cast<int>(c.use), static_cast<int>(c.type), c.width});
  return {{"columns", columns}, {"longest", l.longest}};
}
Layout layout_of(const Json& j) {
  Layout l;
  for (const Json& c : j.at("columns"))
    l.columns.push_back(
        {static_cast<ColumnUse>(c.at(0).get<int>()), static_cast<ColumnType>(c.at(1).get<int>()), c.at(2)});
  l.longest = j.at("longest");
  return l;
}

/// Of everything but itself.
std::string hash_of(Json all) {
  all.erase("hash");
  ContentHash hash;
  hash.add(all.dump(-1, ' ', false, Json::error_handler_t::replace));
  return hash.hex();
}

}  // namespace

std::optional<std::vector<InputFile>> input_files(const std::vector<std::string>& names) {
  std::vector<InputFile> files;
  for (const std::string& name : names) {
    struct stat info {};
    if (name == "-" || ::stat(name.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
    files.push_back({name, info.st_size, info.st_mtim.tv_sec * 1'000'000'000 + info.st_mtim.tv_nsec});
  }
  return files;
}

void CorpusManifest::write(const std::string& folder) const {
  Json all{{"version", kVersion},
           {"made_by", made_by},
           {"content_hash", content_hash},
           {"width", width},
           {"tokens", tokens},
           {"entries", entries},
           {"texts", texts},
           {"held_out", held_out},
           {"inputs", Json::array()},
           {"pairs", report.pairs},
           {"kept", report.kept},
           {"two_sides", has_source(report.sides)},
           {"empty", json_of(report.empty)},
           {"overlong", json_of(report.overlong)},
           {"surplus", report.surplus}};
  all["held_out_text"] = held_out_text;
  all["broken"] = json_of(report.broken);
  all["odd"] = json_of(report.odd);
  all["file_starts"] = file_starts;
  all["weighted"] = weighted;
  all["layouts"] = {json_of(source_layout), json_of(target_layout)};
  all["sizes"] = {sizes.examples, sizes.source_tokens, sizes.target_tokens, sizes.longest_source, sizes.longest_target};
  for (const InputFile& f : inputs)
    all["inputs"].push_back({{"name", f.name}, {"bytes", f.bytes}, {"changed", f.changed}});
  all["hash"] = hash_of(all);
  // A name that is no UTF-8 will not be known again: then the text is read again.
  write_file(folder + kName, all.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::optional<CorpusManifest> CorpusManifest::read(const std::string& folder) try {
  const Json all = Json::parse(read_file(folder + kName));
  if (all.at("version") != kVersion || all.at("hash") != hash_of(all)) return std::nullopt;
  CorpusManifest m;
  m.made_by = all.at("made_by");
  m.content_hash = all.at("content_hash");
  m.width = all.at("width");
  m.tokens = all.at("tokens");
  m.entries = all.at("entries");
  m.texts = all.at("texts").get<std::vector<int64_t>>();
  m.held_out = all.at("held_out");
  m.held_out_text = all.at("held_out_text");
  m.report.sides = all.at("two_sides").get<bool>() ? Sides::two : Sides::one;
  m.report.pairs = all.at("pairs");
  m.report.kept = all.at("kept");
  m.report.empty = tally_of(all.at("empty"));
  m.report.overlong = tally_of(all.at("overlong"));
  m.report.surplus = all.at("surplus");
  m.report.broken = tally_of(all.at("broken"));
  m.report.odd = tally_of(all.at("odd"));
  m.file_starts = all.at("file_starts").get<std::vector<int64_t>>();
  m.weighted = all.at("weighted");
  m.source_layout = layout_of(all.at("layouts").at(0));
  m.target_layout = layout_of(all.at("layouts").at(1));
  const Json& s = all.at("sizes");
  m.sizes = {s.at(0), s.at(1), s.at(2), s.at(3), s.at(4)};
  for (const Json& f : all.at("inputs")) m.inputs.push_back({f.at("name"), f.at("bytes"), f.at("changed")});
  return m;
} catch (const Json::exception&) { return std::nullopt; } catch (const Error& e) {
  if (e.kind() != ErrorKind::io) throw;
  return std::nullopt;
}

}  // namespace attune
