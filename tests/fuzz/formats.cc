#include "fuzz/formats.h"

#include <cstdio>

#include "base/error.h"
#include "base/files.h"
#include "checkpoint/manifest.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/safetensors_header.h"
#include "checkpoint/state.h"
#include "data/files.h"
#include "data/files/code_pages.h"
#include "data/files/line_reader.h"
#include "data/files/records.h"
#include "data/files/row_files.h"
#include "data/row_makers.h"
#include "places.h"
#include "recipe/settings.h"
#include "run_program.h"
#include "text/normalize.h"
#include "text/tokenizer.h"

namespace attune::test {

namespace {

using namespace std::string_literals;
using Seeds = std::vector<std::string>;

/// Without forcing it to a disk.
std::string put_bytes(const std::string& path, std::string_view bytes) {
  FILE* out = std::fopen(path.c_str(), "wb");
  if (!out) fail(ErrorKind::internal, "cannot write {}", path);
  std::fwrite(bytes.data(), 1, bytes.size(), out);
  std::fclose(out);
  return path;
}

// --- model folders ---------------------------------------------------------------------------------------------------

Seeds safetensors_seeds() {
  const TempFolder folder(memory_folder());
  std::vector<float> numbers(24, 0.5f);
  std::vector<int32_t> whole(3, 7);
  write_safetensors(folder / "a",
                    {{"encoder.0.weight", Stored::f32, {4, 6}, numbers.data()},
                     {"scalar", Stored::f32, {}, numbers.data()},
                     {"ids", Stored::i32, {3}, whole.data()}},
                    {{"update", "12"}, {"format", "attune"}});
  write_safetensors(folder / "b", {{"x", Stored::i8, {12}, whole.data()}});
  return {read_file(folder / "a"), read_file(folder / "b")};
}

void read_safetensors(std::string_view bytes, const std::string& folder) {
  const SafetensorsFile file(put_bytes(folder + "/model.safetensors", bytes));
  std::vector<char> to;
  for (const StoredTensor& t : file.tensors()) {
    if (t.bytes() > static_cast<int64_t>(bytes.size()))
      fail(ErrorKind::internal, "{} has {} bytes, its file {}", t.name, t.bytes(), bytes.size());
    to.resize(static_cast<size_t>(t.bytes()));
    file.read(t, to.data());
  }
}

Seeds header_seeds() {
  return {
      R"({"__metadata__":{"a":"b"},"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}})",
      R"({"a":{"dtype":"I8","shape":[],"data_offsets":[0,1]},"b":{"dtype":"F16","shape":[0],"data_offsets":[24,24]},"c":{"dtype":"I8","shape":[23],"data_offsets":[1,24]}})"};
}
void read_header(std::string_view bytes, const std::string&) { parse_header(bytes, 24, "model.safetensors"); }

Seeds manifest_seeds() {
  const TempFolder folder(memory_folder());
  put_bytes(folder / "recipe.toml", "task = \"tag\"\n");
  put_bytes(folder / "model.safetensors", "12345");
  write_manifest(folder.path(), {"recipe.toml", "model.safetensors"});
  return {read_file(folder / "manifest.json")};
}
void read_manifest_of(std::string_view bytes, const std::string& folder) {
  put_bytes(folder + "/" + kManifestName, bytes);
  read_manifest(folder);
}

Seeds state_seeds() {
  return {R"({"updates":12,"seconds":0.25,"rate":"0x1.8p+1","text":"a \\u00fc","whole":-9007199254740993})"};
}
void read_state(std::string_view bytes, const std::string&) { State::from_json(bytes, "trainer.json"); }

Seeds vocabulary_seeds() {
  using text::TokenizerKind;
  using text::Vocabulary;
  return {Vocabulary(TokenizerKind::bpe, false, {"a", "b", "▁", "▁a", "ab"}).to_text(),
          Vocabulary(TokenizerKind::wordpiece, true, {"a", "##a", "##b"}).to_text(),
          Vocabulary({TokenizerKind::unigram, false, true, {"▁", "a", "▁a"}, {-1, -2.5f, -3}}).to_text()};
}
/// What is a vocabulary cuts any text.
void read_vocabulary(std::string_view bytes, const std::string&) {
  const text::Tokenizer t(text::Vocabulary::parse(bytes, "vocabulary.txt"));
  t.decode(t.encode("ab a \xff aba"));
}

// --- recipes ---------------------------------------------------------------------------------------------------------

Seeds recipe_seeds() {
  return {R"(task = "translate"
[data]
train = [["a.en", "a.de"], ["b.en", "b.de"]]
ratio = [3, 1]
[tokenizer]
kind = "bpe"
size = 8_000
[model]
attention = ["softmax", { kind = "band", width = 64 }]
position = { kind = "t5", buckets = 32 }
dropout = 0.1
[train]
stop = "20e"
learning_rate = 3e-3
sampling = { share = 0.25, from = 1000 }
)",
          "task='tag'\ndata.train=['a']\ndata.columns=[1,2]\n[model]\nhead={kind='tags',crf=true}\n"};
}
void read_a_recipe(std::string_view bytes, const std::string&) {
  check_recipe(read_recipe(std::string(bytes), "r.toml"));
}

// --- data ------------------------------------------------------------------------------------------------------------

void read_records(std::string_view bytes, const std::string& folder, DataFormat format,
                  const char* delimiter = "auto") {
  DataSettings d;
  d.format = format;
  d.delimiter = delimiter;
  const auto reader = open_records(put_bytes(folder + "/records", bytes), d);
  Record row;
  size_t all = 0;
  while (reader->next(row))
    for (const std::string_view field : row) all += field.size();
  if (all > 4 * bytes.size() + 64) fail(ErrorKind::internal, "{} bytes of {}", all, bytes.size());
}
Seeds tsv_seeds() { return {"label\ttext\nyes\ta film\nno\t\n\n\t\t\n", "a\tb\tc\r\nd\te\tf\r\n"}; }
void read_tsv(std::string_view bytes, const std::string& folder) { read_records(bytes, folder, DataFormat::tsv); }
Seeds csv_seeds() { return {"id,text,label\n1,\"a, \"\"b\"\"\nc\",x\n2,,y\n", "a;b\n\"c;\n\";d\n", "\"\"\"\"\n"}; }
void read_csv(std::string_view bytes, const std::string& folder) {
  read_records(bytes, folder, DataFormat::csv, bytes.size() % 2 ? "auto" : ";");
}
Seeds conll_seeds() {
  return {"# sent_id = 1\n1\tThe\tthe\tDET\t_\t_\t2\tdet\t_\t_\n2\tman\tman\tNOUN\t_\t_\t0\troot\t_\t_\n\n",
          "-DOCSTART- O\n\nEU B-ORG\nrejects O\n\n", "1-2\tdu\t_\t_\n1\tde\tde\tADP\n2\tle\tle\tDET\n2.1\tx\ty\tz\n\n"};
}
void read_conll(std::string_view bytes, const std::string& folder) { read_records(bytes, folder, DataFormat::conll); }

Seeds line_seeds() {
  return {"a line\nGr\xc3\xbc\xc3\x9f\x65\r\n\n", "\xef\xbb\xbfmark\n", "\xff\xfe\x61\x00\x0a\x00",
          gzipped("packed\nlines\n"), gzipped("one\n") + gzipped("two\n")};
}
void read_lines_of(std::string_view bytes, const std::string& folder) {
  const std::string path = put_bytes(folder + "/lines", bytes);
  for (const char* name : {"utf-8", "utf-16", "windows-1252", "koi8-r"}) try {
      LineReader reader(path, encoding_of(name));
      for (std::string_view line; reader.next(line);) {}
    } catch (const Error& e) {
      if (e.kind() != ErrorKind::data) throw;
    }
}

Seeds idx_seeds() {
  const Shapes shapes(3, 1);
  return {idx_pictures(shapes.pictures, 8, 8), gzipped(idx_pictures(shapes.pictures, 8, 8))};
}
void read_idx(std::string_view bytes, const std::string& folder) {
  put_bytes(folder + "/labels", idx_labels("\0\1\2"s));
  const auto reader =
      open_rows({{put_bytes(folder + "/pictures", bytes), folder + "/labels"}, "data.train"}, DataFormat::idx);
  for (RowExample e; reader->next(e);) {}
}

Seeds graph_seeds() {
  return {"node\tlabel\tsplit\tfeatures\na\tx\ttrain\t0 3 5\nb\ty\tvalid\t1\nc\t-\t-\t2 3\n---\nfrom\tto\na\tb\nb\tc\n",
          "node\tlabel\tsplit\tvalues\na\tx\ttrain\t0.5 -1e3\nb\ty\ttest\t1 2\n---\nfrom\tto\na\tb\n"};
}
/// Nodes, then edges behind a line of ---.
void read_graph(std::string_view bytes, const std::string& folder) {
  const size_t cut = std::min(bytes.find("---\n"), bytes.size());
  const std::string nodes = put_bytes(folder + "/nodes.tsv", bytes.substr(0, cut)),
                    edges = put_bytes(folder + "/edges.tsv", bytes.substr(std::min(cut + 4, bytes.size())));
  const auto reader = open_rows({{nodes, edges}, "data.train", true, true}, DataFormat::graph);
  for (RowExample e; reader->next(e);) {}
}

Seeds text_seeds() {
  return {"e\u0301\u0301 ﬁ Ａ １ \u00ad\u200f", "日本語 🐕🏃‍♀️ شلوم",
          "\xed\xa0\x80\xf4\x90\x80\x80\xc0\x80 broken"};
}
void read_text(std::string_view bytes, const std::string&) {
  for (const bool lower : {false, true}) {
    std::vector<text::Span> spans;
    const std::string once = text::normalize(bytes, lower, &spans);
    if (spans.size() != once.size()) fail(ErrorKind::internal, "{} spans of {} bytes", spans.size(), once.size());
    if (text::normalize(once, lower) != once) fail(ErrorKind::internal, "normalized twice, something else comes out");
  }
}

}  // namespace

const std::vector<FuzzFormat>& fuzz_formats() {
  static const std::vector<FuzzFormat> all{
      {"safetensors", safetensors_seeds, read_safetensors},
      {"header", header_seeds, read_header},
      {"manifest", manifest_seeds, read_manifest_of},
      {"state", state_seeds, read_state},
      {"vocabulary", vocabulary_seeds, read_vocabulary},
      {"recipe", recipe_seeds, read_a_recipe},
      {"tsv", tsv_seeds, read_tsv},
      {"csv", csv_seeds, read_csv},
      {"conll", conll_seeds, read_conll},
      {"lines", line_seeds, read_lines_of},
      {"idx", idx_seeds, read_idx},
      {"graph", graph_seeds, read_graph},
      {"text", text_seeds, read_text},
  };
  return all;
}

}  // namespace attune::test
