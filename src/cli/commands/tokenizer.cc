// attune tokenizer: subwords on their own; a line in, a line out.
#include "attune/tokenizer.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <filesystem>

#include "attune/error.h"
#include "attune/lines.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"
#include "cli/tell.h"

namespace attune::cli {

namespace {

struct Options {
  TokenizerTraining training;
  std::string folder, file = "-";
  std::vector<std::string> files;
  bool ids = false, force = false;
};

void train_tokenizer(const Options& options, const Session& session) {
  if (std::error_code ignored; !options.force && std::filesystem::exists(options.folder + "/vocabulary.txt", ignored))
    throw Error(ErrorKind::usage,
                options.folder + " holds a vocabulary\n  fix: another folder, or --force to replace it");
  TextLines reader(options.files);
  if (!session.quiet) tell("reading {} file{}\n", options.files.size(), options.files.size() > 1 ? "s" : "");
  const Tokenizer t = Tokenizer::train([&](std::string& line) { return reader.next(line); }, options.training);
  t.save(options.folder);
  if (!session.quiet) {
    if (!t.note().empty()) tell("note: {}\n", t.note());
    tell("{} pieces from {} lines are in {}\n", thousands(t.size()), thousands(reader.count()), options.folder);
  }
  if (session.json)
    print(to_json({{"kind", options.training.kind},
                   {"size", int64_t{t.size()}},
                   {"lines", reader.count()},
                   {"note", t.note()}}) +
          "\n");
}

/// Words between spaces.
template <class F>
void for_words(const std::string& line, F f) {
  for (size_t at = line.find_first_not_of(" \t\r"); at != std::string::npos; at = line.find_first_not_of(" \t\r", at)) {
    const size_t end = std::min(line.find_first_of(" \t\r", at), line.size());
    f(line.substr(at, end - at));
    at = end;
  }
}

std::string joined(const Tokenizer& t, const std::vector<int32_t>& ids, bool numbers) {
  std::string out;
  for (const int32_t id : ids) {
    if (!out.empty()) out += ' ';
    out += numbers ? std::to_string(id) : t.piece(id);
  }
  return out;
}

std::string as_json(const std::vector<TokenizerPiece>& pieces) {
  List texts, ids, offsets;
  for (const auto& p : pieces) {
    texts.push_back(p.text);
    ids.push_back(p.id);
    offsets.push_back(List{p.begin, p.end});
  }
  return to_json({{"pieces", texts}, {"ids", ids}, {"offsets", offsets}});
}

void encode(const Options& options, const Session& session) {
  const Tokenizer t(options.folder);
  TextLines reader({options.file});
  for (std::string line; reader.next(line);) {
    print((session.json ? as_json(t.pieces(line)) : joined(t, t.encode(line), options.ids)) + "\n");
    if (!reader.ready()) finish_output();  // whoever waits for it gets it
  }
}

void decode(const Options& options, const Session& session) {
  const Tokenizer t(options.folder);
  TextLines reader({options.file});
  for (std::string line; reader.next(line);) {
    std::vector<int32_t> ids;
    for_words(line, [&](const std::string& word) {
      int32_t id = 0;
      if (!options.ids) {
        id = t.id(word);
      } else {
        const auto r = std::from_chars(word.data(), word.data() + word.size(), id);
        if (r.ec != std::errc{} || r.ptr != word.data() + word.size() || id < 0 || id >= t.size())
          throw Error(ErrorKind::data, fmt::format("{}: '{}' is no id: they go from 0 to {}\n  fix: leave out --ids if "
                                                   "these are pieces",
                                                   reader.place(), word, t.size() - 1));
      }
      ids.push_back(id);
    });
    const std::string text = t.decode(ids);
    print((session.json ? to_json({{"text", text}}) : text) + "\n");
    if (!reader.ready()) finish_output();
  }
}

void add_train(CLI::App& group, Session& session, std::shared_ptr<Options> options) {
  CLI::App* command = add_command(group, session, "train", "learn pieces from text files",
                                  "  attune tokenizer train --size 8000 --out tokenizer train.en train.de\n"
                                  "  attune tokenizer train --kind unigram --byte-fallback --out tokenizer text.gz\n"
                                  "  cat *.txt | attune tokenizer train --kind char --size 200 --out letters -");
  TokenizerTraining& t = options->training;
  command->add_option("--kind", t.kind, "bpe, unigram, wordpiece, byte, char or word (default: bpe)")
      ->type_name("KIND");
  command->add_option("--size", t.size, "pieces at most, four marks included (default: 8000)")->type_name("N");
  command->add_flag("--lowercase", t.lowercase, "lower-case all text");
  command->add_flag("--byte-fallback", t.byte_fallback,
                    "256 of the pieces are bytes, so nothing is unknown (bpe, unigram, char)");
  command->add_option("--character-coverage", t.character_coverage, "share of characters to know (default: 1)")
      ->type_name("SHARE");
  command->add_option("--out", options->folder, "where to put it")->type_name("DIR")->required();
  command->add_flag("--force", options->force, "replace a vocabulary that is there already");
  command->add_option("files", options->files, "text, a sentence a line, plain or .gz; - is stdin")
      ->type_name("FILE")
      ->required();
  set_work(command, session, [&session, options] { train_tokenizer(*options, session); });
}

void add_filter(CLI::App* command, Session& session, std::shared_ptr<Options> options, const char* ids,
                void (*work)(const Options&, const Session&)) {
  command->add_flag("--ids", options->ids, ids);
  command->add_option("tokenizer", options->folder, "what train made")->type_name("DIR")->required();
  command->add_option("file", options->file, "lines, plain or .gz; - is stdin, and the default")->type_name("FILE");
  set_work(command, session, [&session, options, work] { work(*options, session); });
}

}  // namespace

void add_tokenizer(CLI::App& app, Session& session) {
  auto options = std::make_shared<Options>();
  CLI::App* group = add_command(app, session, "tokenizer", "cut text into pieces and put it together again",
                                "  attune tokenizer train --kind bpe --size 8000 --out tokenizer train.en train.de\n"
                                "  attune tokenizer encode tokenizer test.en | attune tokenizer decode tokenizer");
  group->group("Text");
  group->require_subcommand(1);
  add_train(*group, session, options);
  add_filter(add_command(*group, session, "encode", "lines to pieces, separated by spaces",
                         "  attune tokenizer encode tokenizer test.en\n"
                         "  echo 'A dog runs.' | attune tokenizer encode tokenizer --json"),
             session, options, "ids instead of pieces", encode);
  add_filter(add_command(*group, session, "decode", "pieces to lines",
                         "  attune tokenizer decode tokenizer pieces.txt\n"
                         "  echo '17 204 9' | attune tokenizer decode tokenizer --ids"),
             session, options, "the input is ids, not pieces", decode);
}

}  // namespace attune::cli
