// What a trained model says about whole texts: a label, several labels, or a number; and about pictures and the nodes
// of graphs.
//
//   attune::Classifier c("model-dir");
//   std::cout << c.classify("What a wonderful film!").label << "\n";
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace attune {

struct ClassifyOptions {
  int64_t batch_tokens = 4096;  // tokens read at the same time: more is faster and takes memory
  /// A text longer than the model can read is read in windows, each half over the one before, and what they say counts
  /// alike; false: its end is left out. Pairs of texts are cropped.
  bool windows = false;
};

struct Classification {
  std::string label;           // several: with spaces between them; of a model that gives numbers: the number
  double score = 0;            // the probability of the label; the number itself
  std::vector<double> scores;  // the probability of each label, in the order of labels()
  bool cropped = false;        // the text was longer than the model can read: its end was left out
  /// What each of several heads says; `label` then has all of them, with tabs between, and `score` is the first one's.
  std::vector<Classification> parts;
};

/// Never changes once made; safe to share between threads.
class Classifier {
 public:
  /// Reads a model folder. `threads` 0: one per core.
  explicit Classifier(const std::string& model, int threads = 0);
  Classifier(Classifier&&) noexcept;
  Classifier& operator=(Classifier&&) noexcept;
  ~Classifier();

  /// In order; what is said of a text does not depend on the others or the threads. Any bytes will do. A pair of texts
  /// is one line with a tab.
  std::vector<Classification> classify(const std::vector<std::string>& lines,
                                       const ClassifyOptions& options = {}) const;
  Classification classify(const std::string& line, const ClassifyOptions& options = {}) const;
  /// Of a model of pictures or graphs: each picture of these files (IDX), or each node of these graphs (nodes.tsv,
  /// edges.tsv, ...), one after another, with its name: "digits.gz:17", or the node's own.
  using OnClassified = std::function<void(const std::string& name, const Classification& said)>;
  void classify_files(const std::vector<std::string>& files, const OnClassified& on_classified) const;
  /// Whether that is what it reads, and not lines.
  bool reads_files() const;
  /// How many texts a line has, where the recipe's data.columns tell: 1, or 2 with a tab between; otherwise 0.
  int texts() const;
  /// All that it can say; none of a model that gives numbers. Of several heads "1:yes", "1:no", "2:...".
  const std::vector<std::string>& labels() const;
  /// Those of one of several heads, as Classification::parts has them.
  std::vector<std::string> labels(size_t head) const;
  /// The most tokens a text may have.
  int64_t longest() const;

 private:
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace attune
