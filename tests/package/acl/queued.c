/* SPDX-License-Identifier: Apache-2.0 */
/* Channels of tensors, queues of data, and routes between queues. */
#include <acl/acl_tdt.h>
#include <acl/acl_tdt_queue.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { kLate = 3 };

static void channels(void) {
  float data[6] = {1, 2, 3, 4, 5, 6};
  const int64_t sides[2] = {2, 3};
  int64_t told[2] = {0, 0};
  int32_t tail = 42;
  size_t size = 9, slice = 0;
  acltdtChannelHandle* channel = acltdtCreateChannelWithCapacity(0, "sensor", 2);
  acltdtDataset *sent = acltdtCreateDataset(), *got = acltdtCreateDataset();
  acltdtDataItem* first =
      acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, sides, 2, ACL_FLOAT, data, sizeof data);
  acltdtDataItem* last =
      acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, NULL, 0, ACL_INT32, &tail, sizeof tail);
  REQUIRE(channel != NULL && sent != NULL && got != NULL && first != NULL && last != NULL);
  REQUIRE(acltdtCreateChannelWithCapacity(0, "none", 0) == NULL);
  REQUIRE(acltdtCreateChannel(77, "none") == NULL);
  REQUIRE(acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, NULL, 2, ACL_FLOAT, data, 4) == NULL);
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtSendTensor(channel, sent, 0)); /* nothing in it */
  OK(acltdtAddDataItem(sent, first));
  OK(acltdtAddDataItem(sent, last));
  OK(acltdtSendTensor(channel, sent, 0));
  data[0] = 7; /* the first one was copied */
  OK(acltdtSendTensor(channel, sent, kLate));
  EXPECT(ACL_ERROR_RT_QUEUE_FULL, acltdtSendTensor(channel, sent, kLate));
  OK(acltdtQueryChannelSize(channel, &size));
  REQUIRE(size == 2);
  OK(acltdtReceiveTensor(channel, got, -1));
  REQUIRE(acltdtGetDatasetSize(got) == 2 && strcmp(acltdtGetDatasetName(got), "sensor") == 0);
  acltdtDataItem* item = acltdtGetDataItem(got, 0);
  REQUIRE(acltdtGetDimNumFromItem(item) == 2 && acltdtGetDataSizeFromItem(item) == sizeof data);
  OK(acltdtGetDimsFromItem(item, told, 2));
  REQUIRE(told[0] == 2 && told[1] == 3);
  REQUIRE(((float*)acltdtGetDataAddrFromItem(item))[0] == 1);
  REQUIRE(acltdtGetDataTypeFromItem(item) == ACL_FLOAT);
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtGetSliceInfoFromItem(item, &size, &slice));
  item = acltdtGetDataItem(got, 1);
  REQUIRE(acltdtGetTensorTypeFromItem(item) == ACL_TENSOR_DATA_END_OF_SEQUENCE);
  REQUIRE(*(int32_t*)acltdtGetDataAddrFromItem(item) == 42 && acltdtGetDataItem(got, 2) == NULL);
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtReceiveTensor(channel, got, 0)); /* it is not empty */
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtAddDataItem(got, first));
  OK(acltdtDestroyDataset(got));
  OK(acltdtCleanChannel(channel));
  REQUIRE((got = acltdtCreateDataset()) != NULL);
  EXPECT(ACL_ERROR_RT_QUEUE_EMPTY, acltdtReceiveTensor(channel, got, kLate));
  OK(acltdtStopChannel(channel));
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtSendTensor(channel, sent, 0));
  OK(acltdtDestroyChannel(channel));
  OK(acltdtDestroyDataset(sent));
  OK(acltdtDestroyDataset(got));
  OK(acltdtDestroyDataItem(first));
  OK(acltdtDestroyDataItem(last));
}

static uint32_t queue_of(const char* name, uint32_t depth) {
  uint32_t queue = 0;
  acltdtQueueAttr* attr = acltdtCreateQueueAttr();
  OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &name));
  OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, sizeof depth, &depth));
  OK(acltdtCreateQueue(attr, &queue));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, acltdtCreateQueue(attr, &depth)); /* of the same name */
  OK(acltdtDestroyQueueAttr(attr));
  return queue;
}

static void attributes(void) {
  const char* name = NULL;
  char text[16] = "";
  uint32_t depth = 1;
  size_t written = 0;
  acltdtQueueAttr* attr = acltdtCreateQueueAttr();
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &depth));
  depth = 4;
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 8, &depth));
  OK(acltdtSetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, 11, "characters"));
  OK(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof name, &written, &name));
  REQUIRE(strcmp(name, "characters") == 0 && written == sizeof name);
  OK(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_NAME_PTR, sizeof text, &written, text));
  REQUIRE(strcmp(text, "characters") == 0 && written == 11);
  OK(acltdtGetQueueAttr(attr, ACL_TDT_QUEUE_DEPTH_UINT32, 4, &written, &depth));
  REQUIRE(depth == 2);
  OK(acltdtDestroyQueueAttr(attr));
}

static void send(uint32_t queue, const char* text, uint32_t number, aclError code) {
  EXPECT(code, acltdtEnqueueData(queue, text, strlen(text) + 1, &number, sizeof number, kLate, 0));
}
static void expect_text(uint32_t queue, const char* text, uint32_t number) {
  char got[32] = "";
  uint32_t user = 0;
  size_t size = 0;
  OK(acltdtDequeueData(queue, got, sizeof got, &size, &user, sizeof user, kLate));
  REQUIRE(strcmp(got, text) == 0 && size == strlen(text) + 1 && user == number);
}

static void queues(void) {
  char small[2];
  uint32_t permission = 0;
  size_t size = 0;
  acltdtBuf buffer = NULL;
  const uint32_t queue = queue_of("numbers", 2);
  OK(acltdtGrantQueue(queue, (int32_t)getpid(), 7, kLate));
  OK(acltdtAttachQueue(queue, kLate, &permission));
  REQUIRE(permission == 7);
  EXPECT(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, acltdtGrantQueue(queue, 1, 7, 0));
  send(queue, "one", 1, ACL_SUCCESS);
  send(queue, "two", 2, ACL_SUCCESS);
  send(queue, "three", 3, ACL_ERROR_RT_QUEUE_FULL);
  EXPECT(ACL_ERROR_INVALID_PARAM,
         acltdtDequeueData(queue, small, sizeof small, &size, NULL, 0, 0)); /* it stays */
  expect_text(queue, "one", 1);
  expect_text(queue, "two", 2);
  EXPECT(ACL_ERROR_RT_QUEUE_EMPTY,
         acltdtDequeueData(queue, small, sizeof small, &size, NULL, 0, kLate));
  EXPECT(ACL_ERROR_FEATURE_UNSUPPORTED, acltdtAllocBuf(64, ACL_TDT_NORMAL_MEM, &buffer));
  send(queue, "left", 4, ACL_SUCCESS);
  OK(acltdtDestroyQueue(queue)); /* with what is in it */
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, acltdtDestroyQueue(queue));
  send(queue, "none", 5, ACL_ERROR_RT_PARAM_INVALID);
}

static void routes(void) {
  const uint32_t from = queue_of("from", 4), to = queue_of("to", 2);
  acltdtQueueRoute* route = acltdtCreateQueueRoute(from, to);
  acltdtQueueRouteList *list = acltdtCreateQueueRouteList(), *found = acltdtCreateQueueRouteList();
  acltdtQueueRouteQueryInfo* query = acltdtCreateQueueRouteQueryInfo();
  acltdtQueueRouteQueryMode mode = ACL_TDT_QUEUE_ROUTE_QUERY_SRC_AND_DST;
  int32_t status = 9;
  size_t written = 0;
  send(from, "before", 1, ACL_SUCCESS);
  EXPECT(ACL_ERROR_INVALID_PARAM, acltdtBindQueueRoutes(list)); /* empty */
  OK(acltdtAddQueueRoute(list, route));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, acltdtUnbindQueueRoutes(list));
  OK(acltdtBindQueueRoutes(list));
  EXPECT(ACL_ERROR_RT_PARAM_INVALID, acltdtBindQueueRoutes(list));
  send(from, "behind", 2, ACL_SUCCESS);
  send(from, "third", 3, ACL_SUCCESS);
  expect_text(to, "before", 1);
  expect_text(to, "behind", 2);
  expect_text(to, "third", 3);
  OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_MODE_ENUM, sizeof mode, &mode));
  OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_SRC_ID_UINT32, 4, &from));
  OK(acltdtQueryQueueRoutes(query, found));
  REQUIRE(acltdtGetQueueRouteNum(found) == (to == 0));
  OK(acltdtSetQueueRouteQueryInfo(query, ACL_TDT_QUEUE_ROUTE_QUERY_DST_ID_UINT32, 4, &to));
  OK(acltdtQueryQueueRoutes(query, found));
  REQUIRE(acltdtGetQueueRouteNum(found) >= 1);
  OK(acltdtGetQueueRoute(found, 0, route));
  OK(acltdtGetQueueRouteParam(route, ACL_TDT_QUEUE_ROUTE_STATUS_INT32, 4, &written, &status));
  REQUIRE(status == ACL_TDT_QUEUE_ROUTE_BIND);
  OK(acltdtUnbindQueueRoutes(list));
  OK(acltdtDestroyQueueRouteList(list));
  OK(acltdtDestroyQueueRouteList(found));
  OK(acltdtDestroyQueueRouteQueryInfo(query));
  OK(acltdtDestroyQueueRoute(route));
  OK(acltdtDestroyQueue(from));
  OK(acltdtDestroyQueue(to));
}

int main(void) {
  open_device();
  const size_t before = free_memory();
  channels();
  attributes();
  queues();
  routes();
  REQUIRE(free_memory() == before);
  return end_right();
}
