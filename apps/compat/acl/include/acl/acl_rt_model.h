/* SPDX-License-Identifier: Apache-2.0 */
/* Work that is recorded and run again. While a stream is captured, what is submitted to it does not
   run: it becomes tasks of a model. As in acl_rt.h a null pointer is 100000, a handle that is none
   107017. */
#ifndef NPUSIM_ACL_RT_MODEL_H
#define NPUSIM_ACL_RT_MODEL_H

#include <acl/acl_base.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef void* aclmdlRITask;

/* Who may call what works on memory at once while a stream is captured: aclrtMemcpy(),
   aclrtMemset() and their like, and asynchronous copies of memory that is not pinned. The latter
   are made at once, too, and are not recorded. 107030: who may not. */
typedef enum {
  ACL_MODEL_RI_CAPTURE_MODE_GLOBAL = 0,   /* no thread, but those that have exchanged their mode */
  ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL, /* other threads */
  ACL_MODEL_RI_CAPTURE_MODE_RELAXED       /* every thread */
} aclmdlRICaptureMode;

typedef enum {
  ACL_MODEL_RI_CAPTURE_STATUS_NONE = 0,
  ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE,
  ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
} aclmdlRICaptureStatus;

typedef enum aclmdlRITaskType {
  ACL_MODEL_RI_TASK_DEFAULT, /* copies, fills, notifies */
  ACL_MODEL_RI_TASK_KERNEL,
  ACL_MODEL_RI_TASK_EVENT_RECORD,
  ACL_MODEL_RI_TASK_EVENT_WAIT,
  ACL_MODEL_RI_TASK_EVENT_RESET,
  ACL_MODEL_RI_TASK_VALUE_WRITE,
  ACL_MODEL_RI_TASK_VALUE_WAIT
} aclmdlRITaskType;

/* --- Captures. A stream that waits for an event which a captured stream has recorded is captured
   from then on, too. It must be waited for before the end. 207000 of a captured stream: functions
   of the program, waits for values, copies of managed memory. */

/* 107031: the default stream; 107027: it is captured already. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode);
/* `model` is the program's until aclmdlRIDestroy(). Of the stream that the capture has begun on,
   else 107029 or 107036; by the same thread, else 107038, but in relaxed mode. 107025: a stream was
   not waited for. 507903: a call has waited for a captured stream or event (107027, 107028), and
   there is no model. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* model);
/* `model` may be null. Its handle is known before its end. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureGetInfo(aclrtStream stream,
                                                    aclmdlRICaptureStatus* status, aclmdlRI* model);
/* Sets the thread's mode, which is global at first, and says the one before. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode);

/* --- Kernels that change between runs. Those that a captured stream is given between the first two
   are a group. Those that a stream is given between the last two do not run: they replace the
   group's kernels, in order. The update is on the card when the stream has come to its end, also
   for a run in flight that waits for it. In a run in flight only arguments in the host's memory can
   change: else 107037.
   107033: the stream has a group, or an update, already, or none, or another stream updates the
   group; 107034 of a task: another stream of the capture has begun a group. */

ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream);
/* 207000: copies, fills or events are in the group. It is the model's. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* group);
/* 107026: its model is captured still; 107003: the stream is of another device. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp group);
/* 507000: fewer kernels than the group has, but not none; of a launch: more. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream);

/* --- Events between models and other streams. With these flags a run of the model records or waits
   for the event itself. Not captured, both are as the functions without a flag. 107024 of a wait
   without it: the capture has no record; 107032: another capture has. An event that was made with
   ACL_EVENT_EXTERNAL needs no flag here: it is set by a record and cleared by a reset, each in its
   stream's order, and a wait for it is until it is set, though nothing has recorded it yet. */
#define ACL_EVENT_RECORD_DEFAULT 0x0u
#define ACL_EVENT_RECORD_EXTERNAL 0x1u
#define ACL_EVENT_WAIT_DEFAULT 0x0u
#define ACL_EVENT_WAIT_EXTERNAL 0x1u
ACL_FUNC_VISIBILITY aclError aclrtRecordEventWithFlag(aclrtEvent event, aclrtStream stream,
                                                      uint32_t flag);
/* `timeout` is 0, or 0xFFFFFFFF: for ever. 207000: another one. */
ACL_FUNC_VISIBILITY aclError aclrtStreamWaitEventWithFlag(aclrtStream stream, aclrtEvent event,
                                                          uint32_t timeout, uint32_t flag);

/* --- Runs, one after the other, by which the tasks are submitted. 107026: it is captured still. */

/* On the context's default stream. `timeout`: milliseconds of simulated time, -1: for ever;
   507046. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecute(aclmdlRI model, int32_t timeout);
/* 107003: the stream is of another device. */
ACL_FUNC_VISIBILITY aclError aclmdlRIExecuteAsync(aclmdlRI model, aclrtStream stream);
/* Runs that have begun go on. 107026. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDestroy(aclmdlRI model);

/* --- What a model has. `count` is how many there is room for and becomes how many there are; the
   list may be null. 107000: no room. */

/* Streams of the model, for the next function alone. */
ACL_FUNC_VISIBILITY aclError aclmdlRIGetStreams(aclmdlRI model, aclrtStream* streams,
                                                uint32_t* count);
ACL_FUNC_VISIBILITY aclError aclmdlRIGetTasksByStream(aclrtStream stream, aclmdlRITask* tasks,
                                                      uint32_t* count);
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetType(aclmdlRITask task, aclmdlRITaskType* type);
/* 0, 1, ... of the model. */
ACL_FUNC_VISIBILITY aclError aclmdlRITaskGetSeqId(aclmdlRITask task, uint32_t* number);
/* To standard error: the same text as the next. */
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugPrint(aclmdlRI model);
/* A file of streams and tasks in JSON. Both flags write the same. 100000: it cannot be written. */
#define ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY 0x0u
#define ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE 0x1u
ACL_FUNC_VISIBILITY aclError aclmdlRIDebugJsonPrint(aclmdlRI model, const char* path,
                                                    uint32_t flags);

#ifdef __cplusplus
}
#endif
#endif
