// SPDX-License-Identifier: Apache-2.0
// What kernels print comes out where the program waits, in the order of launches and blocks.
#include "prints.hpp"

#include "program.hpp"

namespace {

// A kernel that does not print is launched beside others as ever: no launch waits for it, and it is
// captured, which those that print are not.
void say_nothing_beside(aclrtStream stream, aclrtStream gate, std::int32_t* to) {
  aclrtNotify notify = nullptr;
  aclmdlRI model = nullptr;
  aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
  std::int32_t word = 0;
  const auto value = [&] {
    OK(aclrtMemcpy(&word, sizeof word, to, sizeof word, ACL_MEMCPY_DEVICE_TO_HOST));
    return word;
  };
  OK(aclrtCreateNotify(&notify, 0));
  OK(aclrtWaitAndResetNotify(notify, stream, 60));
  OK(say_nothing(stream, to, 20));
  OK(aclrtStreamQuery(stream, &status));
  REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
  OK(aclrtRecordNotify(notify, gate));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(value() == 20);
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  EXPECT(ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT, say_it(1, stream, to, 1));
  OK(say_nothing(stream, to, 30));
  OK(aclmdlRICaptureEnd(stream, &model));
  OK(aclmdlRIExecute(model, 5000));
  REQUIRE(value() == 30);
  OK(aclmdlRIDestroy(model));
  OK(aclrtDestroyNotify(notify));
}

}  // namespace

int main() {
  for (int turn = 0; turn < 2; ++turn) {  // the second one behind a reset of the device
    OK(aclInit(nullptr));
    OK(aclrtSetDevice(0));
    aclrtStream stream = nullptr, other = nullptr;
    OK(aclrtCreateStream(&stream));
    OK(aclrtCreateStream(&other));
    std::vector<std::int32_t> words(3 * 16);
    void* address = nullptr;
    OK(aclrtMalloc(&address, words.size() * 4, ACL_MEM_MALLOC_HUGE_FIRST));
    auto* const to = static_cast<std::int32_t*>(address);
    OK(say_it(2, stream, to, 7));
    OK(say_it(1, stream, to, 8));
    OK(say_it(1, other, to + 32, 9));
    // A launch that prints has ended.
    OK(aclrtMemcpy(words.data(), words.size() * 4, to, words.size() * 4,
                   ACL_MEMCPY_DEVICE_TO_HOST));
    REQUIRE(words[0] == 8 && words[16] == 7 && words[32] == 9);
    std::puts("launched");
    OK(aclrtSynchronizeStream(stream));
    say_nothing_beside(stream, other, to);
    std::puts("first");
    OK(aclrtDestroyStreamForce(other));
    std::puts("second");
    OK(say_it(1, nullptr, to, 10));
    OK(aclrtSynchronizeDevice());
    OK(fail(stream, to));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(stream));
    REQUIRE(std::strstr(aclGetRecentErrMsg(), "code 42436") != nullptr);
    REQUIRE(aclGetRecentErrMsg() == nullptr);
    if (turn == 1) OK(say_often(stream, 350));
    OK(aclrtResetDeviceForce(0));
    OK(aclFinalize());
  }
  std::puts("right");
}
