// SPDX-License-Identifier: Apache-2.0
// f = (a + b + 1) (a + b + 2) + (a + b) on the vector cores: the host's function of a ChipCallable.
// Words: a, b, f, then c, d, e, g for what is in between, tensors of fp32; the count of elements.
// Kernel 0 is `elementwise`, whose words are those of kernels/device/shipped.
#include <array>
#include <cstdint>
#include <cstring>

#include "npu/driver/runtime.h"
#include "npu/platform/aicore_port.hpp"

namespace {

using npu::platform::VectorOp;

class Tasks {
 public:
  Tasks(npu_runtime* runtime, std::uint64_t count) : runtime_(runtime), count_(count) {}

  // to = a op b, or a op number.
  void add(VectorOp op, std::uint64_t to, std::uint64_t a, std::uint64_t b, float number = 0) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    const auto type = static_cast<std::uint64_t>(npu::platform::DataType::kFp32);
    const std::uint64_t kind = static_cast<std::uint64_t>(op) << 32 | type;
    const std::array<npu_task_argument, 6> arguments = {{
        {to, NPU_ARGUMENT_OUTPUT, 0, 4 * count_},
        {a, NPU_ARGUMENT_INPUT, 0, 4 * count_},
        {b, b == 0 ? NPU_ARGUMENT_SCALAR : NPU_ARGUMENT_INPUT, 0, b == 0 ? 0 : 4 * count_},
        {count_, NPU_ARGUMENT_SCALAR, 0, 0},
        {kind, NPU_ARGUMENT_SCALAR, 0, 0},
        {bits, NPU_ARGUMENT_SCALAR, 0, 0},
    }};
    const int task = npu_add_task(runtime_, 0, NPU_TASK_AIV, 1, arguments.data(), arguments.size());
    failed_ = failed_ || task < 0;
  }
  bool failed() const { return failed_; }

 private:
  npu_runtime* runtime_;
  std::uint64_t count_;
  bool failed_ = false;
};

}  // namespace

extern "C" NPU_C_API int vector_example(npu_runtime* runtime, const std::uint64_t* words,
                                        std::size_t count) {
  constexpr std::size_t kWords = 8;
  if (count != kWords) return -1;
  const auto a = words[0], b = words[1], f = words[2];
  const auto c = words[3], d = words[4], e = words[5], g = words[6];
  Tasks tasks(runtime, words[7]);
  tasks.add(VectorOp::kAdd, c, a, b);
  tasks.add(VectorOp::kAdds, d, c, 0, 1);
  tasks.add(VectorOp::kAdds, e, c, 0, 2);
  tasks.add(VectorOp::kMul, g, d, e);
  tasks.add(VectorOp::kAdd, f, g, c);
  return tasks.failed() ? -1 : 0;
}
