// SPDX-License-Identifier: Apache-2.0
// Single operators: launches of npusim's kernels by the runtime.
#include <acl/acl_op.h>
#include <runtime/kernel.h>
#include <runtime/npusim_rt.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <string>

#include "apps/compat/acl/operator_kernels.hpp"
#include "apps/compat/acl/refused.hpp"
#include "apps/compat/protocol/operator_messages.hpp"

namespace npu::compat {
namespace {

// Handles of the kernels, as far as they have been asked for; a child of fork() has none of its
// parent's. Left alone at the process' end: threads may still be in calls.
struct Kernels {
  std::mutex lock;
  pid_t process = 0;
  void* binary = nullptr;
  std::map<std::string, rtFuncHandle> functions;
};
Kernels& kernels() {
  static Kernels* const kKernels = new Kernels;
  return *kKernels;
}

// `fresh`: those that are known have gone, with the program's aclFinalize().
aclError find(const char* name, bool fresh, rtFuncHandle* function) {
  auto& all = kernels();
  const std::lock_guard<std::mutex> held(all.lock);
  if (fresh || all.process != ::getpid()) {
    all.functions.clear();
    all.binary = nullptr;
    all.process = ::getpid();
  }
  if (all.binary == nullptr) {
    const rtDevBinary_t built_in = {NPUSIM_RT_MAGIC_BUILT_IN, 0, nullptr, 0};
    const aclError failed = rtDevBinaryRegister(&built_in, &all.binary);
    if (failed != ACL_SUCCESS) return failed;
  }
  auto& known = all.functions[name];
  if (known == nullptr) {
    const aclError failed = rtsFuncGetByName(all.binary, name, &known);
    if (failed != ACL_SUCCESS) return failed;
  }
  *function = known;
  return ACL_SUCCESS;
}

}  // namespace

aclError run(OperatorLaunch& launch, void* stream) {
  constexpr std::uint32_t kAllCores = 65535;  // those that the stream may use
  rtArgsEx_t args = {};
  args.args = launch.arguments.data();
  args.argsSize = static_cast<std::uint32_t>(launch.arguments.size());
  for (const bool fresh : {false, true}) {
    rtFuncHandle function = nullptr;
    if (const auto failed = find(launch.kernel, fresh, &function); failed != ACL_SUCCESS) {
      if (failed == ACL_ERROR_RT_INVALID_HANDLE && !fresh) continue;
      return failed;
    }
    const aclError status =
        rtKernelLaunchWithHandleV2(function, 0, kAllCores, &args, nullptr, stream, nullptr);
    if (status != ACL_ERROR_RT_INVALID_HANDLE || fresh) return status;
  }
  return ACL_ERROR_RT_INVALID_HANDLE;
}

namespace {

npusimRtTensor tensor_of(const aclTensorDesc& tensor, const aclDataBuffer& buffer) {
  npusimRtTensor all = {};
  all.data = buffer.data;
  all.bytes = buffer.size;
  all.type = static_cast<std::uint32_t>(tensor.type);
  all.dimensions = static_cast<std::uint32_t>(tensor.sizes.size());
  std::copy_n(tensor.sizes.begin(), std::min(tensor.sizes.size(), std::size(all.sides)), all.sides);
  return all;
}

// Tensors of one's own operators lie row by row. Empty: they do.
std::string check_formats(const std::string& name, const char* what,
                          const std::vector<const aclTensorDesc*>& tensors) {
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (is_plain(tensors[i])) continue;
    return name + ": " + what + " " + std::to_string(i) + ": found format " +
           std::to_string(tensors[i]->format) +
           "; allowed: ACL_FORMAT_ND, ACL_FORMAT_NCHW, ACL_FORMAT_NHWC";
  }
  return {};
}

// One that npusim compiles on demand.
aclError run_own(const OperatorCall& call, rtStream_t stream) {
  npusimRtOperator wanted = {};
  const std::string name(call.name);
  wanted.name = name.c_str();
  wanted.epsilon = 1e-6F;
  wanted.scale = 1;
  if (call.attributes != nullptr) {
    for (const auto& [key, set] : call.attributes->is_set) {
      const auto number = call.attributes->numbers.find(key);
      float* const to = key == "epsilon" ? &wanted.epsilon
                        : key == "scale" ? &wanted.scale
                        : key == "value" ? &wanted.value
                                         : nullptr;
      if (to == nullptr) {
        return refused_with(
            ACL_ERROR_OP_ATTR_NOT_MATCH,
            name + ": attribute " + key + ": no such one; allowed: epsilon, scale, value");
      }
      if (number == call.attributes->numbers.end()) {
        return refused_with(ACL_ERROR_OP_ATTR_NOT_MATCH,
                            name + ": attribute " + key +
                                ": found no float; allowed: a float, by aclopSetAttrFloat()");
      }
      *to = number->second;
    }
  }
  if (const auto wrong = check_formats(name, "input", call.input_tensors); !wrong.empty()) {
    return refused_with(ACL_ERROR_OP_INPUT_NOT_MATCH, wrong);
  }
  if (const auto wrong = check_formats(name, "output", call.output_tensors); !wrong.empty()) {
    return refused_with(ACL_ERROR_OP_OUTPUT_NOT_MATCH, wrong);
  }
  std::vector<npusimRtTensor> tensors;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    tensors.push_back(tensor_of(*call.input_tensors[i], *call.inputs[i]));
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    tensors.push_back(tensor_of(*call.output_tensors[i], *call.outputs[i]));
  }
  wanted.tensors = tensors.data();
  wanted.inputs = static_cast<std::uint32_t>(call.inputs.size());
  wanted.results = static_cast<std::uint32_t>(call.outputs.size());
  return npusimRtRunOperator(&wanted, stream);
}

// False: a pointer is null, or no operator has so many.
template <class To, class From>
bool take(std::vector<To>* to, int count, From* from) {
  if ((count != 0 && from == nullptr) || count > static_cast<int>(wire::kMostTensors)) return false;
  to->assign(from, from + count);
  return std::find(to->begin(), to->end(), nullptr) == to->end();
}

bool are_empty(const std::vector<const aclTensorDesc*>& tensors) {
  return !tensors.empty() && std::all_of(tensors.begin(), tensors.end(), [](const auto* tensor) {
    return tensor->elements() == 0;
  });
}

template <class InputTensors, class Inputs, class OutputTensors, class Outputs>
aclError execute(const char* name, int input_count, InputTensors* input_tensors, Inputs* inputs,
                 int output_count, OutputTensors* output_tensors, Outputs* outputs,
                 const aclopAttr* attributes, rtStream_t stream) {
  OperatorCall call;
  if (name == nullptr || input_count < 0 || output_count < 0 ||
      !take(&call.input_tensors, input_count, input_tensors) ||
      !take(&call.output_tensors, output_count, output_tensors)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  if (are_empty(call.output_tensors)) return ACL_SUCCESS;
  if (!take(&call.inputs, input_count, inputs) || !take(&call.outputs, output_count, outputs)) {
    return ACL_ERROR_INVALID_PARAM;
  }
  call.name = name;
  call.attributes = attributes;
  OperatorLaunch launch;
  const aclError wrong = make_launch(call, &launch);
  if (wrong == ACL_ERROR_OP_NOT_FOUND) return run_own(call, stream);
  return wrong != ACL_SUCCESS ? wrong : run(launch, stream);
}

}  // namespace
}  // namespace npu::compat

extern "C" {

aclError aclopExecuteV2(const char* name, int input_count, aclTensorDesc* input_tensors[],
                        aclDataBuffer* inputs[], int output_count, aclTensorDesc* output_tensors[],
                        aclDataBuffer* outputs[], aclopAttr* attributes, void* stream) {
  return npu::compat::execute(name, input_count, input_tensors, inputs, output_count,
                              output_tensors, outputs, attributes, stream);
}

aclError aclopCompileAndExecute(const char* name, int input_count,
                                const aclTensorDesc* const input_tensors[],
                                const aclDataBuffer* const inputs[], int output_count,
                                const aclTensorDesc* const output_tensors[],
                                aclDataBuffer* const outputs[], const aclopAttr* attributes,
                                aclopEngineType engine, aclopCompileType compile, const char* path,
                                void* stream) {
  static_cast<void>(engine);
  static_cast<void>(compile);
  static_cast<void>(path);
  return npu::compat::execute(name, input_count, input_tensors, inputs, output_count,
                              output_tensors, outputs, attributes, stream);
}

}  // extern "C"
