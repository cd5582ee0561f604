#include "data/corpus/row_corpus.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace attune {

namespace {

/// Those that count, blanks between them.
std::string counted_answers(const RowExample& e) {
  std::string all;
  for (size_t i = 0; i < e.answers.size(); ++i)
    if (e.weights.empty() || e.weights[i] > 0) all += (all.empty() ? "" : " ") + e.answers[i];
  return all;
}

/// As Answers has them; what does not count is any label.
void read_row_answers(const RowExample& e, const Encoders& encoders, bool weighted, std::vector<int32_t>& ids) {
  ids.clear();
  for (size_t i = 0; i < e.answers.size(); ++i) {
    const bool counts = e.weights.empty() || e.weights[i] > 0;
    const std::vector<int32_t> own = counts ? encoders.target(e.answers[i]) : std::vector<int32_t>{0};
    check(own.size() == 1, "rows", "{}: an answer of {} parts", e.name, own.size());
    if (weighted && own[0] < 0)
      fail(ErrorKind::data, "{}: the label \"{}\" of node \"{}\" is not in the training data\n  fix: check the label",
           e.name, e.answers[i], e.row_names[i]);
    ids.push_back(own[0]);
  }
}

}  // namespace

void check_row_shape(const RowShape& rows, const RowShape& known, const std::string& key) {
  if (rows.by_column != known.by_column)
    fail(
        ErrorKind::data,
        "{}: features are {}, and the model reads {}\n  fix: write them as data.train does; values are told by a point "
        "in one of them, or by the column's name \"values\"",
        key, rows.by_column ? "numbers of columns" : "values", known.by_column ? "numbers of columns" : "values");
  if (rows.width != known.width || rows.grid.size() != known.grid.size())
    fail(ErrorKind::data,
         "{}: rows of {} numbers, and the model reads {}\n  fix: name files like those that it was trained on", key,
         rows.width, known.width);
  for (size_t i = 0; i < rows.grid.size(); ++i)
    if (rows.grid[i] > known.grid[i])
      fail(ErrorKind::data,
           "{}: pictures of up to {} x {} pixels, and the model knows {} x {}\n  fix: make them smaller, or train on "
           "such pictures",
           key, rows.grid[0], rows.grid[1], known.grid[0], known.grid[1]);
}

RowsRead encode_rows(const RowFiles& files, DataFormat format, const Encoders& encoders, const OnRows& on_rows,
                     CorpusSink& to) {
  const auto reader = open_rows(files, format);
  reader->widen(encoders.rows->width);
  check_row_shape(reader->shape(), *encoders.rows, files.key);
  RowsRead read;
  read.report.sides = Sides::answers;
  read.source = reader->source_layout();
  read.target = reader->target_layout();
  ContentHash hash;
  std::vector<int32_t> source, ids, target;
  Rows answers;
  to.begin_files();
  for (RowExample e; reader->next(e);) {
    ++read.report.pairs;
    ++read.report.kept;
    const std::string answer = counted_answers(e);
    hash.add(e.content);
    hash.add("\n" + answer + "\n");
    read.source.pack(e.source, source);
    read_row_answers(e, encoders, !read.target.empty(), ids);
    if (!read.target.empty()) {
      answers.clear();
      answers.ids.append(ids);
      answers.segments.add(std::ssize(ids));
      read.target.pack(answers, e.weights, target);
    }
    to.add({source, read.target.empty() ? ids : target, 1});
    if (on_rows) on_rows(e, answer);
  }
  read.content_hash = hash.hex();
  return read;
}

LoadedCorpus read_row_corpus(const RowFiles& files, DataFormat format, const Encoders& encoders,
                             const OnPair& on_pair) {
  CorpusInMemory to(Sides::answers);
  RowsRead read = encode_rows(
      files, format, encoders,
      [&](const RowExample& e, const std::string& answer) {
        if (on_pair) on_pair(e.name, answer);
      },
      to);
  LoadedCorpus out{std::move(to.corpus), std::move(read.report), std::move(read.content_hash)};
  out.corpus.answers = true;
  out.corpus.source_layout = std::move(read.source);
  out.corpus.target_layout = std::move(read.target);
  return out;
}

RowShape learn_row_shape(const DataSettings& data) {
  return open_rows({data.train, "data.train"}, data.format)->shape();
}

}  // namespace attune
