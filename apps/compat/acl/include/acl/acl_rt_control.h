/* SPDX-License-Identifier: Apache-2.0 */
/* Models whose tasks say what is run next. As in acl_rt.h a null pointer is 100000, a handle that
   is none 107017. The card's queues have no branches: when a stream of a run has come to a switch,
   an activation, a condition or the end, a thread of the library reads what it depends on by a copy
   and submits what follows. It looks every 5 us of simulated time while several runs wait. If a run
   cannot go on, the next wait for the stream that it runs on says 507000. */
#ifndef NPUSIM_ACL_RT_CONTROL_H
#define NPUSIM_ACL_RT_CONTROL_H

#include <acl/acl_base.h>
#include <acl/acl_rt_model.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Models that are built: what is submitted to streams that are bound to a model becomes its
   tasks. `flag` and `reserve` are 0. Copies at once, and asynchronous ones of memory that is not
   pinned, are made and not recorded. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildBegin(aclmdlRI* model, uint32_t flag);
/* 107000: the stream was made without ACL_STREAM_PERSISTENT; 107005: it has a model. A head runs
   when the model begins, other streams when they are activated. */
#define ACL_MODEL_STREAM_FLAG_HEAD 0x0u
#define ACL_MODEL_STREAM_FLAG_DEFAULT 0x7FFFFFFFu
ACL_FUNC_VISIBILITY aclError aclmdlRIBindStream(aclmdlRI model, aclrtStream stream, uint32_t flag);
/* A run ends when the stream has come there, though others have not come to their ends. It also
   ends when no stream is active. 107000: the model has an end. */
ACL_FUNC_VISIBILITY aclError aclmdlRIEndTask(aclmdlRI model, aclrtStream stream);
/* From then on the streams take no tasks (107000). 107000: the model has no end; 507903: a
   stream of it was destroyed. */
ACL_FUNC_VISIBILITY aclError aclmdlRIBuildEnd(aclmdlRI model, void* reserve);
/* 107026: the model is not built yet. */
ACL_FUNC_VISIBILITY aclError aclmdlRIUnbindStream(aclmdlRI model, aclrtStream stream);

/* --- Tasks of streams that are bound to one model, else 107005. */

/* The first stream begins, if it does not run. */
ACL_FUNC_VISIBILITY aclError aclrtActiveStream(aclrtStream active, aclrtStream stream);
typedef enum {
  ACL_RT_EQUAL = 0,
  ACL_RT_NOT_EQUAL,
  ACL_RT_GREATER,
  ACL_RT_GREATER_OR_EQUAL,
  ACL_RT_LESS,
  ACL_RT_LESS_OR_EQUAL
} aclrtCondition;
typedef enum { ACL_RT_SWITCH_INT32 = 0, ACL_RT_SWITCH_INT64 = 1 } aclrtCompareDataType;
/* If the values in device memory are so, `on_true` begins and `stream` ends; else `stream` goes on.
   `on_false` is null. */
ACL_FUNC_VISIBILITY aclError aclrtSwitchStream(void* left, aclrtCondition condition, void* right,
                                               aclrtCompareDataType type, aclrtStream on_true,
                                               aclrtStream on_false, aclrtStream stream);
/* At most 65535 labels: 207005. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabel(aclrtLabel* label);
/* A place in the stream. 107000: the label is set already. */
ACL_FUNC_VISIBILITY aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabel(aclrtLabel label);
/* `count`: 1 .. 65535. */
ACL_FUNC_VISIBILITY aclError aclrtCreateLabelList(aclrtLabel* labels, size_t count,
                                                  aclrtLabelList* list);
ACL_FUNC_VISIBILITY aclError aclrtDestroyLabelList(aclrtLabelList list);
/* The stream of label number *index (4 bytes of device memory; beyond the list: the last) goes on
   at the label, and `stream` ends. 107000: the list has not `count` labels. */
ACL_FUNC_VISIBILITY aclError aclrtSwitchLabelByIndex(void* index, uint32_t count,
                                                     aclrtLabelList list, aclrtStream stream);

/* --- Conditions of captured models: 8 bytes of device memory, the model's, by which a branch is
   taken. */
typedef void* aclmdlRICondHandle;
typedef enum {
  ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT = 1 /* it is `value` when a run begins */
} aclmdlRICondHandleFlag;
typedef enum {
  ACL_MODEL_RI_COND_TYPE_IF = 0,    /* 1 or 2 branches: not zero, zero */
  ACL_MODEL_RI_COND_TYPE_WHILE = 1, /* 1 branch, again and again until the condition is zero */
  ACL_MODEL_RI_COND_TYPE_SWITCH = 2 /* branch number *condition; beyond them: none */
} aclmdlRICondTaskType;
typedef struct tagAclmdlRICondTaskParams {
  aclmdlRICondHandle handle;
  aclmdlRICondTaskType type;
  uint32_t size;
  aclmdlRI* modelRIArray; /* `size` branches, which are made here */
} aclmdlRICondTaskParams;
/* `flag`: ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT or 0. */
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleCreate(aclmdlRI model, uint32_t value,
                                                      aclmdlRICondHandleFlag flag,
                                                      aclmdlRICondHandle* handle);
ACL_FUNC_VISIBILITY aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle,
                                                          uint64_t** address);
/* `flags` is 0. 107029: the stream is not captured. Branches go with the model. */
ACL_FUNC_VISIBILITY aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams task, aclrtStream stream,
                                                 uint32_t flags);
/* As aclmdlRICaptureBegin(), into a branch; a branch that was not captured is empty. 107000: no
   branch, or captured before. */
ACL_FUNC_VISIBILITY aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI model,
                                                           aclmdlRICaptureMode mode);

#ifdef __cplusplus
}
#endif
#endif
