// SPDX-License-Identifier: Apache-2.0
// Work that is recorded and run again: what a run does and when, several streams, events outside,
// who may work at once meanwhile, and what each misuse says.
#include <initializer_list>
#include <thread>

#include "spin.h"

namespace {

aclrtFuncHandle spin_kernel;
uint32_t* word;  // on the card

uint32_t read_word(size_t at = 0) {
  uint32_t value = 0;
  OK(aclrtMemcpy(&value, sizeof value, word + at, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
  return value;
}

aclmdlRI ended(aclrtStream stream) {
  aclmdlRI model = nullptr;
  OK(aclmdlRICaptureEnd(stream, &model));
  return model;
}

// Pinned memory is read when a run comes to it, ordinary memory when it is captured.
void runs_again() {
  aclrtStream stream = new_stream(), other = new_stream();
  auto* const pinned = static_cast<uint32_t*>(pinned_memory(4096));
  const uint32_t zeros[4] = {};
  OK(aclrtMemcpy(word, sizeof zeros, zeros, sizeof zeros, ACL_MEMCPY_HOST_TO_DEVICE));
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRI before = nullptr;
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  *pinned = 1;
  OK(aclrtMemcpyAsync(word, 4, pinned, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  spin(spin_kernel, stream, 50);
  OK(aclrtMemcpyAsync(word + 1, 4, word, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  uint32_t ordinary = 9;
  OK(aclrtMemcpyAsync(word + 2, 4, &ordinary, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
  OK(aclmdlRICaptureGetInfo(stream, &status, &before));
  REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE);
  const aclmdlRI model = ended(stream);
  REQUIRE(model == before);
  OK(aclmdlRICaptureGetInfo(stream, &status, nullptr));
  REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_NONE);
  OK(aclrtSynchronizeStream(stream));
  REQUIRE(read_word(0) == 0 && read_word(1) == 0 && read_word(2) == 9);
  for (uint32_t round = 5; round <= 6; ++round) {
    *pinned = round;
    OK(aclmdlRIExecuteAsync(model, round == 5 ? stream : other));
    OK(aclrtSynchronizeStream(round == 5 ? stream : other));
    REQUIRE(read_word(0) == round && read_word(1) == round);
  }
  *pinned = 7;
  OK(aclmdlRIExecute(model, -1));
  REQUIRE(read_word(1) == 7);
  OK(aclmdlRIExecuteAsync(model, stream));  // runs of two streams, one after the other
  OK(aclmdlRIExecuteAsync(model, other));
  OK(aclrtDestroyStream(stream));
  OK(aclrtSynchronizeStream(other));
  OK(aclmdlRIDestroy(model));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIExecuteAsync(model, other));
  OK(aclrtDestroyStream(other));
  OK(aclrtFreeHost(pinned));
}

// Two streams of a model run beside each other, and the first waits for the second.
void joins() {
  aclrtStream first = new_stream(), second = new_stream();
  aclrtEvent fork = new_event(), join = new_event(), begin = new_event(), end = new_event();
  OK(aclrtMemset(word, 8, 0, 8));
  OK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  OK(aclrtRecordEvent(fork, first));
  OK(aclrtStreamWaitEvent(second, fork));
  spin(spin_kernel, first, 200);
  spin(spin_kernel, second, 200);
  OK(aclrtMemsetD32Async(word + 1, 4, 3, 1, second));
  OK(aclrtRecordEvent(join, second));
  OK(aclrtStreamWaitEvent(first, join));
  OK(aclrtMemcpyAsync(word, 4, word + 1, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, first));
  const aclmdlRI model = ended(first);
  for (int round = 0; round < 2; ++round) {
    OK(aclrtMemset(word, 8, 0, 8));
    OK(aclrtRecordEvent(begin, first));
    OK(aclmdlRIExecuteAsync(model, first));
    OK(aclrtRecordEvent(end, first));
    OK(aclrtSynchronizeStream(first));
    float milliseconds = 0;
    OK(aclrtEventElapsedTime(&milliseconds, begin, end));
    REQUIRE(milliseconds >= 0.2F && milliseconds < 0.35F);
    REQUIRE(read_word(0) == 3);
  }
  uint32_t streams = 0;
  aclrtStream listed[2] = {};
  aclmdlRITask tasks[8] = {};
  OK(aclmdlRIGetStreams(model, nullptr, &streams));
  REQUIRE(streams == 2);
  uint32_t room = 1;
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIGetStreams(model, listed, &room));
  OK(aclmdlRIGetStreams(model, listed, &streams));
  uint32_t count = 8, number = 0;
  OK(aclmdlRIGetTasksByStream(listed[1], tasks, &count));
  REQUIRE(count == 4);  // the wait, the kernel, the fill, the record
  aclmdlRITaskType type = ACL_MODEL_RI_TASK_DEFAULT;
  OK(aclmdlRITaskGetType(tasks[1], &type));
  OK(aclmdlRITaskGetSeqId(tasks[1], &number));
  REQUIRE(type == ACL_MODEL_RI_TASK_KERNEL && number == 3);
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIGetTasksByStream(first, nullptr, &count));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlRIDebugJsonPrint(model, "none/at/all", 0));
  OK(aclmdlRIDebugJsonPrint(model, "model.json", ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY));
  OK(aclmdlRIDestroy(model));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRITaskGetSeqId(tasks[1], &number));
  for (const auto event : {fork, join, begin, end}) OK(aclrtDestroyEvent(event));
  for (const auto stream : {first, second}) OK(aclrtDestroyStream(stream));
}

// A fault of a stream of the model's own is told by the stream of the run, each time.
void faults() {
  aclrtStream first = new_stream(), second = new_stream();
  aclrtEvent fork = new_event(), join = new_event();
  const npusim_elementwise_args bad = {0x7000000000000, 0x7000000000000, 0, 1000, ACL_FLOAT};
  const auto exp = built_in("exp");
  OK(aclmdlRICaptureBegin(first, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  OK(aclrtRecordEvent(fork, first));
  OK(aclrtStreamWaitEvent(second, fork));
  OK(aclrtLaunchKernel(exp, 1, &bad, sizeof bad, second));
  OK(aclrtRecordEvent(join, second));
  OK(aclrtStreamWaitEvent(first, join));
  const aclmdlRI model = ended(first);
  for (int round = 0; round < 2; ++round) {
    OK(aclmdlRIExecuteAsync(model, first));
    EXPECT(ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, aclrtSynchronizeStream(first));
    OK(aclrtSynchronizeStream(first));
  }
  OK(aclrtSynchronizeStream(second));
  OK(aclmdlRIDestroy(model));
  for (const auto event : {fork, join}) OK(aclrtDestroyEvent(event));
  for (const auto stream : {first, second}) OK(aclrtDestroyStream(stream));
}

// A run waits for an event that another stream records, and records one that it waits for.
void events_outside() {
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtEvent before = new_event(), behind = new_event();
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
         aclrtStreamWaitEventWithFlag(stream, before, 5, ACL_EVENT_WAIT_EXTERNAL));
  OK(aclrtStreamWaitEventWithFlag(stream, before, 0, ACL_EVENT_WAIT_EXTERNAL));
  OK(aclrtMemcpyAsync(word + 1, 4, word, 4, ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
  OK(aclrtRecordEventWithFlag(behind, stream, ACL_EVENT_RECORD_EXTERNAL));
  const aclmdlRI model = ended(stream);
  for (uint32_t round = 1; round <= 2; ++round) {
    spin(spin_kernel, other, 100);
    OK(aclrtMemsetD32Async(word, 4, round, 1, other));
    OK(aclrtRecordEvent(before, other));
    OK(aclmdlRIExecuteAsync(model, stream));
    OK(aclrtSynchronizeEvent(behind));
    REQUIRE(read_word(1) == round);
  }
  OK(aclmdlRIDestroy(model));
  for (const auto event : {before, behind}) OK(aclrtDestroyEvent(event));
  for (const auto each : {stream, other}) OK(aclrtDestroyStream(each));
}

aclError copies_at_once(bool exchanges, aclmdlRICaptureMode mode) {
  uint32_t value = 0;
  if (exchanges) OK(aclmdlRICaptureThreadExchangeMode(&mode));
  const aclError status = aclrtMemcpy(&value, 4, word, 4, ACL_MEMCPY_DEVICE_TO_HOST);
  if (exchanges) OK(aclmdlRICaptureThreadExchangeMode(&mode));
  return status;
}

void who_may_work() {
  constexpr auto kGlobal = ACL_MODEL_RI_CAPTURE_MODE_GLOBAL;
  constexpr auto kThread = ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
  constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  constexpr aclError kNo = ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT;
  const struct {
    aclmdlRICaptureMode captures;
    bool exchanges;
    aclmdlRICaptureMode own;
    aclError here, there;
  } cases[] = {{kGlobal, false, kGlobal, kNo, kNo}, {kGlobal, true, kThread, kNo, 0},
               {kGlobal, true, kRelaxed, 0, 0},     {kThread, false, kGlobal, kNo, 0},
               {kThread, true, kRelaxed, 0, 0},     {kRelaxed, false, kGlobal, 0, 0}};
  aclrtStream stream = new_stream();
  for (const auto& each : cases) {
    OK(aclmdlRICaptureBegin(stream, each.captures));
    EXPECT(each.here, copies_at_once(each.exchanges, each.own));
    aclError there = -1;
    std::thread([&] {
      OK(aclrtSetDevice(0));
      there = copies_at_once(each.exchanges, each.own);
    }).join();
    REQUIRE(there == each.there);
    uint32_t value = 0;
    if (!each.exchanges) {
      EXPECT(each.here, aclrtMemcpyAsync(word, 4, &value, 4, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    }
    OK(aclmdlRIDestroy(ended(stream)));
  }
  OK(aclrtDestroyStream(stream));
}

void misuse() {
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtEvent event = new_event();
  aclmdlRI model = nullptr, info = nullptr;
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclrtStreamStatus done = ACL_STREAM_STATUS_COMPLETE;
  constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT, aclmdlRICaptureBegin(nullptr, kRelaxed));
  EXPECT(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureEnd(stream, &model));
  OK(aclmdlRICaptureBegin(stream, kRelaxed));
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURED, aclmdlRICaptureBegin(stream, kRelaxed));
  EXPECT(ACL_ERROR_RT_CAPTURE_DEPENDENCY, aclrtStreamWaitEvent(stream, event));
  OK(aclmdlRICaptureGetInfo(stream, &status, &info));
  EXPECT(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIExecuteAsync(info, other));
  EXPECT(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDestroy(info));
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURED, aclrtStreamQuery(stream, &done));
  OK(aclmdlRICaptureGetInfo(stream, &status, &info));
  REQUIRE(status == ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED);
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclrtMemsetAsync(word, 4, 0, 4, stream));
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd(stream, &model));
  OK(aclrtSynchronizeStream(stream));  // it runs again

  OK(aclmdlRICaptureBegin(stream, kRelaxed));
  OK(aclrtRecordEvent(event, stream));
  EXPECT(ACL_ERROR_RT_EVENT_CAPTURED, aclrtSynchronizeEvent(event));
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED, aclmdlRICaptureEnd(stream, &model));

  OK(aclmdlRICaptureBegin(stream, kRelaxed));  // nobody waits for the other stream
  OK(aclrtRecordEvent(event, stream));
  OK(aclrtStreamWaitEvent(other, event));
  EXPECT(ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED, aclmdlRICaptureEnd(other, &model));
  EXPECT(ACL_ERROR_RT_STREAM_UNJOINED, aclmdlRICaptureEnd(stream, &model));

  OK(aclmdlRICaptureBegin(stream, kRelaxed));
  OK(aclmdlRICaptureBegin(other, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
  OK(aclrtRecordEvent(event, stream));
  EXPECT(ACL_ERROR_STREAM_CAPTURE_CONFLICT, aclrtStreamWaitEvent(other, event));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtLaunchHostFunc(
                                               stream, [](void*) {}, nullptr));
  aclError there = ACL_SUCCESS;
  std::thread([&] {
    OK(aclrtSetDevice(0));
    there = aclmdlRICaptureEnd(other, &model);
  }).join();
  REQUIRE(there == ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD);
  OK(aclmdlRIDestroy(ended(other)));
  OK(aclrtDestroyStream(stream));  // with its capture
  OK(aclrtDestroyStream(other));
  OK(aclrtDestroyEvent(event));
}

}  // namespace

int main() {
  open_device();
  word = static_cast<uint32_t*>(device_memory(64));
  spin_kernel = built_in("spin");
  runs_again();
  joins();
  faults();
  events_outside();
  who_may_work();
  misuse();
  OK(aclrtFree(word));
  return end_right();
}
