// Between flat memory and files: the parameters of a model and averaged weights as named tensors.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "autograd/parameters.h"
#include "checkpoint/safetensors.h"

namespace attune {

class ThreadPool;

/// Every parameter, as it lies in the flat block `data` (the parameters' own unless given), under its name + `suffix`.
StoredTensors tensors_of(const Parameters& parameters, float* data = nullptr, const std::string& suffix = "");

/// Reads a file into the memory that `into` points to. The file must hold these tensors and no others, of these types
/// and shapes; otherwise one ErrorKind::model names the tensor, and no memory is touched.
void load_tensors(const std::string& path, const StoredTensors& into);
/// Whether the file has all parameters, of these shapes, whatever their types: asked before they are allocated, it
/// keeps a recipe that was changed from taking memory for a model that is not there. ErrorKind::model as load_tensors.
void check_declared(const std::string& path, const Parameters& parameters);
/// The same for the parameters of a model, made ready for use (repacked). The file may hold f16 or bf16 too, which are
/// widened, or int8 with scales: the parameters then hold int8 (Parameters::hold_int8) and can't be trained.
/// ErrorKind::model, too, for weights that are not numbers.
void load_parameters(const std::string& path, Parameters& parameters, ThreadPool* pool = nullptr);

/// ErrorKind::model where one of the file's tensors is not all numbers: read one after another, and kept nowhere.
void check_finite(const SafetensorsFile& file);

/// Weights without a model around them.
struct Weights {
  struct One {
    std::vector<int64_t> dims;
    std::vector<float> values;
  };
  std::map<std::string, One> by_name;
};
StoredTensors tensors_of(Weights& weights);

/// The mean of the weights in several files of the same tensors, summed in double in the order of the paths' names:
/// the same files give the same bits, whatever order they are listed in. Takes memory for one result, however many.
Weights average_weights(std::vector<std::string> paths);

}  // namespace attune
