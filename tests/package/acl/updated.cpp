// SPDX-License-Identifier: Apache-2.0
// Kernels of a model that change between runs, and while a run waits for the change; events that a
// model and other streams share; what each misuse says.
#include <random>
#include <vector>

#include "spin.h"

namespace {

aclrtFuncHandle add_kernel, spin_kernel;
float* values;  // on the card: 1, 2, 4, 8, and then room for results
constexpr size_t kInputs = 4, kWords = 16;

npusim_elementwise_args sum(size_t to, size_t a, size_t b) {
  const auto at = [](size_t word) { return reinterpret_cast<uint64_t>(values + word); };
  return {at(to), at(a), at(b), 1, ACL_FLOAT};
}

void add(aclrtStream stream, const npusim_elementwise_args& words) {
  OK(aclrtLaunchKernel(add_kernel, 1, &words, sizeof words, stream));
}

void reset_values() {
  const float all[kWords] = {1, 2, 4, 8};
  OK(aclrtMemcpy(values, sizeof all, all, sizeof all, ACL_MEMCPY_HOST_TO_DEVICE));
}

float value(size_t word) {
  float read = 0;
  OK(aclrtMemcpy(&read, sizeof read, values + word, sizeof read, ACL_MEMCPY_DEVICE_TO_HOST));
  return read;
}

aclrtEvent external_event() {
  aclrtEvent event = nullptr;
  OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_EXTERNAL));
  return event;
}

struct Captured {
  aclmdlRI model = nullptr;
  aclrtTaskGrp group = nullptr;
};

// Word 8 becomes 1 + 2, and behind the event, if there is one, word 9 becomes word 8 + 4.
Captured capture(aclrtStream stream, aclrtEvent event) {
  Captured made;
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
  add(stream, sum(8, 0, 1));
  if (event != nullptr) {
    OK(aclrtStreamWaitEvent(stream, event));
    OK(aclrtResetEvent(event, stream));
  }
  OK(aclmdlRICaptureTaskGrpBegin(stream));
  add(stream, sum(9, 8, 2));
  OK(aclmdlRICaptureTaskGrpEnd(stream, &made.group));
  OK(aclmdlRICaptureEnd(stream, &made.model));
  return made;
}

// The run is in flight when the kernel behind the event changes, after a while.
void changes_while_a_run_waits() {
  aclrtStream stream = new_stream(), updates = new_stream();
  aclrtEvent event = external_event();
  const auto captured = capture(stream, event);
  const float wanted[] = {3 + 4, 3 + 8, 3 + 8, 3 + 1};
  const size_t inputs[] = {0, 3, 0, 0};  // the third round changes nothing
  for (size_t round = 0; round < 4; ++round) {
    reset_values();
    OK(aclmdlRIExecuteAsync(captured.model, stream));
    spin(spin_kernel, updates, 100);
    OK(aclmdlRICaptureTaskUpdateBegin(updates, captured.group));
    if (round % 2 == 1) add(updates, sum(9, 8, inputs[round]));
    OK(aclmdlRICaptureTaskUpdateEnd(updates));
    aclrtStreamStatus done = ACL_STREAM_STATUS_COMPLETE;
    OK(aclrtStreamQuery(stream, &done));
    REQUIRE(done == ACL_STREAM_STATUS_NOT_READY);
    OK(aclrtRecordEvent(event, updates));
    OK(aclrtSynchronizeStream(stream));
    REQUIRE(value(8) == 3 && value(9) == wanted[round]);
  }
  OK(aclmdlRIExecuteAsync(captured.model, stream));
  OK(aclmdlRICaptureTaskUpdateBegin(updates, captured.group));
  const npusim_spin_args clocks = {1800};
  EXPECT(ACL_ERROR_RT_MODEL_RUNNING,
         aclrtLaunchKernel(spin_kernel, 1, &clocks, sizeof clocks, updates));
  OK(aclmdlRICaptureTaskUpdateEnd(updates));
  OK(aclrtRecordEvent(event, updates));
  OK(aclrtSynchronizeStream(stream));
  reset_values();
  OK(aclmdlRICaptureTaskUpdateBegin(updates, captured.group));
  spin(spin_kernel, updates, 1);  // no run is in flight: it may be another kernel
  OK(aclmdlRICaptureTaskUpdateEnd(updates));
  OK(aclrtRecordEvent(event, updates));
  OK(aclrtSynchronizeStream(updates));
  OK(aclmdlRIExecute(captured.model, -1));
  REQUIRE(value(8) == 3 && value(9) == 0);
  OK(aclmdlRIDestroy(captured.model));
  OK(aclrtDestroyEvent(event));
  for (const auto each : {stream, updates}) OK(aclrtDestroyStream(each));
}

// An event of this kind, without a model.
void waits_for_what_nothing_has_recorded() {
  aclrtStream first = new_stream(), second = new_stream();
  aclrtEvent event = external_event();
  reset_values();
  OK(aclrtStreamWaitEvent(first, event));
  add(first, sum(8, 9, 9));
  spin(spin_kernel, second, 50);
  add(second, sum(9, 3, 3));
  OK(aclrtRecordEvent(event, second));
  OK(aclrtSynchronizeStream(first));
  REQUIRE(value(8) == 32);
  OK(aclrtSynchronizeEvent(event));
  OK(aclrtResetEvent(event, second));
  OK(aclrtSynchronizeStream(second));
  OK(aclrtStreamWaitEvent(first, event));
  aclrtEventRecordedStatus status = ACL_EVENT_RECORDED_STATUS_COMPLETE;
  OK(aclrtQueryEventStatus(event, &status));
  REQUIRE(status == ACL_EVENT_RECORDED_STATUS_NOT_READY);
  OK(aclrtRecordEvent(event, second));
  OK(aclrtSynchronizeStream(first));
  OK(aclrtDestroyEvent(event));
  for (const auto each : {first, second}) OK(aclrtDestroyStream(each));
}

// Models of several groups on two streams, updated at random: each run has what came last.
void changes_at_random(unsigned seed) {
  std::mt19937 random(seed);
  const auto below = [&random](size_t end) { return random() % end; };
  aclrtStream stream = new_stream(), updates = new_stream();
  const size_t kernels = 1 + below(6);
  std::vector<size_t> a(kernels), b(kernels);
  std::vector<aclrtTaskGrp> groups;
  std::vector<size_t> firsts{0};
  const auto choose = [&](size_t kernel) {
    a[kernel] = below(kInputs);
    b[kernel] = below(kInputs);
    return sum(kInputs + kernel, a[kernel], b[kernel]);
  };
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
  while (firsts.back() < kernels) {
    const size_t end = firsts.back() + 1 + below(kernels - firsts.back());
    OK(aclmdlRICaptureTaskGrpBegin(stream));
    for (size_t kernel = firsts.back(); kernel < end; ++kernel) add(stream, choose(kernel));
    OK(aclmdlRICaptureTaskGrpEnd(stream, &groups.emplace_back()));
    firsts.push_back(end);
  }
  aclmdlRI model = nullptr;
  OK(aclmdlRICaptureEnd(stream, &model));
  reset_values();
  for (int round = 0; round < 12; ++round) {
    for (size_t changes = below(3); changes != 0; --changes) {
      const size_t group = below(groups.size());
      OK(aclmdlRICaptureTaskUpdateBegin(updates, groups[group]));
      for (size_t kernel = firsts[group]; kernel < firsts[group + 1]; ++kernel) {
        add(updates, choose(kernel));
      }
      OK(aclmdlRICaptureTaskUpdateEnd(updates));
    }
    OK(aclrtSynchronizeStream(updates));
    const aclrtStream on = below(2) == 0 ? stream : updates;
    for (size_t runs = below(3); runs != 0; --runs) OK(aclmdlRIExecuteAsync(model, on));
    OK(aclmdlRIExecuteAsync(model, on));
    OK(aclrtSynchronizeStream(on));
    for (size_t kernel = 0; kernel < kernels; ++kernel) {
      REQUIRE(value(kInputs + kernel) ==
              static_cast<float>(1 << a[kernel]) + static_cast<float>(1 << b[kernel]));
    }
  }
  OK(aclmdlRIDestroy(model));
  for (const auto each : {stream, updates}) OK(aclrtDestroyStream(each));
}

void misuse() {
  constexpr auto kRelaxed = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
  constexpr aclError kStatus = ACL_ERROR_STREAM_TASK_GROUP_STATUS;
  aclrtStream stream = new_stream(), other = new_stream();
  aclrtEvent fork = new_event();
  aclrtTaskGrp group = nullptr;
  const auto words = sum(8, 0, 1);
  EXPECT(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureTaskGrpEnd(stream, &group));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskGrpEnd(stream, nullptr));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlRICaptureTaskUpdateBegin(stream, nullptr));
  EXPECT(kStatus, aclmdlRICaptureTaskUpdateEnd(stream));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRICaptureTaskUpdateBegin(stream, other));
  const auto captured = capture(stream, nullptr);
  OK(aclmdlRICaptureBegin(stream, kRelaxed));
  EXPECT(kStatus, aclmdlRICaptureTaskGrpEnd(stream, &group));
  OK(aclrtRecordEvent(fork, stream));
  OK(aclrtStreamWaitEvent(other, fork));
  OK(aclmdlRICaptureTaskGrpBegin(stream));
  EXPECT(kStatus, aclmdlRICaptureTaskGrpBegin(other));
  EXPECT(ACL_ERROR_STREAM_TASK_GROUP_INTR,
         aclrtLaunchKernel(add_kernel, 1, &words, sizeof words, other));
  EXPECT(kStatus, aclmdlRICaptureTaskUpdateBegin(stream, captured.group));
  OK(aclrtMemsetAsync(values + 8, 4, 0, 4, stream));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclmdlRICaptureTaskGrpEnd(stream, &group));
  OK(aclmdlRICaptureTaskGrpBegin(stream));
  aclmdlRI model = nullptr;
  EXPECT(kStatus, aclmdlRICaptureEnd(stream, &model));

  OK(aclmdlRICaptureTaskUpdateBegin(stream, captured.group));
  EXPECT(kStatus, aclmdlRICaptureTaskUpdateBegin(stream, captured.group));
  EXPECT(kStatus, aclmdlRICaptureTaskUpdateBegin(other, captured.group));
  EXPECT(kStatus, aclmdlRIExecuteAsync(captured.model, stream));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtMemsetAsync(values + 8, 4, 0, 4, stream));
  add(stream, words);
  EXPECT(ACL_ERROR_RT_INTERNAL_ERROR,
         aclrtLaunchKernel(add_kernel, 1, &words, sizeof words, stream));
  OK(aclmdlRICaptureTaskUpdateEnd(stream));
  OK(aclmdlRICaptureTaskUpdateBegin(stream, captured.group));
  OK(aclmdlRIDestroy(captured.model));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE,
         aclrtLaunchKernel(add_kernel, 1, &words, sizeof words, stream));
  OK(aclmdlRICaptureTaskUpdateEnd(stream));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRICaptureTaskUpdateBegin(stream, captured.group));
  OK(aclrtDestroyEvent(fork));
  for (const auto each : {stream, other}) OK(aclrtDestroyStream(each));
}

}  // namespace

int main() {
  open_device();
  values = static_cast<float*>(device_memory(kWords * sizeof(float)));
  add_kernel = built_in("add");
  spin_kernel = built_in("spin");
  changes_while_a_run_waits();
  waits_for_what_nothing_has_recorded();
  for (unsigned seed = 0; seed < 8; ++seed) changes_at_random(seed);
  misuse();
  OK(aclrtFree(values));
  return end_right();
}
