/* SPDX-License-Identifier: Apache-2.0 */
/* Models that are built: streams that are activated and switched by values, labels, loops; and
   conditions of captured models. */
#include <string.h>

#include "check.h"

enum { kLabels = 3 };

struct Words {
  uint32_t* device; /* 16 words of device memory */
};

static uint32_t word_at(const struct Words* words, int place) {
  uint32_t word = 0;
  OK(aclrtMemcpy(&word, sizeof word, words->device + place, sizeof word,
                 ACL_MEMCPY_DEVICE_TO_HOST));
  return word;
}
static void set_word(const struct Words* words, int place, uint32_t word) {
  OK(aclrtMemcpy(words->device + place, sizeof word, &word, sizeof word,
                 ACL_MEMCPY_HOST_TO_DEVICE));
}
/* A task: the place becomes what the other one is. */
static void copies(const struct Words* words, int to, int from, aclrtStream stream) {
  OK(aclrtMemcpyAsync(words->device + to, 4, words->device + from, 4, ACL_MEMCPY_DEVICE_TO_DEVICE,
                      stream));
}
/* A task: the place becomes more. */
static void adds(const struct Words* words, int to, int from, aclrtStream stream) {
  OK(aclrtReduceAsync(words->device + to, words->device + from, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                      ACL_INT32, stream, NULL));
}

static aclrtStream bound(aclmdlRI model, uint32_t flag) {
  aclrtStream stream = NULL;
  OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
  OK(aclmdlRIBindStream(model, stream, flag));
  return stream;
}

/* A stream adds until it has what it shall have, then another one copies. */
static void loops(const struct Words* words) {
  aclmdlRI model = NULL;
  aclrtStream run = new_stream();
  OK(aclmdlRIBuildBegin(&model, 0));
  aclrtStream head = bound(model, ACL_MODEL_STREAM_FLAG_HEAD);
  aclrtStream again = bound(model, ACL_MODEL_STREAM_FLAG_DEFAULT);
  aclrtStream last = bound(model, ACL_MODEL_STREAM_FLAG_DEFAULT);
  adds(words, 0, 1, head);
  OK(aclrtSwitchStream(words->device, ACL_RT_GREATER_OR_EQUAL, words->device + 2,
                       ACL_RT_SWITCH_INT32, last, NULL, head));
  OK(aclrtActiveStream(again, head));
  OK(aclrtSwitchStream(words->device, ACL_RT_EQUAL, words->device, ACL_RT_SWITCH_INT32, head, NULL,
                       again));
  copies(words, 3, 0, last);
  OK(aclmdlRIEndTask(model, last));
  OK(aclmdlRIBuildEnd(model, NULL));
  for (uint32_t limit = 5; limit < 8; ++limit) {
    set_word(words, 0, 0);
    set_word(words, 1, 2);
    set_word(words, 2, limit);
    OK(aclmdlRIExecuteAsync(model, run));
    adds(words, 3, 1, run); /* behind the run */
    OK(aclrtSynchronizeStream(run));
    REQUIRE(word_at(words, 3) == (limit + 1) / 2 * 2 + 2);
  }
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpyAsync(words->device, 4, words->device + 1, 4,
                                                      ACL_MEMCPY_DEVICE_TO_DEVICE, head));
  OK(aclmdlRIUnbindStream(model, head));
  copies(words, 0, 1, head); /* runs now */
  OK(aclrtSynchronizeStream(head));
  REQUIRE(word_at(words, 0) == 2);
  OK(aclmdlRIDestroy(model));
  OK(aclrtDestroyStream(head));
  OK(aclrtDestroyStream(again));
  OK(aclrtDestroyStream(last));
  OK(aclrtDestroyStream(run));
}

/* Each label copies another word; beyond the last it is the last. */
static void labels(const struct Words* words) {
  aclmdlRI model = NULL;
  aclrtLabel all[kLabels] = {NULL}, unset = NULL;
  aclrtLabelList list = NULL;
  aclrtStream run = new_stream();
  OK(aclmdlRIBuildBegin(&model, 0));
  aclrtStream head = bound(model, ACL_MODEL_STREAM_FLAG_HEAD);
  aclrtStream other = bound(model, ACL_MODEL_STREAM_FLAG_DEFAULT);
  for (int i = 0; i < kLabels; ++i) OK(aclrtCreateLabel(&all[i]));
  OK(aclrtCreateLabelList(all, kLabels, &list));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex(words->device, 2, list, head));
  EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclrtSwitchLabelByIndex(words->device, kLabels, list, run));
  OK(aclrtSwitchLabelByIndex(words->device, kLabels, list, head));
  for (int i = 0; i < kLabels; ++i) {
    aclrtStream stream = i == 1 ? other : head;
    OK(aclrtSetLabel(all[i], stream));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclrtSetLabel(all[i], stream));
    copies(words, 4 + i, 1, stream);
  }
  OK(aclmdlRIEndTask(model, head));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIEndTask(model, other));
  OK(aclmdlRIBuildEnd(model, NULL));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(model, NULL));
  for (uint32_t index = 0; index < 5; ++index) {
    const int label = index < kLabels ? (int)index : kLabels - 1;
    set_word(words, 0, index);
    set_word(words, 1, 100 + index);
    for (int i = 0; i < kLabels; ++i) set_word(words, 4 + i, 0);
    OK(aclmdlRIExecuteAsync(model, run));
    OK(aclrtSynchronizeStream(run));
    for (int i = 0; i < kLabels; ++i) {
      const int runs = i == label || (label == 0 && i == 2); /* the head goes on */
      REQUIRE(word_at(words, 4 + i) == (runs ? 100 + index : 0));
    }
  }
  OK(aclmdlRIDestroy(model));
  /* A label that no stream of the model has. */
  OK(aclrtCreateLabel(&unset));
  OK(aclrtDestroyLabelList(list));
  OK(aclrtCreateLabelList(&unset, 1, &list));
  OK(aclmdlRIBuildBegin(&model, 0));
  OK(aclmdlRIBindStream(model, head, ACL_MODEL_STREAM_FLAG_HEAD));
  OK(aclrtSwitchLabelByIndex(words->device, 1, list, head));
  OK(aclmdlRIEndTask(model, head));
  OK(aclmdlRIBuildEnd(model, NULL));
  OK(aclmdlRIExecuteAsync(model, run));
  EXPECT(ACL_ERROR_RT_INTERNAL_ERROR, aclrtSynchronizeStream(run));
  OK(aclrtSynchronizeStream(run));
  OK(aclmdlRIDestroy(model));
  OK(aclrtDestroyLabelList(list));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabelList(list));
  for (int i = 0; i < kLabels; ++i) OK(aclrtDestroyLabel(all[i]));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabel(all[0]));
  OK(aclrtDestroyLabel(unset));
  OK(aclrtDestroyStream(head));
  OK(aclrtDestroyStream(other));
  OK(aclrtDestroyStream(run));
}

/* A captured model with a condition; its branches copy words 8, 9, ... to word 7. */
static aclmdlRI with_condition(const struct Words* words, aclmdlRICondTaskType type, uint32_t size,
                               uint32_t value, uint64_t** place) {
  aclrtStream stream = new_stream(), branch = new_stream();
  aclmdlRI model = NULL, branches[kLabels] = {NULL};
  aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
  aclmdlRICondTaskParams task = {NULL, type, size, branches};
  OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
  OK(aclmdlRICaptureGetInfo(stream, &status, &model));
  OK(aclmdlRICondHandleCreate(model, value, (aclmdlRICondHandleFlag)(value != 77), &task.handle));
  OK(aclmdlRICondHandleGetCondPtr(task.handle, place));
  EXPECT(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRIAddCondTask(task, branch, 0));
  copies(words, 7, 6, stream);
  OK(aclmdlRIAddCondTask(task, stream, 0));
  copies(words, 15, 7, stream);
  for (uint32_t i = 0; i < size; ++i) {
    OK(aclmdlRICaptureToModelRIBegin(branch, branches[i], ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIExecuteAsync(branches[i], NULL));
    if (type == ACL_MODEL_RI_COND_TYPE_WHILE) {
      adds(words, 7, 8, branch);
      OK(aclrtReduceAsync(*place, words->device + 9, 4, ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32,
                          branch, NULL)); /* word 9: -1 */
    } else {
      copies(words, 7, 8 + (int)i, branch);
    }
    OK(aclmdlRICaptureEnd(branch, &branches[i]));
    EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIDestroy(branches[i]));
  }
  OK(aclmdlRICaptureEnd(stream, &model));
  OK(aclrtDestroyStream(stream));
  OK(aclrtDestroyStream(branch));
  return model;
}

static uint32_t result(const struct Words* words, aclmdlRI model, aclrtStream run) {
  set_word(words, 6, 1);
  set_word(words, 15, 0);
  OK(aclmdlRIExecuteAsync(model, run));
  OK(aclrtSynchronizeStream(run));
  return word_at(words, 15);
}

static void write_condition(uint64_t* place, uint64_t value) {
  OK(aclrtMemcpy(place, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void conditions(const struct Words* words) {
  uint64_t* place = NULL;
  aclrtStream run = new_stream();
  for (int i = 0; i < kLabels; ++i) set_word(words, 8 + i, (uint32_t)(10 + i));
  /* 77: the program's own to set. */
  aclmdlRI model = with_condition(words, ACL_MODEL_RI_COND_TYPE_IF, 2, 77, &place);
  write_condition(place, UINT64_C(1) << 40);
  REQUIRE(result(words, model, run) == 10);
  write_condition(place, 0);
  REQUIRE(result(words, model, run) == 11);
  OK(aclmdlRIDestroy(model));
  model = with_condition(words, ACL_MODEL_RI_COND_TYPE_IF, 1, 0, &place);
  write_condition(place, 1); /* set to 0 again when the run begins */
  REQUIRE(result(words, model, run) == 1);
  OK(aclmdlRIDestroy(model));
  model = with_condition(words, ACL_MODEL_RI_COND_TYPE_SWITCH, kLabels, 77, &place);
  for (uint64_t value = 0; value < 5; ++value) {
    write_condition(place, value);
    REQUIRE(result(words, model, run) == (value < kLabels ? 10 + value : 1));
  }
  OK(aclmdlRIDestroy(model));
  set_word(words, 9, UINT32_MAX);
  model = with_condition(words, ACL_MODEL_RI_COND_TYPE_WHILE, 1, 4, &place);
  for (int round = 0; round < 2; ++round) REQUIRE(result(words, model, run) == 1 + 4 * 10);
  OK(aclmdlRIDestroy(model));
  OK(aclrtDestroyStream(run));
}

static void misuse(const struct Words* words) {
  aclmdlRI model = NULL, other = NULL;
  aclrtStream plain = new_stream(), persistent = NULL;
  aclmdlRICondHandle condition = NULL;
  OK(aclrtCreateStreamWithConfig(&persistent, 0, ACL_STREAM_PERSISTENT));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlRIBuildBegin(&model, 1));
  OK(aclmdlRIBuildBegin(&model, 0));
  OK(aclmdlRIBuildBegin(&other, 0));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBindStream(model, plain, 0));
  EXPECT(ACL_ERROR_INVALID_PARAM, aclmdlRIBindStream(model, persistent, 1));
  EXPECT(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIBindStream(plain, persistent, 0));
  OK(aclmdlRIBindStream(model, persistent, 0));
  EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIBindStream(other, persistent, 0));
  EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIEndTask(other, persistent));
  EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclmdlRIEndTask(model, plain));
  EXPECT(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(plain, persistent));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID,
         aclrtSwitchStream(&model, ACL_RT_EQUAL, words->device, ACL_RT_SWITCH_INT64, persistent,
                           NULL, persistent));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRIBuildEnd(model, NULL));
  EXPECT(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIExecuteAsync(model, plain));
  EXPECT(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIUnbindStream(model, persistent));
  EXPECT(ACL_ERROR_RT_STREAM_NOT_CAPTURED, aclmdlRICaptureEnd(persistent, &other));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, aclmdlRICondHandleCreate(model, 0, 0, &condition));
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtStreamAbort(persistent));
  OK(aclmdlRIDestroy(model));
  OK(aclmdlRIDestroy(other));
  OK(aclrtDestroyStream(persistent));
  OK(aclrtDestroyStream(plain));
}

int main(void) {
  struct Words words = {NULL};
  open_device();
  words.device = device_memory(64);
  const size_t before = free_memory();
  loops(&words);
  labels(&words);
  conditions(&words);
  misuse(&words);
  REQUIRE(free_memory() == before);
  OK(aclrtFree(words.device));
  return end_right();
}
