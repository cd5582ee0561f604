// Graphs: a table of nodes and one of edges, tab-separated, plain or .gz, with a line of names or without.
//
//   node  label  split  features     features: the numbers of the columns that are not zero, which share one ("3 17"),
//   or p1    theory train  3 17         all values, where one of them has a point or the column is called "values" from
//   to                         edges lead both ways; every node has one to itself too
//
// A graph is one example. Which nodes count is told by their split: train, valid (or val, dev), test, nothing ("", "-",
// none or unlabelled); without any split, all that have a label. A label may be missing likewise.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "data/files/line_reader.h"
#include "data/files/row_files.h"
#include "text/lower_case.h"

namespace attune {

namespace {

constexpr int64_t kMostFeatures = 1 << 20;
constexpr int64_t kMostNumbers = int64_t{1} << 29;

struct Graph {
  std::vector<std::string> names, labels, splits;
  std::vector<std::vector<float>> features;
  std::vector<std::vector<int32_t>> edges;  // of each node: in order, itself too
  bool by_number = true;                    // features are numbers of columns
  int64_t width = 0;
  std::string name, content;
};

bool read_feature(std::string_view word, float& x) {
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), x);
  return error == std::errc{} && end == word.data() + word.size() && std::isfinite(x);
}

constexpr std::array<std::string_view, 3> kSplits{"train", "valid", "test"};

/// "-" or nothing: there is none.
std::string cell_of(std::string_view cell) {
  cell = trim(cell);
  return cell == "-" ? "" : std::string(cell);
}

std::string split_of(std::string_view cell, const std::string& place) {
  std::string word = text::lower_case(cell_of(cell));
  if (word == "val" || word == "dev" || word == "validation") word = "valid";
  if (word == "none" || word == "unlabelled" || word == "unlabeled") word.clear();
  if (!word.empty() && std::find(kSplits.begin(), kSplits.end(), word) == kSplits.end())
    fail(ErrorKind::data, "{}: the split \"{}\" is none of train, valid, test\n  fix: write one of them, or - for none",
         place, trim(cell));
  return word;
}

class GraphFile {
 public:
  GraphFile(const std::string& nodes, const std::string& edges) {
    read_nodes(nodes);
    read_edges(edges);
  }
  Graph take() { return std::move(graph_); }

 private:
  void read_nodes(const std::string& file) {
    LineReader reader(file);
    std::string_view line;
    std::vector<std::string> raw;
    bool points = false;
    for (bool first = true; reader.next(line);) {
      if (trim(line).empty()) continue;
      const bool names = std::exchange(first, false);
      const std::vector<std::string> cells = split(line, '\t');
      if (cells.size() != 4)
        fail(
            ErrorKind::data,
            "{}: {} column{}, wanted 4: node, label, split, features\n  fix: separate columns by tabs, and features by "
            "blanks",
            reader.place(), cells.size(), cells.size() == 1 ? "" : "s");
      if (names && cells[0] == "node") {
        points = trim(cells[3]) == "values";
        if (trim(cells[1]) != "label" || trim(cells[2]) != "split")
          fail(ErrorKind::data,
               "{}: the columns are {}, wanted node, label, split, features\n  fix: bring them into this order",
               reader.place(), join(cells, ", "));
        continue;
      }
      if (!numbers_.emplace(cells[0], static_cast<int32_t>(numbers_.size())).second)
        fail(ErrorKind::data, "{}: node \"{}\" comes twice\n  fix: give each node one line", reader.place(), cells[0]);
      const std::string label = cell_of(cells[1]);
      if (words_of(label).size() > 1)
        fail(ErrorKind::data, "{}: the label \"{}\" has a blank\n  fix: write _ instead", reader.place(), label);
      graph_.names.push_back(cells[0]);
      graph_.labels.push_back(label);
      graph_.splits.push_back(split_of(cells[2], reader.place()));
      raw.push_back(cells[3]);
      places_.push_back(reader.line());
      points |= cells[3].find('.') != std::string::npos;
      graph_.content.append(line).append("\n");
    }
    if (raw.empty()) fail(ErrorKind::data, "{}: there are no nodes\n  fix: check the file", file);
    graph_.by_number = !points;
    for (size_t i = 0; i < raw.size(); ++i) {
      std::vector<float>& own = graph_.features.emplace_back();
      for (const std::string_view word : words_of(raw[i])) {
        float x = 0;
        const bool whole =
            read_feature(word, x) && x >= 0 && x == std::floor(x) && x < static_cast<float>(kMostFeatures);
        if (points ? !read_feature(word, x) : !whole)
          fail(ErrorKind::data, "{}:{}: the feature \"{}\" is no {}\n  fix: write {}", file, places_[i], word,
               points ? "number" : "column's number from 0 to " + thousands(kMostFeatures - 1),
               points ? "one like 0.25" : "numbers with blanks between");
        own.push_back(x);
        if (!points) graph_.width = std::max(graph_.width, static_cast<int64_t>(x) + 1);
      }
      if (points && i > 0 && own.size() != graph_.features[0].size())
        fail(ErrorKind::data, "{}:{}: {} features, the first node has {}\n  fix: give each node as many", file,
             places_[i], own.size(), graph_.features[0].size());
    }
    if (points) graph_.width = std::ssize(graph_.features[0]);
    if (graph_.width == 0) fail(ErrorKind::data, "{}: no node has features\n  fix: fill the fourth column", file);
    graph_.name = std::filesystem::path(file).filename().string();
  }

  void read_edges(const std::string& file) {
    std::vector<std::set<int32_t>> all(numbers_.size());
    for (size_t i = 0; i < all.size(); ++i) all[i].insert(static_cast<int32_t>(i));
    LineReader reader(file);
    std::string_view line;
    int64_t count = 0;
    for (bool first = true; reader.next(line);) {
      if (trim(line).empty()) continue;
      const bool names = std::exchange(first, false);
      const std::vector<std::string> cells = split(line, '\t');
      if (cells.size() != 2)
        fail(ErrorKind::data,
             "{}: {} column{}, wanted two: from, to\n  fix: separate them by tabs; edges have no weights",
             reader.place(), cells.size(), cells.size() == 1 ? "" : "s");
      if (names && cells[0] == "from") continue;
      std::array<int32_t, 2> ends{};
      for (size_t e = 0; e < 2; ++e) {
        const auto at = numbers_.find(cells[e]);
        if (at == numbers_.end())
          fail(ErrorKind::data, "{}: there is no node \"{}\"\n  fix: name nodes as the first column of {} does",
               reader.place(), cells[e], graph_.name);
        ends[e] = at->second;
      }
      ++count;
      all[static_cast<size_t>(ends[0])].insert(ends[1]);
      all[static_cast<size_t>(ends[1])].insert(ends[0]);
      graph_.content.append(line).append("\n");
    }
    if (count == 0) fail(ErrorKind::data, "{}: there are no edges\n  fix: name the nodes, then their edges", file);
    for (const auto& own : all) graph_.edges.emplace_back(own.begin(), own.end());
  }

  Graph graph_;
  std::map<std::string, int32_t, std::less<>> numbers_;
  std::vector<int64_t> places_;
};

class GraphReader : public RowReader {
 public:
  explicit GraphReader(const RowFiles& files) : files_(files) {
    if (files.files.empty() || files.files.size() % 2 != 0)
      fail(ErrorKind::recipe, "{} names {} file{}, a graph has two\n  fix: {} = [\"nodes.tsv\", \"edges.tsv\"]",
           files.key, files.files.size(), files.files.size() == 1 ? "" : "s", files.key);
    if (std::count(files.files.begin(), files.files.end(), "-") > 1)
      fail(ErrorKind::usage, "both tables can't come through one pipe\n  fix: write one of them to a file");
    // A graph is in memory while it is trained on: so it may be when its shape is asked for.
    for (size_t i = 0; i < files.files.size(); i += 2) {
      graphs_.push_back(GraphFile(files.files[i], files.files[i + 1]).take());
      const Graph& g = graphs_.back();
      const RowShape own{g.width, {}, std::ssize(g.labels), g.by_number};
      if (i == 0) shape_ = own;
      if (own.by_column != shape_.by_column || (!own.by_column && own.width != shape_.width))
        fail(ErrorKind::data, "{}: other features than those of {}\n  fix: write them alike in all files",
             files.files[i], files.files[0]);
      shape_.cover(own);
      shape_.width = std::max(shape_.width, own.width);
      if (shape_.width * own.longest > kMostNumbers)
        fail(ErrorKind::data, "{}: {} nodes of {} features are more than fit in memory\n  fix: leave rare features out",
             g.name, thousands(own.longest), thousands(shape_.width));
    }
  }
  void widen(int64_t width) override {
    if (shape_.by_column) shape_.width = std::max(shape_.width, width);
  }

  bool next(RowExample& e) override {
    if (at_ == graphs_.size()) return false;
    Graph g = std::move(graphs_[at_++]);
    const auto n = std::ssize(g.labels);
    e.source.clear();
    e.source.width = shape_.width;
    std::vector<float>& values = e.source.values.own();
    values.assign(static_cast<size_t>(n * shape_.width), 0.0f);
    std::vector<int32_t>&start = e.source.edges.start.own(), &to = e.source.edges.to.own();
    start.push_back(0);
    for (int64_t i = 0; i < n; ++i) {
      const std::vector<float>& own = g.features[static_cast<size_t>(i)];
      float* row = values.data() + i * shape_.width;
      if (g.by_number)
        for (const float column : own) row[static_cast<int64_t>(column)] += 1 / static_cast<float>(own.size());
      else
        std::copy(own.begin(), own.end(), row);
      const std::vector<int32_t>& edges = g.edges[static_cast<size_t>(i)];
      to.insert(to.end(), edges.begin(), edges.end());
      start.push_back(static_cast<int32_t>(to.size()));
    }
    e.source.segments.add(n);
    e.name = g.name;
    e.row_names = std::move(g.names);
    e.content = std::move(g.content);
    e.answers.clear();
    e.weights.clear();
    if (!files_.answers) return true;
    const std::string wanted = files_.key.substr(files_.key.find('.') + 1);  // "train" of "data.train"
    const bool any = std::any_of(g.splits.begin(), g.splits.end(), [](const std::string& s) { return !s.empty(); });
    if (!any && files_.of_train)
      fail(ErrorKind::data,
           "{}: no node of {} has a split, so all are trained on\n  fix: write train, valid or test into its third "
           "column, or name other files for it",
           files_.key, g.name);
    int64_t counted = 0;
    for (size_t i = 0; i < g.labels.size(); ++i) {
      const bool counts = !g.labels[i].empty() && (!any || g.splits[i] == wanted);
      counted += counts;
      e.weights.push_back(counts ? 1.0f : 0.0f);
    }
    if (counted == 0)
      fail(ErrorKind::data, "{}: no node of {} has the split \"{}\" and a label\n  fix: fill its third column",
           files_.key, g.name, wanted);
    e.answers = std::move(g.labels);
    return true;
  }
  RowShape shape() const override { return shape_; }
  Layout source_layout() const override {
    return {{{ColumnUse::values, ColumnType::f32, shape_.width},
             {ColumnUse::edge_start, ColumnType::i32, 1},
             {ColumnUse::edge_to, ColumnType::i32, 1}}};
  }
  Layout target_layout() const override {
    return {{{ColumnUse::ids, ColumnType::i32, 1}, {ColumnUse::weights, ColumnType::f32, 1}}};
  }

 private:
  RowFiles files_;
  std::vector<Graph> graphs_;
  size_t at_ = 0;
  RowShape shape_;
};

}  // namespace

std::unique_ptr<RowReader> open_graphs(const RowFiles& files) { return std::make_unique<GraphReader>(files); }

}  // namespace attune
