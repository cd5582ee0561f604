// Small classifiers and taggers that were trained, for tests of the commands.
#pragma once
#include <string>

#include "places.h"
#include "run/small_run.h"

namespace attune::test {

struct AnswerModelMaker {
  TempFolder folder{memory_folder()};

  std::string classifier(const std::string& name = "labels",
                         const std::string& text = "yes\ta b\nno\tb c\nno\tc\nyes\ta\n",
                         const std::string& data = "") const {
    return train(name, "classify", text, data);
  }
  std::string tagger() const {
    return train("tags", "tag", "Ada\tB-PER\nL\tI-PER\nruns\tO\n\nshe\tO\nruns\tO\n\n", "columns = [1, 2]\n");
  }
  std::string train(const std::string& name, const std::string& task, const std::string& text, const std::string& data,
                    const std::vector<std::string>& sets = {}) const {
    const size_t head = data.find("header = true") == data.npos ? 0 : text.find('\n') + 1;
    std::string all = text.substr(0, head);
    for (int i = 0; i < 20; ++i) all += text.substr(head);
    put(folder / name, all);
    put(folder / (name + ".toml"),
        "task = \"" + task + "\"\n[data]\ntrain = [\"" + name + "\"]\nvalid = [\"" + name + "\"]\ntest = [\"" + name +
            "\"]\n" + data +
            "[tokenizer]\nkind = \"word\"\n[model]\nencoder_layers = 1\nd_model = 16\nd_ff = "
            "16\nheads = 2\ndropout = 0.0\n[train]\nbatch_tokens = 256\nwarmup = "
            "5\nlearning_rate = 1e-2\nstop = \"60u\"\naverage = 1\n");
    Trainer({.recipe = folder / (name + ".toml"), .out = folder / (name + "-m"), .sets = sets, .threads = 1}).run();
    return folder / (name + "-m");
  }
};

}  // namespace attune::test
