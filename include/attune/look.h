// What a model attended to: numbers for show.h to draw.
//
//   const attune::AttentionLook look = attune::look_at("model-dir", "A dog runs.");
#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attune {

/// Who looks at whom: the translation at the source, or either side at itself. A language model has a decoder alone.
enum class AttentionSite { cross, encoder, decoder };

struct AttentionChoice {
  std::string target = {};  // the translation to explain; "": the model's own
  AttentionSite at = AttentionSite::cross;
  int layer = -1;  // from 0 at the bottom; -1: of cross the last but one, which tells best what belongs to what; else
                   // the last
  int head = -1;   // -1: the mean of all
  /// Every head by itself too: of that layer, or of all where none is chosen; of that number, or all.
  bool each = false;
};

/// One head of one layer.
struct AttentionHead {
  int layer = 0, head = 0;
  std::vector<float> weights;  // [rows, columns]
};

/// What the pieces of one side attended to in the other, or in their own.
struct AttentionLook {
  std::vector<std::string> rows;     // pieces of the translation, the end mark included; of a text, as it is read
  std::vector<std::string> columns;  // pieces of the line, the end mark included; or of what is read
  std::vector<float> weights;        // [rows, columns]: what was looked at when a piece was said, or read
  AttentionSite at = AttentionSite::cross;
  int layer = 0, head = -1;   // head -1: the mean of all
  int layers = 0, heads = 0;  // that there are

  std::string task;    // of the model: "translate"
  std::string source;  // the text that was read
  std::string text;    // the translation; of a model that writes none, the text that was read
  /// Where a translation looks at its source: (word of the source, word of the translation), from 0, by the weights
  /// above. Without a choice these are the pairs of a Translation.
  std::vector<std::pair<int, int>> alignment;
  bool cropped = false;             // the text was longer than the model can read: its end was left out
  std::vector<AttentionHead> each;  // where they were asked for, from the bottom
  std::vector<int> silent;          // layers that were asked for too, but have no weights to show
};

/// Opens a model of any task. A language model reads the text: rows and columns are its pieces.
AttentionLook look_at(const std::string& model, const std::string& text, const AttentionChoice& choice = {},
                      int threads = 0);

}  // namespace attune
