/* SPDX-License-Identifier: Apache-2.0 */
/* Lines of the program's log. A line of at least the level of ASCEND_GLOBAL_LOG_LEVEL (0 .. 4; 3
   without it) goes to registered functions, and to the standard output if
   ASCEND_SLOG_PRINT_TO_STDOUT is 1, else to debug/plog/plog-PID.log or run/plog/plog-PID.log of the
   folder ASCEND_PROCESS_LOG_PATH, if it is set. Lines have no time of the day. */
#ifndef NPUSIM_ACL_LOG_H
#define NPUSIM_ACL_LOG_H

#include <acl/acl_base.h>
#include <stdarg.h>

#ifdef __cplusplus
extern "C" {
#endif

#define DLOG_DEBUG 0
#define DLOG_INFO 1
#define DLOG_WARN 2
#define DLOG_ERROR 3
#define DLOG_NULL 4
#define RUN_LOG_MASK 0x1000000u /* of a module's number: a line of what runs, from DLOG_INFO on */

typedef uintptr_t acllogCallbackHandle;
typedef enum {
  OUTPUT_TYPE_DEBUG = 0,
  OUTPUT_TYPE_RUN = 1,
  OUTPUT_TYPE_BOTH = 2,
  OUTPUT_TYPE_MAX
} acllogOutputLogType;
/* `type`: OUTPUT_TYPE_DEBUG or OUTPUT_TYPE_RUN. */
typedef int32_t (*acllogRecordCallback)(void* data, uint32_t type, const char* line, size_t length);

/* -1: a null pointer, no such type, or no such handle. */
ACL_FUNC_VISIBILITY int32_t acllogRegisterCallback(acllogRecordCallback call, void* data,
                                                   uint32_t type, acllogCallbackHandle* handle);
ACL_FUNC_VISIBILITY int32_t acllogUnregisterCallback(acllogCallbackHandle handle);
/* Modules are 0 and more; of the program's own 0xFF00 .. 0xFFFF. */
ACL_FUNC_VISIBILITY void acllogRecord(int32_t module, int32_t level, const char* format, ...);
ACL_FUNC_VISIBILITY void acllogVaList(int32_t module, int32_t level, const char* format,
                                      va_list values);
/* 1: lines of the level are written; else 0. */
ACL_FUNC_VISIBILITY int32_t acllogCheckDebugLevel(int32_t module, int32_t level);

#ifdef __cplusplus
}
#endif
#endif
