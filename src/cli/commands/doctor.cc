// attune doctor: what this machine offers and what may go wrong.
#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/machine.h"
#include "attune/text.h"
#include "cli/output.h"
#include "cli/session.h"

namespace attune::cli {

namespace {

std::string words(const std::vector<std::string>& list) {
  std::string out;
  for (const auto& w : list) out += (out.empty() ? "" : " ") + w;
  return out.empty() ? "none known" : out;
}

std::string why(const Machine& m, const Session& session) {
  if (!session.isa_source.empty() && session.isa != "auto") return "asked for by " + session.isa_source;
  return m.isas.size() == 1 ? "the only one there are kernels for" : "the best this CPU has";
}

std::string limit(int64_t bytes) { return bytes ? human_bytes(bytes) : "none"; }

std::string load_words(const Machine& m, const Load& load) {
  std::string out = fmt::format("other work takes {:.1f} of {} core{}", load.taken, m.cores, m.cores == 1 ? "" : "s");
  if (m.load_average >= 0) out += fmt::format("; {:.2f} at work or waiting in the last minute", m.load_average);
  if (m.waiting >= 0)
    out += fmt::format("; somebody waited for a core in {:.0f} % of the last ten seconds", 100 * m.waiting);
  return out;
}

Record as_record(const Machine& m, const Load& load, const Session& session) {
  List warnings;
  for (const auto& w : m.warnings) warnings.push_back(Record{{"text", w.text}, {"fix", w.fix}});
  return {{"cpu", m.cpu},
          {"features", m.features},
          {"isa", m.isa},
          {"isa_reason", why(m, session)},
          {"isas", m.isas},
          {"fma", m.fma},
          {"cores", m.cores},
          {"cores_allowed", m.cores_allowed},
          {"cpu_quota", m.cpu_quota},
          {"threads", session.thread_count()},
          {"memory", m.memory},
          {"memory_available", m.memory_available},
          {"memory_limit", m.memory_limit},
          {"address_space_limit", m.address_space_limit},
          {"huge_pages", m.huge_pages},
          {"folder", m.folder},
          {"disk_free", m.disk_free},
          {"folder_writable", m.folder_writable},
          {"load_average", m.load_average},
          {"waiting", m.waiting},
          {"busy", rounded(load.share(), 3)},
          {"warnings", warnings}};
}

std::string as_text(const Machine& m, const Load& load, const Session& session) {
  std::string out;
  const auto line = [&](const char* name, const std::string& text) { out += fmt::format("{:<18}{}\n", name, text); };
  line("CPU", m.cpu);
  line("features", words(m.features));
  line("instruction set", fmt::format("{} ({}; available: {})", m.isa, why(m, session), words(m.isas)));
  line("same bits", m.fma ? "as every machine with fused multiply-add" : "only on machines without fused multiply-add");
  line("cores", fmt::format("{} allowed of {}{}", m.cores_allowed, m.cores,
                            m.cpu_quota > 0 ? fmt::format(", {:.1f} cores' worth of time", m.cpu_quota) : ""));
  line("threads", fmt::format("{}", session.thread_count()));
  line("load", load_words(m, load));
  line("memory", fmt::format("{} free of {}", human_bytes(m.memory_available), human_bytes(m.memory)));
  line("limits",
       fmt::format("container {}, address space (ulimit -v) {}", limit(m.memory_limit), limit(m.address_space_limit)));
  line("huge pages", m.huge_pages);
  line("disk",
       fmt::format("{} free in {}{}", human_bytes(m.disk_free), m.folder == "." ? "the current folder" : m.folder,
                   m.folder_writable ? "" : ", not writable"));
  out += "\n";
  for (const auto& w : m.warnings) out += fmt::format("warning: {}\n  fix: {}\n", w.text, w.fix);
  if (m.warnings.empty()) out += "Nothing stands in the way.\n";
  return out;
}

}  // namespace

void add_doctor(CLI::App& app, Session& session) {
  CLI::App* command = add_command(app, session, "doctor", "what this machine offers and what may go wrong",
                                  "  attune doctor\n"
                                  "  attune doctor --json | jq .warnings");
  command->group("This machine");
  set_work(command, session, [&session] {
    Machine m = describe_machine();
    const Load load = watch_load();
    if (load.busy())
      m.warnings.push_back({fmt::format("other work takes about {:.1f} of {} core{}: training takes longer than it "
                                        "should, and times that are measured now are too high",
                                        load.taken, load.cores, load.cores == 1 ? "" : "s"),
                            "end what else is running, or measure later"});
    print(session.json ? to_json(as_record(m, load, session)) + "\n" : as_text(m, load, session));
  });
}

}  // namespace attune::cli
