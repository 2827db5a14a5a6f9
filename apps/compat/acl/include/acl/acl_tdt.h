/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors through channels (docs/sources/acl.md L10). A channel is a queue of data sets in the
   memory of its device, in one program: who sends copies to the device, who receives copies back.
   No operator of the card takes them. A null pointer is 100000. */
#ifndef NPUSIM_ACL_TDT_H
#define NPUSIM_ACL_TDT_H

#include <acl/acl_base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum acltdtTensorType {
  ACL_TENSOR_DATA_UNDEFINED = -1,
  ACL_TENSOR_DATA_TENSOR,
  ACL_TENSOR_DATA_END_OF_SEQUENCE,
  ACL_TENSOR_DATA_ABNORMAL,
  ACL_TENSOR_DATA_SLICE_TENSOR,
  ACL_TENSOR_DATA_END_TENSOR
} acltdtTensorType;
typedef struct acltdtDataItem acltdtDataItem;
typedef struct acltdtDataset acltdtDataset;
typedef struct acltdtChannelHandle acltdtChannelHandle;

/* --- A tensor: a description of memory that stays the program's. Null: not created, because
   `dims` or `data` is null where there is some, or there are more than 128 dimensions. */
ACL_FUNC_VISIBILITY acltdtDataItem* acltdtCreateDataItem(acltdtTensorType type, const int64_t* dims,
                                                         size_t dim_count, aclDataType data_type,
                                                         void* data, size_t size);
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataItem(acltdtDataItem* item);
ACL_FUNC_VISIBILITY acltdtTensorType acltdtGetTensorTypeFromItem(const acltdtDataItem* item);
ACL_FUNC_VISIBILITY aclDataType acltdtGetDataTypeFromItem(const acltdtDataItem* item);
ACL_FUNC_VISIBILITY void* acltdtGetDataAddrFromItem(const acltdtDataItem* item);
ACL_FUNC_VISIBILITY size_t acltdtGetDataSizeFromItem(const acltdtDataItem* item);
ACL_FUNC_VISIBILITY size_t acltdtGetDimNumFromItem(const acltdtDataItem* item);
/* 100000: `dim_count` is less than there are. */
ACL_FUNC_VISIBILITY aclError acltdtGetDimsFromItem(const acltdtDataItem* item, int64_t* dims,
                                                   size_t dim_count);
/* 100000: the tensor is no slice. None is. */
ACL_FUNC_VISIBILITY aclError acltdtGetSliceInfoFromItem(const acltdtDataItem* item,
                                                        size_t* slice_count, size_t* slice);

/* --- Data sets. Items that were received go with their data set, others stay the program's. */
ACL_FUNC_VISIBILITY acltdtDataset* acltdtCreateDataset(void);
ACL_FUNC_VISIBILITY aclError acltdtDestroyDataset(acltdtDataset* dataset);
ACL_FUNC_VISIBILITY acltdtDataItem* acltdtGetDataItem(const acltdtDataset* dataset, size_t index);
/* 100000: the data set was received. */
ACL_FUNC_VISIBILITY aclError acltdtAddDataItem(acltdtDataset* dataset, acltdtDataItem* item);
ACL_FUNC_VISIBILITY size_t acltdtGetDatasetSize(const acltdtDataset* dataset);
/* Of the channel that it came from; empty: none. */
ACL_FUNC_VISIBILITY const char* acltdtGetDatasetName(const acltdtDataset* dataset);

/* --- Channels. Null: no such device, no name, no capacity. Without a capacity it is 128. */
ACL_FUNC_VISIBILITY acltdtChannelHandle* acltdtCreateChannel(uint32_t device, const char* name);
ACL_FUNC_VISIBILITY acltdtChannelHandle* acltdtCreateChannelWithCapacity(uint32_t device,
                                                                         const char* name,
                                                                         size_t capacity);
/* Nothing is sent any more (100000). */
ACL_FUNC_VISIBILITY aclError acltdtStopChannel(acltdtChannelHandle* channel);
ACL_FUNC_VISIBILITY aclError acltdtDestroyChannel(acltdtChannelHandle* channel);
/* What is in it is dropped. */
ACL_FUNC_VISIBILITY aclError acltdtCleanChannel(acltdtChannelHandle* channel);
/* `timeout`: milliseconds of simulated time, -1: for ever. 207014: the channel is full still. */
ACL_FUNC_VISIBILITY aclError acltdtSendTensor(const acltdtChannelHandle* channel,
                                              const acltdtDataset* dataset, int32_t timeout);
/* Into an empty data set. 207013: the channel is empty still. */
ACL_FUNC_VISIBILITY aclError acltdtReceiveTensor(const acltdtChannelHandle* channel,
                                                 acltdtDataset* dataset, int32_t timeout);
ACL_FUNC_VISIBILITY aclError acltdtQueryChannelSize(const acltdtChannelHandle* channel,
                                                    size_t* size);

#ifdef __cplusplus
}
#endif
#endif
