/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors of operators in files: of aclnnAdd() and aclnnMul(), before and behind the operator, which
   the call waits for. A file has the bytes of one tensor, as they are in device memory, and no
   header; its name is OPERATOR.NUMBER.input.N or OPERATOR.NUMBER.output.N, NUMBER counting the
   program's operators from 0. */
#ifndef NPUSIM_ACL_DUMP_H
#define NPUSIM_ACL_DUMP_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

#define ACL_DUMP_MAX_FILE_PATH_LENGTH 4096
#define ACL_DUMP_MAX_SHAPE_NUM 25
#define ACL_OP_DUMP_OP_AICORE_ARGS 0x1u

typedef struct acldumpChunk {
  char fileName[ACL_DUMP_MAX_FILE_PATH_LENGTH];
  uint32_t bufLen;
  uint32_t isLastChunk;
  int64_t offset; /* in the file */
  int32_t flag;
  __extension__ uint8_t dataBuf[]; /* bufLen bytes */
} acldumpChunk;
typedef enum {
  DATA_DUMP = 1,
  EXCEPTION_DUMP = 2,
  DUMP_TYPE_RESERVED = 3,
  OP_DUMP = 4,
  OVERFLOW_DUMP = 5
} acldumpType;

/* From now on the function is given what else were files, in pieces of 1 MiB; `length` is that of
   the structure and its bytes. `flag` is 0. Null or a second one: 100000. */
ACL_FUNC_VISIBILITY aclError acldumpRegCallback(int32_t (*const call)(const acldumpChunk* piece,
                                                                      int32_t length),
                                                int32_t flag);
ACL_FUNC_VISIBILITY void acldumpUnregCallback(void);
/* Dumps into the folder from now on, which is made. 100000: no other kind of dump. */
ACL_FUNC_VISIBILITY aclError aclopStartDumpArgs(uint32_t kind, const char* path);
ACL_FUNC_VISIBILITY aclError aclopStopDumpArgs(uint32_t kind);
/* DATA_DUMP, OP_DUMP: the folder; EXCEPTION_DUMP: that of aclInit()'s configuration with
   "dump_scene": "aic_err_brief_dump". Null: there is none. */
ACL_FUNC_VISIBILITY const char* acldumpGetPath(acldumpType type);
/* By a configuration as that of aclInit(): {"dump": {"dump_path": FOLDER, "dump_op_switch": "on"}}.
   100043: aclmdlInitDump() was not called; 100003: the file is none. */
ACL_FUNC_VISIBILITY aclError aclmdlInitDump(void);
ACL_FUNC_VISIBILITY aclError aclmdlSetDump(const char* config_path);
ACL_FUNC_VISIBILITY aclError aclmdlFinalizeDump(void);

typedef enum {
  ACL_DUMP_TENSOR_INPUT = 0,
  ACL_DUMP_TENSOR_OUTPUT = 1,
  ACL_DUMP_TENSOR_WORKSPACE = 2
} acldumpTensorType;
typedef enum {
  ACL_DUMP_ADDR_PTR = 0,
  ACL_DUMP_ADDR_PTR_PTR = 1,
  ACL_DUMP_ADDR_RAW = 2
} acldumpTensorAddressType;
typedef enum {
  ACL_DUMP_PLACEMENT_DEVICE = 0,
  ACL_DUMP_PLACEMENT_HOST = 1,
  ACL_DUMP_PLACEMENT_END = 2
} acldumpTensorPlacement;
typedef struct acldumpTensorInfo {
  acldumpTensorType type;
  size_t tensorSize; /* bytes */
  int32_t format, dataType;
  int64_t* tensorAddr;
  acldumpTensorAddressType addrType; /* ACL_DUMP_ADDR_RAW */
  acldumpTensorPlacement placement;  /* ACL_DUMP_PLACEMENT_DEVICE */
  uint32_t argsOffset;
  uint32_t shapeNum, originShapeNum; /* at most ACL_DUMP_MAX_SHAPE_NUM */
  uint64_t shape[ACL_DUMP_MAX_SHAPE_NUM];
  uint64_t originShape[ACL_DUMP_MAX_SHAPE_NUM];
} acldumpTensorInfo;
/* The folder of EXCEPTION_DUMP. 100043: there is none; 100000: `length` is less than it needs. */
ACL_FUNC_VISIBILITY aclError acldumpGetExceptionInfoPath(char* path, size_t length);
/* The tensors' bytes into files of that folder: NAME.custom.NUMBER.input.N and so on, and the tag
   into NAME.custom.NUMBER.tag. 100000: a name with "..", an absolute one, or a tensor as it may not
   be. */
ACL_FUNC_VISIBILITY aclError acldumpSaveExceptionInfo(const char* name, const char* tag,
                                                      const acldumpTensorInfo* tensors,
                                                      size_t count);

#ifdef __cplusplus
}
#endif
#endif
