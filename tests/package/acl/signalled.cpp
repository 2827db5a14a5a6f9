// SPDX-License-Identifier: Apache-2.0
// What streams wait for beside events: notifies, values in memory, functions of the program; and
// work that is given up.
#include <thread>

#include "spin.h"

namespace {

aclrtFuncHandle spin_kernel;
uint32_t* word;  // on the card

uint32_t read_word() {
  uint32_t value = 0;
  OK(aclrtMemcpy(&value, sizeof value, word, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  return value;
}

// A wait takes the notify back: the second record is for the second wait.
void notifies() {
  aclrtStream first = new_stream(), second = new_stream();
  aclrtNotify notify = nullptr, other = nullptr;
  uint32_t id = 0, next = 0;
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtCreateNotify(&notify, 0));
  OK(aclrtCreateNotify(&other, 0));
  OK(aclrtGetNotifyId(notify, &id));
  OK(aclrtGetNotifyId(other, &next));
  REQUIRE(id != next);
  for (uint32_t round = 1; round <= 2; ++round) {
    OK(aclrtWaitAndResetNotify(notify, second, 0));
    OK(aclrtMemsetD32Async(word, sizeof *word, round, 1, second));
    spin(spin_kernel, first, 200);
    OK(aclrtStreamQuery(second, &status));
    REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
    OK(aclrtRecordNotify(notify, first));
    OK(aclrtSynchronizeStream(second));
    REQUIRE(read_word() == round);
  }
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, (aclrtWaitAndResetNotify(notify, second, 0),
                                            aclrtSynchronizeStreamWithTimeout(second, 1)));
  OK(aclrtRecordNotify(notify, first));
  OK(aclrtSynchronizeStream(second));
  // A record that is taken back, and a wait that ends after a second.
  aclrtNotify both[2] = {notify, other};
  OK(aclrtRecordNotify(notify, first));
  OK(aclrtSynchronizeStream(first));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclrtNotifyBatchReset(both, 0));
  OK(aclrtNotifyBatchReset(both, 2));
  OK(aclrtWaitAndResetNotify(notify, second, 1));
  EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(second, 999));
  REQUIRE(aclrtSynchronizeStreamWithTimeout(second, 2) != ACL_ERROR_RT_STREAM_SYNC_TIMEOUT);
  OK(aclrtDestroyNotify(notify));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordNotify(notify, first));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtNotifyBatchReset(both, 1));
  OK(aclrtDestroyNotify(other));
  OK(aclrtDestroyStream(first));
  OK(aclrtDestroyStream(second));
}

// What is behind a wait for a value runs when the other stream has written it.
void values() {
  aclrtStream waits = new_stream(), writes = new_stream();
  auto* const value = static_cast<uint64_t*>(device_memory(64));
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
  OK(aclrtMemset(value, 64, 0, 64));
  OK(aclrtMemsetD32(word, sizeof *word, 0, 1));
  const struct {
    uint32_t flag;
    uint64_t wanted, less, written;  // `less` does not do
  } kCases[] = {{ACL_STREAM_WAIT_VALUE_EQ, 100, 99, 100},
                {ACL_STREAM_WAIT_VALUE_GEQ, 200, 150, 201},
                {ACL_STREAM_WAIT_VALUE_AND, 0x4, 0x3, 0x6},
                {ACL_STREAM_WAIT_VALUE_NOR, ~0xFULL, 0xF, 0x7}};
  uint32_t round = 0;
  for (const auto& each : kCases) {
    ++round;
    OK(aclrtValueWrite(value, each.less, 0, writes));
    OK(aclrtSynchronizeStream(writes));
    OK(aclrtValueWait(value, each.wanted, each.flag, waits));
    OK(aclrtMemsetD32Async(word, sizeof *word, round, 1, waits));
    EXPECT(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waits, 2));
    REQUIRE(read_word() == round - 1);
    OK(aclrtStreamQuery(waits, &status));
    REQUIRE(status == ACL_STREAM_STATUS_NOT_READY);
    OK(aclrtValueWrite(value, each.written, 0, writes));
    OK(aclrtSynchronizeStream(waits));
    REQUIRE(read_word() == round);
  }
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtValueWrite(reinterpret_cast<char*>(value) + 4, 1, 0, writes));
  OK(aclrtDestroyStream(waits));
  OK(aclrtDestroyStream(writes));
  OK(aclrtFree(value));
}

struct Seen {
  aclrtStream stream;
  std::thread::id by;
  int calls = 0;
  aclrtStreamStatus status = ACL_STREAM_STATUS_COMPLETE;
};
void look(void* data) {
  auto& seen = *static_cast<Seen*>(data);
  OK(aclrtStreamQuery(seen.stream, &seen.status));
  seen.by = std::this_thread::get_id();
  ++seen.calls;
}

// The stream waits for the function, whoever runs it.
void functions() {
  Seen seen;
  seen.stream = new_stream();
  for (int i = 0; i < 3; ++i) {
    spin(spin_kernel, seen.stream, 50);
    OK(aclrtLaunchHostFunc(seen.stream, look, &seen));
  }
  OK(aclrtSynchronizeStream(seen.stream));
  REQUIRE(seen.calls == 3 && seen.status == ACL_STREAM_STATUS_NOT_READY);
  REQUIRE(seen.by != std::this_thread::get_id());
  aclrtContext context = nullptr;
  OK(aclrtGetCurrentContext(&context));
  std::thread server([context] {
    OK(aclrtSetCurrentContext(context));
    OK(aclrtProcessHostFunc(-1));
  });
  const auto id = server.get_id();
  const auto number = static_cast<uint64_t>(server.native_handle());
  OK(aclrtSubscribeHostFunc(number, seen.stream));
  OK(aclrtLaunchHostFunc(seen.stream, look, &seen));
  OK(aclrtSynchronizeStream(seen.stream));
  server.join();
  REQUIRE(seen.calls == 4 && seen.by == id);
  OK(aclrtUnSubscribeHostFunc(number, seen.stream));
  OK(aclrtDestroyStream(seen.stream));
}

// What waits behind the kernel never runs; what comes later does.
void aborts() {
  aclrtStream stream = new_stream();
  OK(aclrtMemsetD32(word, sizeof *word, 7, 1));
  aclrtNotify never = nullptr;
  OK(aclrtCreateNotify(&never, 0));
  OK(aclrtWaitAndResetNotify(never, stream, 0));
  OK(aclrtMemsetD32Async(word, sizeof *word, 8, 1, stream));
  OK(aclrtStreamAbort(stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(read_word() == 7);
  OK(aclrtMemsetD32Async(word, sizeof *word, 9, 1, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(read_word() == 9);
  OK(aclrtDestroyNotify(never));
  OK(aclrtDestroyStream(stream));
}

// What runs is stopped, which the next wait tells.
void stops() {
  aclrtStream stream = new_stream();
  REQUIRE(aclrtStreamStop(stream) == ACL_ERROR_RT_FEATURE_NOT_SUPPORT);
  REQUIRE(aclrtStreamStop(nullptr) == ACL_ERROR_INVALID_PARAM);
  OK(aclrtDestroyStream(stream));
  OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_DEVICE_USE_ONLY));
  OK(aclrtStreamStop(stream));
  OK(aclrtSynchronizeStream(stream));
  aclrtNotify never = nullptr;
  OK(aclrtCreateNotify(&never, 0));
  OK(aclrtWaitAndResetNotify(never, stream, 0));
  OK(aclrtStreamStop(stream));
  REQUIRE(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_INTERNAL_ERROR);
  OK(aclrtMemsetD32Async(word, sizeof *word, 10, 1, stream));
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(read_word() == 10);
  OK(aclrtDestroyNotify(never));
  OK(aclrtDestroyStream(stream));
}

void reduces() {
  aclrtStream stream = new_stream();
  const float a[4] = {1, 2, 3, 4}, b[4] = {4, 1, 8, -2};
  float got[4] = {};
  void *to = device_memory(sizeof a), *from = device_memory(sizeof b);
  const struct {
    aclrtReduceKind kind;
    float wanted[4];
  } kCases[] = {{ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, {5, 3, 11, 2}},
                {ACL_RT_MEMCPY_SDMA_AUTOMATIC_MAX, {4, 2, 8, 4}},
                {ACL_RT_MEMCPY_SDMA_AUTOMATIC_MIN, {1, 1, 3, -2}}};
  for (const auto& each : kCases) {
    OK(aclrtMemcpy(to, sizeof a, a, sizeof a, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy(from, sizeof b, b, sizeof b, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtReduceAsync(to, from, sizeof a, each.kind, ACL_FLOAT, stream, nullptr));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(got, sizeof got, to, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < 4; ++i) REQUIRE(got[i] == each.wanted[i]);
  }
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtReduceAsync(to, from, sizeof a, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT64, stream,
                          nullptr));
  OK(aclrtFree(to));
  OK(aclrtFree(from));
  OK(aclrtDestroyStream(stream));
}

}  // namespace

int main() {
  open_device();
  spin_kernel = built_in("spin");
  word = static_cast<uint32_t*>(device_memory(64));
  notifies();
  values();
  functions();
  aborts();
  stops();
  reduces();
  OK(aclrtFree(word));
  return end_right();
}
