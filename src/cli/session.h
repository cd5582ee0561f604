// What all commands share: the options every one of them has, and how a command is run.
#pragma once
#include <functional>
#include <string>

namespace CLI {
class App;
}

namespace attune::cli {

/// The exit code of work that was told to stop and can go on later.
inline constexpr int kInterrupted = 75;
/// And of what Ctrl-C ended at once, as shells count it.
inline constexpr int kByCtrlC = 130;

/// One run of the program. Parsing fills it; the command's work is then called once.
struct Session {
  bool json = false, quiet = false;
  int threads = 0;         // 0: all cores
  std::string isa;         // "": the best
  std::string isa_source;  // "--isa", "ATTUNE_ISA" or ""
  std::string command;     // "bench gemm"
  std::function<void()> work;
  int exit_code = 0;  // of a command that did its work

  int thread_count() const;
  /// Applies --isa or ATTUNE_ISA.
  void choose_isa();
};

/// Adds a command with the options that all have. `examples` are whole lines, two or more.
CLI::App* add_command(CLI::App& parent, Session& session, const std::string& name, const std::string& sentence,
                      const std::string& examples);
/// Makes `work` what `command` does.
void set_work(CLI::App* command, Session& session, std::function<void()> work);

/// The options --json, --quiet, --threads and --isa.
void add_common_options(CLI::App& app, Session& session);

// One function per command, in a file of the same name. Each adds itself to the program.
void add_demo(CLI::App& app, Session& session);
void add_translate(CLI::App& app, Session& session);
void add_generate(CLI::App& app, Session& session);
void add_embed(CLI::App& app, Session& session);
void add_classify(CLI::App& app, Session& session);
void add_tag(CLI::App& app, Session& session);
void add_score(CLI::App& app, Session& session);
void add_test(CLI::App& app, Session& session);
void add_look(CLI::App& app, Session& session);
void add_new(CLI::App& app, Session& session);
void add_info(CLI::App& app, Session& session);
void add_average(CLI::App& app, Session& session);
void add_quantize(CLI::App& app, Session& session);
void add_doctor(CLI::App& app, Session& session);
void add_train(CLI::App& app, Session& session);
void add_compare(CLI::App& app, Session& session);
void add_tokenizer(CLI::App& app, Session& session);
void add_metric(CLI::App& app, Session& session);
void add_bench(CLI::App& app, Session& session);
void add_bench_train(CLI::App& bench, Session& session);
void add_bench_decode(CLI::App& bench, Session& session);
void add_bench_gemm(CLI::App& bench, Session& session);
void add_bench_attention(CLI::App& bench, Session& session);

}  // namespace attune::cli
