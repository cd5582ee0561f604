#include "compare/files.h"

#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "attune/version.h"
#include "base/files.h"
#include "checkpoint/manifest.h"

namespace attune {

namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr int kMeasuredFormat = 1;  // of measured.json

OrderedJson scores_json(const std::vector<std::pair<std::string, double>>& scores) {
  OrderedJson j = OrderedJson::object();
  for (const auto& [name, value] : scores) j[name] = value;
  return j;
}

std::vector<std::pair<std::string, double>> scores_of(const OrderedJson& j) {
  std::vector<std::pair<std::string, double>> scores;
  for (const auto& [name, value] : j.items()) scores.emplace_back(name, value.get<double>());
  return scores;
}

double rounded(double x, double scale) { return std::round(x * scale) / scale; }

OrderedJson figures_json(const VariantFigures& f) {
  OrderedJson work = OrderedJson::array();
  for (const WorkAtLength& w : f.work)
    work.push_back(
        {{"length", w.length}, {"self_attention", w.self_attention}, {"attention", w.attention}, {"update", w.update}});
  return {{"parameters", f.parameters},
          {"updates", f.updates},
          {"train_seconds", rounded(f.train_seconds, 100)},
          {"valid_loss", f.loss ? OrderedJson(*f.loss) : OrderedJson()},
          {"valid", scores_json(f.valid)},
          {"test", scores_json(f.test)},
          {"target_tokens_per_s", rounded(f.train_tokens_per_s, 1)},
          {"ms_per_update", rounded(f.ms_per_update, 1000)},
          {"decode_tokens_per_s", rounded(f.decode_tokens_per_s, 1)},
          {"decode_lines", f.decode_lines},
          {"memory_bytes", f.memory},
          {"resident_bytes", f.resident},
          {"growth", rounded(f.growth, 1e4)},
          {"busy", rounded(f.load.share(), 1000)},
          {"cores", f.load.cores},
          {"work", work}};
}

VariantFigures figures_of(const OrderedJson& j) {
  VariantFigures f;
  f.parameters = j.at("parameters");
  f.updates = j.at("updates");
  f.train_seconds = j.at("train_seconds");
  if (!j.at("valid_loss").is_null()) f.loss = j.at("valid_loss").get<double>();
  f.valid = scores_of(j.at("valid"));
  f.test = scores_of(j.at("test"));
  f.train_tokens_per_s = j.at("target_tokens_per_s");
  f.ms_per_update = j.at("ms_per_update");
  f.decode_tokens_per_s = j.at("decode_tokens_per_s");
  f.decode_lines = j.at("decode_lines");
  f.memory = j.at("memory_bytes");
  f.resident = j.at("resident_bytes");
  f.growth = j.at("growth");
  f.load.cores = j.value("cores", 0);
  f.load.taken = j.value("busy", 0.0) * f.load.cores;
  for (const OrderedJson& w : j.at("work"))
    f.work.push_back({w.at("length"), w.at("self_attention"), w.at("attention"), w.at("update")});
  return f;
}

OrderedJson pictures_json(const std::vector<VariantPicture>& pictures) {
  OrderedJson all = OrderedJson::array();
  for (const VariantPicture& p : pictures) {
    OrderedJson weights = OrderedJson::array();
    for (const float w : p.picture.weights) weights.push_back(rounded(static_cast<double>(w), 1e4));
    all.push_back({{"place", p.place}, {"rows", p.picture.rows}, {"columns", p.picture.columns}, {"weights", weights}});
  }
  return all;
}

std::vector<VariantPicture> read_pictures(const OrderedJson& j) {
  std::vector<VariantPicture> pictures;
  for (const OrderedJson& p : j) pictures.push_back({p.at("place"), {p.at("rows"), p.at("columns"), p.at("weights")}});
  return pictures;
}

/// Of the weights and all that belongs to them.
std::string fingerprint(const std::string& folder) { return hash_of(read_file(folder + "/" + kManifestName)); }

std::string text_of(const OrderedJson& j, int indent) {
  return j.dump(indent, ' ', false, OrderedJson::error_handler_t::replace);
}

OrderedJson variant_json(const ComparedVariant& v) {
  OrderedJson settings = OrderedJson::object(), curve = OrderedJson::array();
  for (const auto& [key, value] : v.settings) settings[key] = value;
  for (const CurvePoint& p : v.curve) curve.push_back({{"update", p.update}, {"valid_loss", p.loss}});
  OrderedJson j{{"name", v.name}, {"settings", settings}, {"state", name_of(v.state)}};
  if (!v.reason.empty()) j["reason"] = v.reason;
  j["folder"] = v.folder;
  j["seed"] = v.seed;
  if (v.state == ComparedVariant::State::finished) j.update(figures_json(v.figures));
  j["curve"] = curve;
  return j;
}

}  // namespace

std::optional<VariantFigures> read_figures(const std::string& folder) {
  const std::string path = folder + "/" + kMeasuredName;
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) return std::nullopt;
  try {
    const OrderedJson j = OrderedJson::parse(read_file(path));
    if (j.at("format") != kMeasuredFormat || j.at("model") != fingerprint(folder)) return std::nullopt;
    VariantFigures f = figures_of(j.at("figures"));
    f.pictures = read_pictures(j.at("pictures"));
    return f;
  } catch (const nlohmann::json::exception&) { return std::nullopt; }  // cut short: measured again
}

void save_figures(const std::string& folder, const VariantFigures& f) {
  const OrderedJson j{{"format", kMeasuredFormat},
                      {"model", fingerprint(folder)},
                      {"figures", figures_json(f)},
                      {"pictures", pictures_json(f.pictures)}};
  write_file(folder + "/" + kMeasuredName, text_of(j, -1) + "\n");
}

std::string json_of(const ComparedVariant& v) { return text_of(variant_json(v), -1); }

std::string comparison_json(const Comparison& c) {
  OrderedJson variants = OrderedJson::array();
  for (const ComparedVariant& v : c.variants) variants.push_back(variant_json(v));
  const OrderedJson j{{"command", c.command},       {"recipe", c.recipe},   {"version", version()},
                      {"machine", c.machine},       {"threads", c.threads}, {"metric", c.metric},
                      {"finished", !c.interrupted}, {"variants", variants}};
  return text_of(j, 1) + "\n";
}

}  // namespace attune
