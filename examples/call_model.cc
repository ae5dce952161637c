// Loads a SavedModel, of Rheos or of TensorFlow, and calls a signature with ones; call_model.c in
// C++, without exceptions:
//
//   call_model_cpp FOLDER [SIGNATURE]
#define RHEOS_NO_EXCEPTIONS
#include <rheos/rheos.hpp>

#include <cstdio>

// Ones of the argument's dtype and shape, 1 for dimensions that it leaves open.
static rheos::Result<rheos::Tensor> ones_for(const rheos_tensor_info &info) {
  if (info.dtype != RHEOS_FLOAT) {
    return rheos::Status(RHEOS_UNIMPLEMENTED, std::string(info.key) + " is not of floats");
  }
  rheos::Shape shape = info.shape.rank < 0 ? rheos::Shape() : rheos::Shape(info.shape);
  for (int32_t d = 0; d < shape.rank; d++) {
    if (shape.dims[d] < 0) shape.dims[d] = 1;
  }
  rheos::Result<rheos::Tensor> ones = rheos::Tensor::make(RHEOS_FLOAT, shape);
  if (!ones) return ones;
  for (float &value : ones->values<float>()) value = 1;
  return ones;
}

static void print(const char *name, const rheos::Tensor &tensor) {
  std::printf("%s: %s%s", name, rheos::dtype_name(tensor.dtype()), tensor.shape().format().c_str());
  if (tensor.dtype() == RHEOS_FLOAT) {
    const auto values = tensor.values<float>();
    for (size_t i = 0; i < values.size() && i < 8; i++) {
      std::printf(" %g", static_cast<double>(values[i]));
    }
  }
  std::printf("\n");
}

static rheos::Status load_and_call(const char *folder, const char *key) {
  rheos::Result<rheos::SavedModel> model = rheos::SavedModel::load(folder);
  if (!model) return model.take_status();
  const rheos_signature_def *signature = model->meta_graph().signature(key);
  if (signature == nullptr) {
    return rheos::Status(RHEOS_NOT_FOUND, std::string("there is no signature ") + key);
  }
  std::vector<rheos::Tensor> values;  // the inputs below borrow them
  std::vector<rheos::NamedTensor> inputs;
  std::vector<const char *> outputs;
  for (size_t i = 0; i < signature->num_inputs; i++) {
    rheos::Result<rheos::Tensor> ones = ones_for(signature->inputs[i]);
    if (!ones) return ones.take_status();
    values.push_back(*ones);
    inputs.emplace_back(signature->inputs[i].key, values.back());
  }
  for (size_t i = 0; i < signature->num_outputs; i++) outputs.push_back(signature->outputs[i].key);
  rheos::Result<std::vector<rheos::Tensor>> results = model->call(key, inputs, outputs);
  if (!results) return results.take_status();
  for (size_t i = 0; i < outputs.size(); i++) print(outputs[i], (*results)[i]);
  return {};
}

int main(int argc, char **argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: call_model_cpp FOLDER [SIGNATURE]\n");
    return 2;
  }
  const rheos::Status status = load_and_call(argv[1], argc > 2 ? argv[2] : "serving_default");
  if (!status.ok()) std::fprintf(stderr, "call_model: %s\n", status.message());
  return status.ok() ? 0 : 1;
}
