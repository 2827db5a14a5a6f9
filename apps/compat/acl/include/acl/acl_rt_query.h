/* SPDX-License-Identifier: Apache-2.0 */
/* What a program asks and sets beside its work: errors, versions, options, numbers of streams and
   events. As in acl_rt.h a null pointer is 100000. */
#ifndef NPUSIM_ACL_RT_QUERY_H
#define NPUSIM_ACL_RT_QUERY_H

#include <acl/acl_base.h>
#include <acl/acl_rt_types.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Errors */
typedef enum { ACL_RT_THREAD_LEVEL = 0 } aclrtLastErrLevel;
/* The code of the thread's last call that npusim has refused; 0: none. What the library itself
   refuses (100000) does not count. */
ACL_FUNC_VISIBILITY aclError aclrtPeekAtLastError(aclrtLastErrLevel level);
/* The same, and 0 from then on. */
ACL_FUNC_VISIBILITY aclError aclrtGetLastError(aclrtLastErrLevel level);

typedef enum {
  ACL_RT_NO_ERROR = 0,
  ACL_RT_ERROR_MEMORY = 1,
  ACL_RT_ERROR_L2 = 2,
  ACL_RT_ERROR_AICORE = 3,
  ACL_RT_ERROR_LINK = 4,
  ACL_RT_ERROR_OTHERS = 0xFFFF
} aclrtErrorType;
typedef enum {
  ACL_RT_AICORE_ERROR_UNKNOWN = 0,
  ACL_RT_AICORE_ERROR_SW = 1,
  ACL_RT_AICORE_ERROR_HW_LOCAL = 2
} aclrtAicoreErrorType;
typedef struct {
  void* addr;
  size_t len;
  size_t reserved[14];
} aclrtMemUceInfo;
#define ACL_RT_MEM_UCE_INFO_MAX_NUM 20
typedef struct {
  size_t arraySize;
  aclrtMemUceInfo memUceInfoArray[ACL_RT_MEM_UCE_INFO_MAX_NUM];
} aclrtMemUceInfoArray;
typedef union {
  aclrtMemUceInfoArray uceInfo;
  aclrtAicoreErrorType aicoreErrType;
} aclrtErrorInfoDetail;
typedef struct {
  uint8_t tryRepair;
  uint8_t hasDetail;
  uint8_t reserved[2];
  aclrtErrorType errorType;
  aclrtErrorInfoDetail detail;
} aclrtErrorInfo;
/* What the program's streams on the device were last told of; ACL_RT_NO_ERROR: nothing. There are
   no details, and nothing is repaired. 107002: the device is not set. */
ACL_FUNC_VISIBILITY aclError aclrtGetErrorVerbose(int32_t device, aclrtErrorInfo* info);

/* --- Versions and what there is */
#define ACL_PKG_VERSION_MAX_SIZE 128
/* Of "runtime" and the other packages of CANN; 100003: no such package. `version` has
   ACL_PKG_VERSION_MAX_SIZE bytes. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionStr(char* package, char* version);
/* 80500000 is 8.5.0. */
ACL_FUNC_VISIBILITY aclError aclsysGetVersionNum(char* package, int32_t* version);
ACL_FUNC_VISIBILITY aclError aclGetCannAttributeList(const aclCannAttr** attributes, size_t* count);
/* 1: there is it. */
ACL_FUNC_VISIBILITY aclError aclGetCannAttribute(aclCannAttr attribute, int32_t* value);
/* Numbers of cores. */
ACL_FUNC_VISIBILITY aclError aclGetDeviceCapability(uint32_t device, aclDeviceInfo info,
                                                    int64_t* value);
/* ACL_DEV_FEATURE_NOT_SUPPORT for all that there are. */
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceCapability(int32_t device, aclrtDevFeatureType feature,
                                                      int32_t* value);
/* 1: a chip of the same series as the device. */
ACL_FUNC_VISIBILITY aclError aclrtCheckArchCompatibility(const char* soc_name, int32_t* can);
/* To nearest, ties to even; infinities and what is beyond 65504 become 65504, and so does no
   number. */
ACL_FUNC_VISIBILITY aclFloat16 aclFloatToFloat16(float value);
/* Infinities become 65536, and what is no number 98304, with their sign. */
ACL_FUNC_VISIBILITY float aclFloat16ToFloat(aclFloat16 value);

/* --- Options, of the process and of the thread's context. The model is deterministic whatever they
   are. Those of the process begin with 0. 107021: not set in this context. */
ACL_FUNC_VISIBILITY aclError aclrtSetSysParamOpt(aclSysParamOpt option, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtGetSysParamOpt(aclSysParamOpt option, int64_t* value);
ACL_FUNC_VISIBILITY aclError aclrtCtxSetSysParamOpt(aclSysParamOpt option, int64_t value);
ACL_FUNC_VISIBILITY aclError aclrtCtxGetSysParamOpt(aclSysParamOpt option, int64_t* value);

/* --- Contexts, streams, events */
ACL_FUNC_VISIBILITY aclError aclrtCtxGetCurrentDefaultStream(aclrtStream* stream);
/* `flags` is null. 1: the process has set the device. */
ACL_FUNC_VISIBILITY aclError aclrtGetPrimaryCtxState(int32_t device, uint32_t* flags,
                                                     int32_t* active);
/* 7 and 0. */
ACL_FUNC_VISIBILITY aclError aclrtDeviceGetStreamPriorityRange(int32_t* least, int32_t* greatest);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetPriority(aclrtStream stream, uint32_t* priority);
ACL_FUNC_VISIBILITY aclError aclrtStreamGetFlags(aclrtStream stream, uint32_t* flags);
/* 0, 1, ... in the order in which the process has created them. */
ACL_FUNC_VISIBILITY aclError aclrtStreamGetId(aclrtStream stream, int32_t* id);

/* What a stream is configured with. */
typedef enum {
  ACL_RT_STREAM_WORK_ADDR_PTR = 0,
  ACL_RT_STREAM_WORK_SIZE = 1,
  ACL_RT_STREAM_FLAG = 2,
  ACL_RT_STREAM_PRIORITY = 3
} aclrtStreamConfigAttr;
typedef struct aclrtStreamConfigHandle {
  void* workptr;
  size_t workSize;
  size_t flag;
  uint32_t priority;
} aclrtStreamConfigHandle;
ACL_FUNC_VISIBILITY aclrtStreamConfigHandle* aclrtCreateStreamConfigHandle(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyStreamConfigHandle(aclrtStreamConfigHandle* handle);
/* Memory to work in is not needed, and not used. 100000: another size than the attribute's. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamConfigOpt(aclrtStreamConfigHandle* handle,
                                                     aclrtStreamConfigAttr attribute,
                                                     const void* value, size_t size);
ACL_FUNC_VISIBILITY aclError aclrtCreateStreamV2(aclrtStream* stream,
                                                 const aclrtStreamConfigHandle* handle);
typedef enum {
  ACL_STREAM_ATTR_FAILURE_MODE = 1,
  ACL_STREAM_ATTR_FLOAT_OVERFLOW_CHECK = 2,
  ACL_STREAM_ATTR_USER_CUSTOM_TAG = 3,
  ACL_STREAM_ATTR_CACHE_OP_INFO = 4,
  ACL_STREAM_ATTR_PRIORITY = 5,
  ACL_STREAM_LAUNCH_BLOCKING_MODE = 6
} aclrtStreamAttr;
/* Whether launches of kernels and of models return when the stream's work has ended: as the
   environment variable ASCEND_RT_LAUNCH_BLOCKING says (1: they do), never, always. */
#define ACL_STREAM_LAUNCH_BLOCKING_MODE_CTRL_BY_ENV 0u
#define ACL_STREAM_LAUNCH_BLOCKING_MODE_NON_BLOCKING 1u
#define ACL_STREAM_LAUNCH_BLOCKING_MODE_BLOCKING 2u
typedef union {
  uint64_t failureMode;
  uint32_t overflowSwitch;
  uint32_t userCustomTag;
  uint32_t cacheOpInfoSwitch;
  uint32_t streamPriority;
  uint32_t launchBlockingMode;
  uint32_t reserve[4];
} aclrtStreamAttrValue;
/* Failure mode, tag and mode of launches; 207000: the others. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute,
                                                     aclrtStreamAttrValue* value);
/* Failure mode, tag, priority and mode of launches; 207000: the others. */
ACL_FUNC_VISIBILITY aclError aclrtGetStreamAttribute(aclrtStream stream, aclrtStreamAttr attribute,
                                                     aclrtStreamAttrValue* value);
/* Microseconds of the card's clock at the last record, which has ended. 107000: it has not. */
ACL_FUNC_VISIBILITY aclError aclrtEventGetTimestamp(aclrtEvent event, uint64_t* timestamp);
ACL_FUNC_VISIBILITY aclError aclrtGetEventId(aclrtEvent event, uint32_t* id);
/* How many more the process may create. */
ACL_FUNC_VISIBILITY aclError aclrtGetEventAvailNum(uint32_t* count);
/* Of the thread's last work in a stream; numbers of different streams are not comparable. */
ACL_FUNC_VISIBILITY aclError aclrtGetThreadLastTaskId(uint32_t* id);

/* --- Arithmetic that overflows gives infinities. 207000: to saturate. */
typedef enum {
  ACL_RT_OVERFLOW_MODE_SATURATION = 0,
  ACL_RT_OVERFLOW_MODE_INFNAN = 1,
  ACL_RT_OVERFLOW_MODE_UNDEF = 2
} aclrtFloatOverflowMode;
ACL_FUNC_VISIBILITY aclError aclrtSetDeviceSatMode(aclrtFloatOverflowMode mode);
ACL_FUNC_VISIBILITY aclError aclrtGetDeviceSatMode(aclrtFloatOverflowMode* mode);
/* Kept; with infinities there is nothing to detect. */
ACL_FUNC_VISIBILITY aclError aclrtSetStreamOverflowSwitch(aclrtStream stream, uint32_t flag);
ACL_FUNC_VISIBILITY aclError aclrtGetStreamOverflowSwitch(aclrtStream stream, uint32_t* flag);
/* 207000: a card has them only if it saturates. */
ACL_FUNC_VISIBILITY aclError aclrtGetOverflowStatus(void* address, size_t size, aclrtStream stream);
ACL_FUNC_VISIBILITY aclError aclrtResetOverflowStatus(aclrtStream stream);

/* --- Groups of cores of the vendor's older chips: there are none. */
typedef enum {
  ACL_GROUP_AICORE_INT = 0,
  ACL_GROUP_AIV_INT = 1,
  ACL_GROUP_AIC_INT = 2,
  ACL_GROUP_SDMANUM_INT = 3,
  ACL_GROUP_ASQNUM_INT = 4,
  ACL_GROUP_GROUPID_INT = 5
} aclrtGroupAttr;
typedef struct tagRtGroupInfo aclrtGroupInfo;
ACL_FUNC_VISIBILITY aclError aclrtGetGroupCount(uint32_t* count);
ACL_FUNC_VISIBILITY aclrtGroupInfo* aclrtCreateGroupInfo(void);
ACL_FUNC_VISIBILITY aclError aclrtDestroyGroupInfo(aclrtGroupInfo* info);
ACL_FUNC_VISIBILITY aclError aclrtGetAllGroupInfo(aclrtGroupInfo* info);
/* 100000: there is no such group. */
ACL_FUNC_VISIBILITY aclError aclrtGetGroupInfoDetail(const aclrtGroupInfo* info, int32_t index,
                                                     aclrtGroupAttr attribute, void* value,
                                                     size_t size, size_t* needed);
/* 207000. */
ACL_FUNC_VISIBILITY aclError aclrtSetGroup(int32_t group);

#ifdef __cplusplus
}
#endif
#endif
