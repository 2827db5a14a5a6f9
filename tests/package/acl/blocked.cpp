// SPDX-License-Identifier: Apache-2.0
// Launches that return when the stream's work has ended: by the environment, by the stream's mode,
// and not between the begin and the end of a section.
#include <acl/npusim_kernels.h>

#include <cstdlib>
#include <initializer_list>

#include "check.h"

namespace {

constexpr uint32_t kCount = 1 << 20;

struct Adder {
  aclrtFuncHandle add = nullptr;
  npusim_elementwise_args args = {};
  aclrtStream stream = nullptr;

  aclError launch() const { return aclrtLaunchKernel(add, 8, &args, sizeof args, stream); }
  bool has_ended() const {
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    OK(aclrtStreamQuery(stream, &status));
    return status == ACL_STREAM_STATUS_COMPLETE;
  }
  void expect(bool blocks) const {
    OK(launch());
    REQUIRE(has_ended() == blocks);
    OK(aclrtSynchronizeStream(stream));
  }
  void set(uint32_t mode) const {
    aclrtStreamAttrValue value = {};
    value.launchBlockingMode = mode;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_LAUNCH_BLOCKING_MODE, &value));
    value.launchBlockingMode = 9;
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_LAUNCH_BLOCKING_MODE, &value));
    REQUIRE(value.launchBlockingMode == mode);
  }
};

void sections(const Adder& adder) {
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNonBlockingLaunchEnd(adder.stream, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNonBlockingLaunchBegin(adder.stream, 1));
  OK(aclrtNonBlockingLaunchBegin(adder.stream, 0));
  OK(aclrtNonBlockingLaunchBegin(adder.stream, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNonBlockingLaunchEnd(adder.stream, 1));
  adder.expect(false);
  OK(adder.launch());
  OK(aclrtNonBlockingLaunchEnd(adder.stream, 0));
  REQUIRE(!adder.has_ended());
  OK(aclrtNonBlockingLaunchEnd(adder.stream, 0));
  REQUIRE(adder.has_ended());
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtNonBlockingLaunchEnd(adder.stream, 0));
  adder.expect(true);
}

// What is recorded does not run, so nothing waits for it; runs do.
void models(const Adder& adder) {
  aclmdlRI model = nullptr;
  OK(aclmdlRICaptureBegin(adder.stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
  OK(adder.launch());
  OK(aclmdlRICaptureEnd(adder.stream, &model));
  OK(aclmdlRIExecuteAsync(model, adder.stream));
  REQUIRE(adder.has_ended());
  adder.set(ACL_STREAM_LAUNCH_BLOCKING_MODE_NON_BLOCKING);
  OK(aclmdlRIExecuteAsync(model, adder.stream));
  REQUIRE(!adder.has_ended());
  OK(aclrtSynchronizeStream(adder.stream));
  OK(aclmdlRIDestroy(model));
}

}  // namespace

int main() {
  REQUIRE(setenv("ASCEND_RT_LAUNCH_BLOCKING", "1", 1) == 0);
  open_device();
  const size_t size = kCount * sizeof(float);
  aclrtBinHandle binary = nullptr;
  Adder adder;
  OK(aclrtBinaryLoadFromFile(NPUSIM_BUILT_IN, nullptr, &binary));
  OK(aclrtBinaryGetFunction(binary, "add", &adder.add));
  auto* const memory = device_memory(size);
  OK(aclrtMemset(memory, size, 0, size));
  const auto address = reinterpret_cast<uint64_t>(memory);
  adder.args = {address, address, address, kCount, ACL_FLOAT};
  for (aclrtStream stream : {new_stream(), static_cast<aclrtStream>(nullptr)}) {
    adder.stream = stream;
    adder.expect(true);
    adder.set(ACL_STREAM_LAUNCH_BLOCKING_MODE_NON_BLOCKING);
    adder.expect(false);
    adder.set(ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING);
    adder.expect(true);
    adder.set(ACL_STREAM_LAUNCH_BLOCKING_MODE_CTRL_BY_ENV);
    sections(adder);
    aclrtStreamAttrValue wrong = {};
    wrong.launchBlockingMode = 3;
    EXPECT(ACL_ERROR_RT_PARAM_INVALID,
           aclrtSetStreamAttribute(stream, ACL_STREAM_LAUNCH_BLOCKING_MODE, &wrong));
    if (stream != nullptr) models(adder);
  }
  // A fault is the launch's.
  adder.args.a = 0x10;
  const aclError fault = adder.launch();
  REQUIRE(fault != ACL_SUCCESS && fault != ACL_ERROR_RT_PARAM_INVALID);
  return end_right();
}
